package registry

import "github.com/inference-sim/accuracy-dashboard/internal/canon"

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
