package registry

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Pattern is the one kind of file a registry holds, below its root.
const Pattern = "*/*.yaml"

//go:embed data/*/*.yaml
var embedded embed.FS

// EmbeddedFS is the registry compiled into the program.
func EmbeddedFS() fs.FS {
	sub, err := fs.Sub(embedded, "data")
	if err != nil {
		return embedded // unreachable: "data" is a valid path
	}
	return sub
}

// Embedded is the registry compiled into the program. A chip's files are read when the chip is
// first asked for: a run names one chip of many.
var Embedded = sync.OnceValues(func() (*Registry, error) { return list(EmbeddedFS()) })

// Set is one file: the coefficients of one family on one chip.
type Set struct {
	Schema    string     `yaml:"schema"`
	Set       string     `yaml:"set"`
	Note      string     `yaml:"note,omitempty"`
	Transfers []Transfer `yaml:"transfers,omitempty"` // in order of preference
	Entries   []*Entry   `yaml:"entries"`
}

// Transfer gives a chip every kernel of another that has a curve of its own and
// that the chip itself, or an earlier transfer, does not have.
type Transfer struct {
	From string `yaml:"from"` // catalog chip
	Rule string `yaml:"rule"`
}

// Schema names the layout of a Set.
const Schema = "blis.registry/v1"

// Hashes are the content hashes of §3.3.
type Hashes struct {
	Base     string   `json:"base"`
	Overlays []string `json:"overlays,omitempty"`
	Combined string   `json:"combined"`
}

// Open reads a registry and lays overlays over it, entry by entry. It refuses
// any file it would not read.
func Open(base fs.FS, overlays ...fs.FS) (*Registry, error) {
	r, err := list(base, overlays...)
	if err != nil {
		return nil, err
	}
	return r.whole()
}

// file is one data file, in memory and perhaps not decoded yet.
type file struct {
	path string
	data []byte
}

// list finds the files of a registry and its overlays, and decodes none.
func list(base fs.FS, overlays ...fs.FS) (*Registry, error) {
	layers := make([]map[string][]file, 1+len(overlays)) // by chip
	var h Hashes
	for i, fsys := range append([]fs.FS{base}, overlays...) {
		files, sum, err := read(fsys)
		if err != nil {
			return nil, err
		}
		if layers[i] = files; i == 0 {
			h.Base, h.Combined = sum, sum
		} else {
			h.Overlays = append(h.Overlays, sum)
		}
	}
	if len(overlays) > 0 {
		h.Combined = canon.Sum([]byte(h.Base + " base\n" + strings.Join(h.Overlays, " overlay\n") + " overlay\n"))
	}
	own := map[string]func() (*contents, error){}
	for _, layer := range layers {
		for chip := range layer { //determinism:any-order fills a map
			own[chip] = func() (*contents, error) { return decode(layers, chip) }
		}
	}
	return build(own, h), nil
}

// read takes the files of one directory, by chip.
func read(fsys fs.FS) (map[string][]file, string, error) {
	files, sums := map[string][]file{}, &bytes.Buffer{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ok, _ := path.Match(Pattern, p); !ok || !d.Type().IsRegular() {
			return &diag.Refusal{File: p, Problem: "is not a data file", Accept: "regular files " + Pattern, Rule: "SUB-9"}
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(sums, "%s %s\n", canon.Sum(data), p)
		files[path.Dir(p)] = append(files[path.Dir(p)], file{p, data})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = &diag.Refusal{Problem: "holds no coefficient", Accept: "files " + Pattern, Rule: "SUB-9"}
	}
	return files, canon.Sum(sums.Bytes()), err
}

// contents is what the files of one chip hold.
type contents struct {
	entries   map[string]*Entry // by identity
	transfers []Transfer
	curves    map[Key]*form.Curve // of the entries that have their own
}

// decode reads a chip's files, each layer over the one before.
func decode(layers []map[string][]file, chip string) (*contents, error) {
	all := &contents{entries: map[string]*Entry{}}
	for _, layer := range layers {
		c := contents{entries: map[string]*Entry{}}
		for _, f := range layer[chip] {
			if err := c.readSet(f.path, f.data); err != nil {
				return nil, err
			}
		}
		maps.Copy(all.entries, c.entries)
		if c.transfers != nil {
			all.transfers = c.transfers
		}
	}
	return all, nil
}

func (c *contents) readSet(p string, data []byte) error {
	if bytes.IndexByte(data, '\r') >= 0 {
		return &diag.Refusal{File: p, Problem: "contains a carriage return", Accept: "line feeds alone", Rule: "SUB-9"}
	}
	var s Set
	if err := strict.YAML(p, data, &s); err != nil {
		return err
	}
	if s.Schema != Schema {
		return &diag.Refusal{File: p, Field: "schema", Value: s.Schema, Problem: "unknown schema", Accept: Schema}
	}
	if len(s.Entries)+len(s.Transfers) == 0 {
		return &diag.Refusal{File: p, Field: "entries", Problem: "holds no coefficient", Accept: "entries or transfers", Rule: "SUB-9"}
	}
	for _, e := range s.Entries {
		e.file = p
		if e.Chip != path.Dir(p) {
			return e.refuse("chip", e.Chip, "stands in another chip's directory", path.Dir(p), "SUB-9")
		}
		if err := e.check(); err != nil {
			return diag.In(p, err)
		}
		if twin := c.entries[e.identity()]; twin != nil {
			return e.refuse("entry", "", "repeats an entry of "+twin.file, "one entry per key and method", "VAL-4")
		}
		c.entries[e.identity()] = e
	}
	if len(s.Transfers) > 0 {
		if c.transfers != nil {
			return &diag.Refusal{File: p, Field: "transfers", Problem: "another file of this chip states transfers too", Accept: "one list per chip", Rule: "VAL-4"}
		}
		c.transfers = s.Transfers
	}
	return nil
}
