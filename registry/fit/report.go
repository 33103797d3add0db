package fit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Report says how good each method is, by primitive: on shapes and on chips its
// fit never saw (VAL-5).
type Report struct {
	Tables   int         `json:"tables"`
	Families []Primitive `json:"primitives"`
	Kernels  []Kernel    `json:"kernels"`
	LeftOut  []LeftOut   `json:"one_chip_out"`
	Skipped  []Skipped   `json:"not_used"`
}

// Primitive pools every kernel of one primitive.
type Primitive struct {
	Primitive plan.Primitive `json:"primitive"`
	Kernels   int            `json:"kernels"`
	Shapes    int            `json:"shapes"`
	Values    int            `json:"values"` // numbers in the committed curves
	Held      Judged         `json:"held_out"`
	Frontier  Judged         `json:"frontier"` // shapes at the upper end of a size, fitted without them
	// Table is the error of interpolating the table itself between the nearest
	// measured shapes: what a full copy of it would reach on the held-out shapes
	// that have neighbours on both sides.
	Table Judged `json:"table_interpolation"`
	// LeftOut pools every chip priced from the others; Same is the part of it that
	// has a donor of its own architecture.
	LeftOut Judged `json:"one_chip_out"`
	Same    Judged `json:"one_chip_out_same_architecture"`
}

// Kernel is one fitted entry.
type Kernel struct {
	Key      string `json:"key"`
	Method   string `json:"method"`
	Shapes   int    `json:"shapes"`
	Values   int    `json:"values"`
	Held     Judged `json:"held_out"`
	Frontier Judged `json:"frontier"`
	Table    Judged `json:"table_interpolation"`
}

// LeftOut prices a measured chip as if it had no table.
type LeftOut struct {
	Primitive plan.Primitive `json:"primitive"`
	Chip      string         `json:"chip"`
	Method    string         `json:"method"` // "same kernel", "same format", "16-bit kernel" or "constant"
	Donor     string         `json:"donor"`
	Error     Judged         `json:"error"` // over every shape of the chip
}

// Report judges every fit.
func (r *Result) Report(cat *catalog.Catalog) (*Report, error) {
	rep := &Report{Skipped: r.Skipped}
	seen := map[string]bool{}
	type pool struct {
		Primitive
		held, frontier, table []float64
	}
	pools := map[plan.Primitive]*pool{}
	for _, f := range r.Fits {
		seen[f.source.Table] = true
		seconds, err := f.predict(f.Trial)
		if err != nil {
			return nil, err
		}
		table := f.interpolate()
		values := 0
		for _, t := range f.Entry.Curve.Terms {
			values += size(t.Axes)
		}
		rep.Kernels = append(rep.Kernels, Kernel{f.Entry.Key.String(), f.Entry.Method, len(f.samples), values, f.Held, f.Frontier, sumUp(table)})
		p := pools[f.key.Primitive]
		if p == nil {
			p = &pool{Primitive: Primitive{Primitive: f.key.Primitive}}
			pools[f.key.Primitive] = p
		}
		p.Kernels, p.Shapes, p.Values = p.Kernels+1, p.Shapes+len(f.samples), p.Values+values
		p.held, p.frontier = append(p.held, f.errors(seconds, held)...), append(p.frontier, f.errors(seconds, frontier)...)
		p.table = append(p.table, table...)
	}
	rep.Tables = len(seen)
	for _, p := range pools { //determinism:any-order sorted below
		p.Held, p.Frontier, p.Table = sumUp(p.held), sumUp(p.frontier), sumUp(p.table)
		rep.Families = append(rep.Families, p.Primitive)
	}
	slices.SortFunc(rep.Families, func(a, b Primitive) int { return strings.Compare(string(a.Primitive), string(b.Primitive)) })
	return rep, r.leaveOneOut(cat, rep)
}

