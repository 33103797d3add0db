package registry

import (
	"maps"
	"slices"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// chip is what a registry holds of one chip, each part made when first asked for.
type chip struct {
	own     func() (*contents, error)         // what its files state
	entries func() ([]*Entry, error)          // own and transferred, with their curves, in Order
	slots   func() (map[slot][]*Entry, error) // entries, by what a look-up names
}

// slot is what every entry that one look-up may find has in common.
type slot struct {
	primitive plan.Primitive
	boundary  Boundary
}

// build is a registry of what each chip states.
func build(own map[string]func() (*contents, error), h Hashes) *Registry {
	r := &Registry{chips: map[string]*chip{}, hashes: h}
	for name, read := range own { //determinism:any-order fills a map
		c := &chip{own: sync.OnceValues(func() (*contents, error) { return indexed(read()) })}
		c.entries = sync.OnceValues(func() ([]*Entry, error) { return r.complete(name, c) })
		c.slots = sync.OnceValues(c.bySlot)
		r.chips[name] = c
	}
	return r
}

// indexed finds c's curves; of several entries with one key the first in Order donates.
func indexed(c *contents, err error) (*contents, error) {
	if err != nil {
		return nil, err
	}
	c.curves = map[Key]*form.Curve{}
	for _, e := range ordered(c.entries) {
		if e.Curve != nil && c.curves[e.Key] == nil {
			c.curves[e.Key] = e.Curve
		}
	}
	return c, nil
}

// whole is r after every chip is read.
func (r *Registry) whole() (*Registry, error) {
	if _, err := r.Entries(); err != nil {
		return nil, err
	}
	return r, nil
}

// complete expands a chip's transfers and joins each entry to its curve.
func (r *Registry) complete(name string, c *chip) ([]*Entry, error) {
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(own.entries)
	for _, t := range own.transfers {
		donor, err := r.own(t.From)
		if err != nil {
			return nil, err
		}
		t.expand(name, donor, all)
	}
	entries := ordered(all)
	for _, e := range entries {
		if err := r.join(e); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// own is what a chip's files state: nothing of a chip that has none.
func (r *Registry) own(chip string) (*contents, error) {
	if c, ok := r.chips[chip]; ok {
		return c.own()
	}
	return &contents{}, nil
}

func (c *chip) bySlot() (map[slot][]*Entry, error) {
	entries, err := c.entries()
	at := map[slot][]*Entry{}
	for _, e := range entries {
		s := slot{e.Primitive, e.Boundary}
		at[s] = append(at[s], e)
	}
	return at, err
}

// ordered is a fixed order of entries: load order plays no part.
func ordered(all map[string]*Entry) []*Entry {
	entries := make([]*Entry, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, all[id])
	}
	return entries
}

// expand adds to all the entries of chip that t transfers from a donor's own.
func (t Transfer) expand(chip string, donor *contents, all map[string]*Entry) {
	have := map[Key]bool{}
	for _, e := range all { //determinism:any-order fills a set
		have[e.Key] = true
	}
	for _, d := range donor.entries { //determinism:any-order fills a map; no two make the same entry
		k := d.Key
		k.Chip = chip
		if d.Curve == nil || d.Kernel == "" || have[k] {
			continue
		}
		e := &Entry{Key: k, Method: plan.Transferred.String(), Rule: t.Rule, Unit: d.Unit, Donor: &d.Key, method: plan.Transferred, file: chip + "/"}
		all[e.identity()] = e
	}
}

// join follows donors; an entry never donates a donated curve.
func (r *Registry) join(e *Entry) error {
	if e.Donor == nil {
		e.curve = e.Curve
		return nil
	}
	donor, err := r.own(e.Donor.Chip)
	if err != nil {
		return err
	}
	if e.curve = donor.curves[*e.Donor]; e.curve == nil {
		return e.refuse("donor", e.Donor.String(), "names no entry that has a curve of its own", "the key of a fitted entry", "VAL-1")
	}
	return nil
}
