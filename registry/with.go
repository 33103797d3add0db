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
	all := group{}
	before, err := r.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range before {
		all.add(*e)
	}
	for _, e := range entries {
		e.file = "trial entry"
		if err := e.check(); err != nil {
			return nil, err
		}
		all.add(*e)
	}
	sum, err := canon.Hash(entries)
	if err != nil {
		return nil, err
	}
	h := Hashes{Base: r.hashes.Combined, Overlays: []string{sum}}
	h.Combined = canon.Sum([]byte(h.Base + " base\n" + sum + " overlay\n"))
	return all.registry(h)
}

// Only is r's entries of the given methods: what prices rest on when nothing better is
// known. A donated curve needs its donor among them.
func (r *Registry) Only(methods ...plan.Method) (*Registry, error) {
	kept := group{}
	entries, err := r.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if slices.Contains(methods, e.method) {
			kept.add(*e)
		}
	}
	h := Hashes{Base: r.hashes.Combined}
	h.Combined = canon.Sum([]byte(h.Base + " base\n" + fmt.Sprint(methods) + " only\n"))
	return kept.registry(h)
}

// group is entries by chip.
type group map[string]*contents

func (g group) add(e Entry) {
	if g[e.Chip] == nil {
		g[e.Chip] = &contents{entries: map[string]*Entry{}}
	}
	g[e.Chip].entries[e.identity()] = &e
}

func (g group) registry(h Hashes) (*Registry, error) {
	own := map[string]func() (*contents, error){}
	for chip, c := range g { //determinism:any-order fills a map
		own[chip] = func() (*contents, error) { return c, nil }
	}
	return build(own, h).whole()
}
