// Package fit writes the registry. In: a directory of operator timings and the
// catalog. Out: the files of registry/data, byte for byte the same for the same
// input, and how well each was fitted. It never reads a measured run, and holds
// no chip's or model's name that a table or the catalog does not state.
//
// Each group of rows (kernel, format, chip, version) becomes one curve: log2 of
// the utilisation, interpolated over a few knots, fitted to the median of what was
// measured. A fifth of the shapes, drawn by a hash of the whole shape, is kept out
// of a first fit to judge it, and so are the shapes at the upper end of a size;
// the second fit, the one written, uses every shape.
//
// Rules kept: SUB-4, SUB-7, D5, VAL-1, VAL-2, VAL-10 of the Target Design.
package fit

import (
	"io/fs"
	"path"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Fitted is one group with its two fits.
type Fitted struct {
	*group
	Entry    *registry.Entry
	Trial    *form.Curve // fitted without held and frontier shapes
	Held     Judged
	Frontier Judged
	// old: a newer version of the same kernel was fitted on the same chip.
	old bool
}

// Result is everything the writers know.
type Result struct {
	Fits    []*Fitted
	Skipped []Skipped
	chips   map[string]form.Chip
}

// Run reads the tables and fits every group.
func Run(cat *catalog.Catalog, root fs.FS) (*Result, error) {
	groups, skipped, err := gather(cat, root)
	if err != nil {
		return nil, err
	}
	res := &Result{Skipped: skipped, chips: map[string]form.Chip{}}
	for _, name := range cat.Chips() {
		if res.chips[name], err = Chip(cat, name); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		chip := res.chips[g.key.Chip]
		device, rule, err := g.captured(groups, &chip)
		if err != nil {
			return nil, err
		}
		if device != nil {
			g.key.Boundary = registry.Host
			f, err := device.fit()
			if err != nil {
				return nil, err
			}
			f.Entry.Method, f.Entry.Rule = plan.Transferred.String(), rule
			res.Fits = append(res.Fits, f)
		}
		f, err := g.fit()
		if err != nil {
			return nil, err
		}
		res.Fits = append(res.Fits, f)
	}
	res.markOld()
	return res, nil
}

func (r *Result) markOld() {
	newest := map[registry.Key]string{}
	anyVersion := func(f *Fitted) registry.Key { k := f.key; k.Version = ""; return k }
	for _, f := range r.Fits {
		if k := anyVersion(f); newest[k] == "" || registry.Newer(f.key.Version, newest[k]) < 0 {
			newest[k] = f.key.Version
		}
	}
	for _, f := range r.Fits {
		f.old = newest[anyVersion(f)] != f.key.Version
	}
}

// toFit is the group's samples, cleaned where its family asks for it.
func (g *group) toFit() []sample {
	if g.family.clean == nil {
		return g.samples
	}
	return g.family.clean(g.samples)
}

// fit judges and then fits one group.
func (g *group) fit() (*Fitted, error) {
	fit := g.fitter()
	all := fit.fit(g.toFit(), func(*sample) bool { return true })
	f := &Fitted{group: g, Trial: fit.fit(g.toFit(), func(s *sample) bool { return s.part == train })}
	if f.Trial == nil { // too few shapes to keep any out: every one counts as seen
		f.Trial = all
		for i := range g.samples {
			g.samples[i].part = train
		}
	}
	seconds, err := g.predict(f.Trial)
	if err != nil {
		return nil, err
	}
	f.Held, f.Frontier = g.judge(seconds, held), g.judge(seconds, frontier)
	source := g.source
	f.Entry = &registry.Entry{
		Key: g.key, Method: plan.Measured.String(), Unit: "s", Source: &source, Error: f.Held.entry(),
		Factor: g.interval(seconds), Curve: all,
	}
	f.Entry.Unidentified = f.Entry.Wide()
	return f, nil
}

// Files lays the entries out in the registry's directories.
func (r *Result) Files(cat *catalog.Catalog) (Files, error) {
	sets := map[string]*registry.Set{}
	at := func(chip, set string) *registry.Set {
		p := path.Join(chip, set+".yaml")
		if sets[p] == nil {
			sets[p] = &registry.Set{Schema: registry.Schema, Set: set}
		}
		return sets[p]
	}
	for _, f := range r.Fits {
		s := at(f.key.Chip, f.family.set)
		s.Entries = append(s.Entries, f.Entry)
	}
	for _, chip := range cat.Chips() {
		at(chip, "host").Entries = assumed(chip)
		s := at(chip, "fallback")
		var err error
		if s.Transfers, s.Entries, err = r.fallbacks(cat, chip); err != nil {
			return nil, err
		}
	}
	out := Files{}
	for p, s := range sets { //determinism:any-order each set writes its own file
		s.Set = strings.TrimSuffix(path.Base(p), ".yaml")
		b, err := encode(*s)
		if err != nil {
			return nil, err
		}
		out[p] = b
	}
	return out, nil
}
