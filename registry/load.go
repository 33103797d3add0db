package registry

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

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

// Embedded opens EmbeddedFS once.
var Embedded = sync.OnceValues(func() (*Registry, error) { return Open(EmbeddedFS()) })

// Set is one file: the coefficients of one family on one chip.
type Set struct {
	Schema  string   `yaml:"schema"`
	Set     string   `yaml:"set"`
	Note    string   `yaml:"note,omitempty"`
	Entries []*Entry `yaml:"entries"`
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
	byID := map[string]*Entry{}
	var h Hashes
	for i, fsys := range append([]fs.FS{base}, overlays...) {
		entries, sum, err := read(fsys)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			h.Base, h.Combined = sum, sum
		} else {
			h.Overlays = append(h.Overlays, sum)
		}
		for id, e := range entries {
			byID[id] = e
		}
	}
	if len(overlays) > 0 {
		h.Combined = canon.Sum([]byte(h.Base + " base\n" + strings.Join(h.Overlays, " overlay\n") + " overlay\n"))
	}
	return build(byID, h)
}

func read(fsys fs.FS) (map[string]*Entry, string, error) {
	byID, list := map[string]*Entry{}, &bytes.Buffer{}
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
		fmt.Fprintf(list, "%s %s\n", canon.Sum(data), p)
		return readSet(p, data, byID)
	})
	if err == nil && len(byID) == 0 {
		err = &diag.Refusal{Problem: "holds no coefficient", Accept: "files " + Pattern, Rule: "SUB-9"}
	}
	return byID, canon.Sum(list.Bytes()), err
}

func readSet(p string, data []byte, byID map[string]*Entry) error {
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
	for _, e := range s.Entries {
		e.file = p
		if e.Chip != path.Dir(p) {
			return e.refuse("chip", e.Chip, "stands in another chip's directory", path.Dir(p), "SUB-9")
		}
		if err := e.check(); err != nil {
			return diag.In(p, err)
		}
		if byID[e.identity()] != nil {
			return e.refuse("", "", "repeats an entry of "+byID[e.identity()].file, "one entry per key and method", "VAL-4")
		}
		byID[e.identity()] = e
	}
	return nil
}

// build orders the entries and joins each transferred one to its donor's curve.
func build(byID map[string]*Entry, h Hashes) (*Registry, error) {
	r := &Registry{at: map[slot][]*Entry{}, hashes: h}
	ids := make([]string, 0, len(byID))
	for id := range byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		e := byID[id]
		r.entries = append(r.entries, e)
		s := slot{e.Primitive, e.Chip, e.Boundary}
		r.at[s] = append(r.at[s], e)
	}
	for _, e := range r.entries {
		if err := r.join(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// join follows donors; an entry never donates a donated curve.
func (r *Registry) join(e *Entry) error {
	if e.Donor == nil {
		e.curve = e.Curve
		return nil
	}
	for _, d := range r.at[slot{e.Donor.Primitive, e.Donor.Chip, e.Donor.Boundary}] {
		if d.Curve != nil && d.Key == *e.Donor {
			e.curve = d.Curve
			return nil
		}
	}
	return e.refuse("donor", e.Donor.String(), "names no entry that has a curve of its own", "the key of a fitted entry", "VAL-1")
}
