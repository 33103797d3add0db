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
var Embedded = sync.OnceValues(func() (*Registry, error) { return list(embeddedSum, EmbeddedFS()) })

// embeddedSum is Sum of EmbeddedFS where the linker was given it (package site/wasm), because a
// browser takes a tenth of a second to compute it; "" elsewhere.
var embeddedSum string

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
	r, err := list("", base, overlays...)
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

// Sum is the content hash of the files of a registry.
func Sum(fsys fs.FS) (string, error) {
	files, err := read(fsys)
	return sum(files), err
}

func sum(files []file) string {
	var lines bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&lines, "%s %s\n", canon.Sum(f.data), f.path)
	}
	return canon.Sum(lines.Bytes())
}

// list finds the files of a registry and its overlays, and decodes none. baseSum is Sum of base, if
// it is known.
func list(baseSum string, base fs.FS, overlays ...fs.FS) (*Registry, error) {
	layers := make([]map[string][]file, 1+len(overlays)) // by chip
	var h Hashes
	for i, fsys := range append([]fs.FS{base}, overlays...) {
		files, err := read(fsys)
		if err != nil {
			return nil, err
		}
		switch {
		case i > 0:
			h.Overlays = append(h.Overlays, sum(files))
		case baseSum != "":
			h.Base = baseSum
		default:
			h.Base = sum(files)
		}
		layers[i] = map[string][]file{}
		for _, f := range files {
			chip := path.Dir(f.path)
			layers[i][chip] = append(layers[i][chip], f)
		}
	}
	if h.Combined = h.Base; len(overlays) > 0 {
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

// read takes the files of one directory, by path.
func read(fsys fs.FS) (files []file, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ok, _ := path.Match(Pattern, p); !ok || !d.Type().IsRegular() {
			return &diag.Refusal{File: p, Problem: "is not a data file", Accept: "regular files " + Pattern, Rule: "SUB-9"}
		}
		data, err := fs.ReadFile(fsys, p)
		files = append(files, file{p, data})
		return err
	})
	if err == nil && len(files) == 0 {
		err = &diag.Refusal{Problem: "holds no coefficient", Accept: "files " + Pattern, Rule: "SUB-9"}
	}
	return files, err
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
