package fit

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/registry"
	"gopkg.in/yaml.v3"
)

// Files is a written registry: path below its root to bytes.
type Files map[string][]byte

// encode turns a set into its file. The same entries always give the same bytes.
func encode(s registry.Set) ([]byte, error) {
	slices.SortFunc(s.Entries, func(a, b *registry.Entry) int {
		return cmp.Or(strings.Compare(a.Key.String(), b.Key.String()), strings.Compare(a.Method, b.Method))
	})
	var b bytes.Buffer
	b.WriteString("# Written by `blis registry fit`; do not edit.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// sets are the names of the files these writers own.
var sets = []string{"attention", "collective", "fallback", "gemm", "host", "mla", "moe"}

// Check compares what the writers write with what stands in a directory and
// names every file of theirs that differs, is missing or should not be there.
func (f Files) Check(dir fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if own := slices.Contains(sets, strings.TrimSuffix(path.Base(p), ".yaml")); err == nil && own && f[p] == nil {
			out = append(out, p+": no table gives rise to it")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(f)) {
		have, err := fs.ReadFile(dir, p)
		switch {
		case err != nil:
			out = append(out, p+": is missing")
		case !bytes.Equal(have, f[p]):
			out = append(out, fmt.Sprintf("%s:%d: differs from what the writers write", p, firstDiff(have, f[p])))
		}
	}
	return out, nil
}

func firstDiff(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		line += b2i(a[i] == '\n')
	}
	return line
}
