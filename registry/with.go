package registry

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// With is r with entries laid over it, as an overlay's are: a fit tries values
// this way before it writes any. The entries are checked as a file's are.
func (r *Registry) With(entries ...*Entry) (*Registry, error) {
	all := contents{entries: map[string]*Entry{}}
	for _, e := range r.entries {
		own := *e
		all.entries[e.identity()] = &own
	}
	for _, e := range entries {
		e.file = "trial entry"
		if err := e.check(); err != nil {
			return nil, err
		}
		all.entries[e.identity()] = e
	}
	sum, err := canon.Hash(entries)
	if err != nil {
		return nil, err
	}
	h := Hashes{Base: r.hashes.Combined, Overlays: []string{sum}}
	h.Combined = canon.Sum([]byte(h.Base + " base\n" + sum + " overlay\n"))
	return build(all, h)
}

// Only is r's entries of the given methods: what prices rest on when nothing better is
// known. A donated curve needs its donor among them.
func (r *Registry) Only(methods ...plan.Method) (*Registry, error) {
	kept := contents{entries: map[string]*Entry{}}
	for _, e := range r.entries {
		if slices.Contains(methods, e.method) {
			own := *e
			kept.entries[e.identity()] = &own
		}
	}
	h := Hashes{Base: r.hashes.Combined}
	h.Combined = canon.Sum([]byte(h.Base + " base\n" + fmt.Sprint(methods) + " only\n"))
	return build(kept, h)
}
