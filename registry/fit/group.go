package fit

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// group is every measured shape of one kernel, format and chip in one table.
type group struct {
	family  *family
	key     registry.Key
	source  registry.Source
	samples []sample
}

// Skipped counts the rows of a table that no coefficient is fitted to.
type Skipped struct {
	Table  string `json:"table"`
	Reason string `json:"reason"`
	Rows   int    `json:"rows"` // -1: the whole table
}

// gather reads every table below root that some family knows.
func gather(cat *catalog.Catalog, root fs.FS) ([]*group, []Skipped, error) {
	paths, err := tables(root)
	if err != nil {
		return nil, nil, err
	}
	var out []*group
	var skipped []Skipped
	for _, p := range paths {
		t, err := openTable(root, p)
		if err != nil {
			return nil, nil, err
		}
		found, skip, err := t.groups(cat)
		if err != nil {
			return nil, nil, err
		}
		out, skipped = append(out, found...), append(skipped, skip...)
	}
	if len(out) == 0 {
		return nil, nil, &diag.Refusal{Field: "tables", Problem: "holds no operator table", Accept: "<chip>/<family>/<engine>/<version>/<table>.csv.gz"}
	}
	slices.SortStableFunc(out, func(a, b *group) int { return strings.Compare(a.key.String(), b.key.String()) })
	return out, skipped, nil
}

// groups splits a table by kernel and format.
func (t *Table) groups(cat *catalog.Catalog) ([]*group, []Skipped, error) {
	all := families()
	i := slices.IndexFunc(all, func(f family) bool { return f.table == t.Name })
	name, known := chipOf(cat, t.Dir)
	switch {
	case i < 0:
		return nil, []Skipped{{t.Path, "no form reads this table", -1}}, nil
	case !known:
		return nil, []Skipped{{t.Path, "the catalog has no chip " + t.Dir, -1}}, nil
	}
	chip, err := Chip(cat, name)
	if err != nil {
		return nil, nil, err
	}
	found, reasons, err := t.sort(&all[i], &chip)
	var out []*group
	for _, g := range found { //determinism:any-order sorted below
		g.samples = unique(g.samples)
		markFrontier(g.samples, g.family.apart)
		out = append(out, g)
	}
	// Ties between equally covered kernels go to the first of them.
	slices.SortFunc(out, func(a, b *group) int { return strings.Compare(a.key.String(), b.key.String()) })
	var skipped []Skipped
	for _, reason := range sortedKeys(reasons) {
		skipped = append(skipped, Skipped{t.Path, reason, reasons[reason]})
	}
	return out, skipped, err
}

// sort reads every row into its group, and counts those not used by reason.
func (t *Table) sort(f *family, chip *form.Chip) (found map[registry.Key]*group, skipped map[string]int, err error) {
	found, skipped = map[registry.Key]*group{}, map[string]int{}
	err = t.each(func(r *row) error {
		rd, err := f.read(r, chip)
		seconds := r.num("latency") * 1e-3
		switch {
		case cmp.Or(err, r.err) != nil:
			return cmp.Or(err, r.err)
		case rd.skip != "":
			skipped[rd.skip]++
			return nil
		case !(seconds > 0):
			skipped["no time measured"]++
			return nil
		}
		rd.key.Chip, rd.key.Version = chip.Name, t.Version
		g := found[rd.key]
		if g == nil {
			g = &group{family: f, key: rd.key, source: registry.Source{Table: t.Path, SHA256: t.SHA256}}
			found[rd.key] = g
		}
		g.source.Rows++
		g.samples = append(g.samples, newSample(rd, seconds))
		return nil
	})
	return found, skipped, err
}

// fitter fits the group's family.
func (g *group) fitter() *fitter {
	return &fitter{coords: g.family.coords, layout: g.family.layout, rising: g.family.set == "collective"}
}

// predict prices every sample of g with a curve; g's own chip is in the points.
func (g *group) predict(c *form.Curve) ([]float64, error) {
	b, err := c.Bind(g.family.coords)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.key, err)
	}
	out := make([]float64, len(g.samples))
	for i := range g.samples {
		out[i] = b.Seconds(&g.samples[i].point)
	}
	return out, nil
}
