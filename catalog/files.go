package catalog

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Patterns are the files that count as data, in path.Match notation. A file under
// their top directories that matches none is refused, but for a model
// directory's config.json, which is ignored by name.
var Patterns = []string{
	"hardware/*.yaml",
	"models/*/graph.yaml",
	"models/*/model.yaml",
	"networks/*.yaml",
	"routers/*.yaml",
	"sources/*.yaml",
}

// Hashes are content hashes as §3.3 defines them: the SHA-256 of one line
// `<sha256 of the file> <path>` per data file, sorted by path.
type Hashes struct {
	Base     string   `json:"base"`
	Overlays []string `json:"overlays,omitempty"`
	Combined string   `json:"combined"` // Base without overlays, else over Base and Overlays in order
}

// gather reads base and overlays into one sorted list.
func gather(base fs.FS, overlays []fs.FS) ([]File, Hashes, error) {
	files, err := read(base)
	if err != nil {
		return nil, Hashes{}, err
	}
	h := Hashes{Base: contentHash(files)}
	combined := fmt.Sprintf("%s base\n", h.Base)
	for _, o := range overlays {
		added, err := read(o)
		if err != nil {
			return nil, Hashes{}, err
		}
		sum := contentHash(added)
		h.Overlays = append(h.Overlays, sum)
		combined += fmt.Sprintf("%s overlay\n", sum)
		files = lay(files, added)
	}
	if h.Combined = h.Base; len(overlays) > 0 {
		h.Combined = canon.Sum([]byte(combined))
	}
	return files, h, refuseCaseClash(files)
}

// lay puts over's entries in place of under's of the same identity.
func lay(under, over []File) []File {
	replaced := map[string]bool{}
	for _, f := range over {
		replaced[entry(f.Path)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(under), func(f File) bool { return replaced[entry(f.Path)] })
	return byPath(append(kept, over...))
}

// entry is the identity of the entry a file belongs to: models are directories.
func entry(p string) string {
	if strings.HasPrefix(p, "models/") {
		return path.Dir(p)
	}
	return p
}

func byPath(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func contentHash(files []File) string {
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s\n", canon.Sum(f.Data), f.Path)
	}
	return canon.Sum(b.Bytes())
}

// read takes every data file of fsys and refuses what would make it ambiguous.
// It walks from the root because only a directory's listing shows a symbolic link.
func read(fsys fs.FS) ([]File, error) {
	var files []File
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		top, _, inside := strings.Cut(p, "/")
		switch {
		case err != nil:
			return &diag.Refusal{File: p, Problem: err.Error()}
		case p != "." && !slices.Contains(tops, top):
			return skip(d)
		case d.IsDir() || ignored(p) || (!inside && d.Type().IsRegular()):
			return nil
		}
		data, err := readOne(fsys, p, d)
		if err == nil {
			files = append(files, File{p, data})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &diag.Refusal{Problem: "holds no catalog entry", Accept: "a directory with " + strings.Join(Patterns, ", "), Rule: "SUB-9"}
	}
	byPath(files)
	return files, refuseCaseClash(files)
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func readOne(fsys fs.FS, p string, d fs.DirEntry) ([]byte, error) {
	if d.Type()&fs.ModeSymlink != 0 {
		return nil, &diag.Refusal{File: p, Problem: "is a symbolic link", Accept: "a regular file", Rule: "SUB-9"}
	}
	if !matches(p) {
		return nil, &diag.Refusal{File: p, Problem: "is not a data file", Accept: diag.OneOf(p, Patterns), Rule: "SUB-9"}
	}
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, &diag.Refusal{File: p, Problem: err.Error()}
	}
	if i := bytes.IndexByte(data, '\r'); i >= 0 {
		return nil, &diag.Refusal{
			File: p, Line: bytes.Count(data[:i], []byte("\n")) + 1,
			Problem: "contains a carriage return", Accept: "line feeds alone", Rule: "SUB-9",
		}
	}
	return data, nil
}

func refuseCaseClash(files []File) error {
	seen := map[string]string{}
	for _, f := range files {
		// A directory alone may clash, so every prefix is compared.
		for p := f.Path; p != "."; p = path.Dir(p) {
			low := strings.ToLower(p)
			if other, ok := seen[low]; ok && other != p {
				return &diag.Refusal{File: p, Problem: "differs from " + other + " only in letter case", Accept: "one spelling", Rule: "SUB-9"}
			}
			seen[low] = p
		}
	}
	return nil
}

func matches(p string) bool {
	return slices.ContainsFunc(Patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, p)
		return ok && err == nil
	})
}

func ignored(p string) bool {
	ok, err := path.Match("models/*/config.json", p)
	return ok && err == nil
}

// tops are the data directories, the first elements of Patterns; files outside
// them are ignored.
var tops = []string{"hardware", "models", "networks", "routers", "sources"}

// fill puts name in the place of % in a path.
func fill(path, name string) string { return strings.Replace(path, "%", name, 1) }
