package registry

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
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

// contents is what the files of one or more directories hold.
type contents struct {
	entries   map[string]*Entry // by identity
	transfers map[string][]Transfer
}

// Open reads a registry and lays overlays over it, entry by entry. It refuses
// any file it would not read.
func Open(base fs.FS, overlays ...fs.FS) (*Registry, error) {
	all := contents{map[string]*Entry{}, map[string][]Transfer{}}
	var h Hashes
	for i, fsys := range append([]fs.FS{base}, overlays...) {
		c, sum, err := read(fsys)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			h.Base, h.Combined = sum, sum
		} else {
			h.Overlays = append(h.Overlays, sum)
		}
		maps.Copy(all.entries, c.entries)
		maps.Copy(all.transfers, c.transfers)
	}
	if len(overlays) > 0 {
		h.Combined = canon.Sum([]byte(h.Base + " base\n" + strings.Join(h.Overlays, " overlay\n") + " overlay\n"))
	}
	return build(all, h)
}

func read(fsys fs.FS) (contents, string, error) {
	c, list := contents{map[string]*Entry{}, map[string][]Transfer{}}, &bytes.Buffer{}
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
		return c.readSet(p, data)
	})
	if err == nil && len(c.entries) == 0 {
		err = &diag.Refusal{Problem: "holds no coefficient", Accept: "files " + Pattern, Rule: "SUB-9"}
	}
	return c, canon.Sum(list.Bytes()), err
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
		chip := path.Dir(p)
		if c.transfers[chip] != nil {
			return &diag.Refusal{File: p, Field: "transfers", Problem: "another file of this chip states transfers too", Accept: "one list per chip", Rule: "VAL-4"}
		}
		c.transfers[chip] = s.Transfers
	}
	return nil
}

// build expands transfers, orders the entries and joins each to its curve.
func build(c contents, h Hashes) (*Registry, error) {
	own := ordered(c.entries)
	for _, chip := range slices.Sorted(maps.Keys(c.transfers)) {
		for _, t := range c.transfers[chip] {
			t.expand(chip, own, c.entries)
		}
	}
	r := &Registry{entries: ordered(c.entries), at: map[slot][]*Entry{}, hashes: h}
	for _, e := range r.entries {
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

// ordered sorts entries by identity.
func ordered(all map[string]*Entry) []*Entry {
	entries := make([]*Entry, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, all[id])
	}
	return entries
}

// expand adds to all the entries of chip that t transfers from own.
func (t Transfer) expand(chip string, own []*Entry, all map[string]*Entry) {
	have := map[Key]bool{}
	for _, e := range all { //determinism:any-order fills a set
		if e.Chip == chip {
			have[e.Key] = true
		}
	}
	for _, donor := range own {
		k := donor.Key
		k.Chip = chip
		if donor.Chip != t.From || donor.Curve == nil || donor.Kernel == "" || have[k] {
			continue
		}
		e := &Entry{Key: k, Method: plan.Transferred.String(), Rule: t.Rule, Unit: donor.Unit, Donor: &donor.Key, method: plan.Transferred, file: chip + "/"}
		all[e.identity()] = e
	}
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