// interpolate predicts each held-out shape from the table's own nearest shapes
// along the first size, all others equal, in log-log.
func (g *group) interpolate() []float64 {
	type at struct{ size, seconds float64 }
	rest := func(s *sample) string { _, r, _ := strings.Cut(s.shape, " "); return r }
	lines := map[string][]at{}
	for i := range g.samples {
		if s := &g.samples[i]; s.part != held {
			lines[rest(s)] = append(lines[rest(s)], at{s.sizes[0], s.seconds})
		}
	}
	for _, l := range lines { //determinism:any-order each line is sorted by itself
		slices.SortFunc(l, func(a, b at) int { return cmp.Compare(a.size, b.size) })
	}
	var out []float64
	for i := range g.samples {
		s := &g.samples[i]
		l := lines[rest(s)]
		k, _ := slices.BinarySearchFunc(l, s.sizes[0], func(a at, v float64) int { return cmp.Compare(a.size, v) })
		if s.part != held || k == 0 || k == len(l) {
			continue
		}
		lo, hi := l[k-1], l[k]
		f := fmath.Log(s.sizes[0]/lo.size) / fmath.Log(hi.size/lo.size)
		out = append(out, lo.seconds*fmath.Pow(hi.seconds/lo.seconds, f)/s.seconds-1)
	}
	return out
}

// leaveOneOut prices each measured chip from the others, by the rules that give
// an unmeasured chip its values.
func (r *Result) leaveOneOut(cat *catalog.Catalog, rep *Report) error {
	pools, all, same := map[LeftOut][]float64{}, map[plan.Primitive][]float64{}, map[plan.Primitive][]float64{}
	for _, f := range r.Fits {
		if f.key.Boundary != registry.Device || f.old {
			continue
		}
		donors, err := r.donors(cat, f.key.Chip)
		if err != nil {
			return err
		}
		curve, how, donor := r.borrowed(f, donors)
		seconds, err := f.predict(curve)
		if err != nil {
			return err
		}
		k, p := LeftOut{Primitive: f.key.Primitive, Chip: f.key.Chip, Method: how, Donor: donor}, f.key.Primitive
		errs := make([]float64, len(seconds))
		for i, s := range f.samples {
			errs[i] = seconds[i]/s.seconds - 1
		}
		pools[k], all[p] = append(pools[k], errs...), append(all[p], errs...)
		if kin(cat, f.key.Chip, donor) {
			same[p] = append(same[p], errs...)
		}
	}
	for k, errs := range pools { //determinism:any-order sorted below
		k.Error = sumUp(errs)
		rep.LeftOut = append(rep.LeftOut, k)
	}
	for i := range rep.Families {
		p := &rep.Families[i]
		p.LeftOut, p.Same = sumUp(all[p.Primitive]), sumUp(same[p.Primitive])
	}
	slices.SortFunc(rep.LeftOut, func(a, b LeftOut) int {
		return cmp.Or(strings.Compare(string(a.Primitive), string(b.Primitive)), strings.Compare(a.Chip, b.Chip),
			strings.Compare(a.Method, b.Method), strings.Compare(a.Donor, b.Donor))
	})
	return nil
}

// kin reports two chips of one architecture.
func kin(cat *catalog.Catalog, a, b string) bool {
	x, errX := cat.Chip(a)
	y, errY := cat.Chip(b)
	return errX == nil && errY == nil && x.Architecture == y.Architecture
}

// borrowed is the curve a chip would use if f had not been measured on it.
func (r *Result) borrowed(f *Fitted, donors []string) (*form.Curve, string, string) {
	for _, d := range donors {
		for _, o := range r.Fits {
			k := o.key
			k.Chip, k.Version = f.key.Chip, f.key.Version
			if o.key.Chip == d && k == f.key && !o.old {
				return o.Entry.Curve, "same kernel", d
			}
		}
	}
	sixteen := f.scope()
	sixteen.format = plain
	for _, step := range []struct {
		scope scope
		how   string
	}{{f.scope(), "same format"}, {sixteen, "16-bit kernel"}} {
		for _, d := range donors {
			if o := r.representative(step.scope, d); o != nil {
				return o.Entry.Curve, step.how, d
			}
		}
	}
	others := &Result{}
	for _, o := range r.Fits {
		if o.key.Chip != f.key.Chip {
			others.Fits = append(others.Fits, o)
		}
	}
	launch, utilisation, _ := others.constant(f.key.Primitive)
	return &form.Curve{LaunchUS: launch, Terms: []form.Term{{Values: form.Rows{{utilisation}}}}}, "constant", "all others"
}
