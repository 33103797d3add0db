package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// donors orders the measured chips a chip may take utilisations from: of its own
// architecture, then its vendor, then any; among those, the one whose balance of
// compute and bandwidth is nearest, because the same shapes are then bound alike.
func (r *Result) donors(cat *catalog.Catalog, chip string) ([]string, error) {
	to, err := cat.Chip(chip)
	if err != nil {
		return nil, err
	}
	type donor struct {
		name     string
		distance [3]float64
	}
	var found []donor
	for name := range r.measured() { //determinism:any-order sorted below
		from, err := cat.Chip(name)
		if err != nil {
			return nil, err
		}
		if name != chip {
			found = append(found, donor{name, [3]float64{float64(b2i(from.Architecture != to.Architecture)), float64(b2i(from.Vendor != to.Vendor)),
				math.Abs(fmath.Log(ridge(r.chips[name]) / ridge(r.chips[chip])))}})
		}
	}
	slices.SortFunc(found, func(a, b donor) int {
		return cmp.Or(slices.Compare(a.distance[:], b.distance[:]), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, d := range found {
		out = append(out, d.name)
	}
	return out, nil
}

func ridge(c form.Chip) float64 { return c.BF16 / c.HBM }

func (r *Result) measured() map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Fits {
		out[f.key.Chip] = true
	}
	return out
}

// scope is a key without its kernel: what a price needs when the kernel that runs
// was never measured.
type scope struct {
	primitive plan.Primitive
	format    string
	windowed  bool
}

func (f *Fitted) scope() scope { return scope{f.key.Primitive, f.key.Format, f.key.Windowed} }

// representative is the kernel that stands for a scope on a chip: device time,
// then the most shapes, then the smallest held-out error.
func (r *Result) representative(s scope, chip string) *Fitted {
	var best *Fitted
	for _, f := range r.Fits {
		if f.key.Chip != chip || f.scope() != s || f.key.Boundary != registry.Device || f.old {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(len(best.samples), len(f.samples)), cmp.Compare(f.Held.Median, best.Held.Median),
			strings.Compare(f.key.Kernel, best.key.Kernel)) < 0 {
			best = f
		}
	}
	return best
}

// fallbacks gives a chip a value for every primitive it was not measured on: the
// kernels of its donors, a representative for each format, and a constant.
func (r *Result) fallbacks(cat *catalog.Catalog, chip string) ([]registry.Transfer, []*registry.Entry, error) {
	donors, err := r.donors(cat, chip)
	if err != nil {
		return nil, nil, err
	}
	to, err := cat.Chip(chip)
	if err != nil {
		return nil, nil, err
	}
	var transfers []registry.Transfer
	var kin []string // donors that run the same kernels
	for _, d := range donors {
		from, err := cat.Chip(d)
		if err != nil {
			return nil, nil, err
		}
		if from.Vendor == to.Vendor {
			kin = append(kin, d)
			transfers = append(transfers, registry.Transfer{From: d, Rule: "same kernel: its utilisation and launch time at the same shape, the ideal time from this chip's datasheet"})
		}
	}
	out := r.named(chip, kin)
	for _, s := range r.scopes() {
		for _, d := range append([]string{chip}, donors...) {
			if f := r.representative(s, d); f != nil {
				out = append(out, stand(f, s, chip)...)
				break
			}
		}
	}
	return transfers, append(out, r.constants(chip)...), nil
}

// plain is the format whose kernels also stand for formats no table times.
const plain = "bf16"

// stand makes the entry with which f serves every kernel of a scope on a chip
// and, where the format is plain, every format.
func stand(f *Fitted, s scope, chip string) []*registry.Entry {
	entry := func(format, rule string) *registry.Entry {
		k := f.key
		return &registry.Entry{
			Key:    registry.Key{Primitive: s.primitive, Format: format, Windowed: s.windowed, Chip: chip, Boundary: registry.Device},
			Method: plan.Transferred.String(), Unit: "s", Donor: &k, Rule: rule,
		}
	}
	out := []*registry.Entry{entry(s.format, "kernel not measured: the utilisation of the best-covered kernel of the format on the nearest chip")}
	if s.format == plain {
		out = append(out, entry("", "neither kernel nor format measured: the utilisation of the best-covered 16-bit kernel, against this format's own bytes and peak"))
	}
	return out
}

// scopes lists every scope some chip was measured in, in a fixed order. A scope
// without a format is left to the constants, but for collectives, which have none.
func (r *Result) scopes() []scope {
	var out []scope
	for _, f := range r.Fits {
		if !slices.Contains(out, f.scope()) {
			out = append(out, f.scope())
		}
	}
	slices.SortFunc(out, func(a, b scope) int {
		return cmp.Or(strings.Compare(string(a.primitive), string(b.primitive)), strings.Compare(a.format, b.format), b2i(a.windowed)-b2i(b.windowed))
	})
	return out
}

// constants gives each primitive one utilisation: the median over every measured
// shape on every chip (roofline), or an assumption where no table exists.
func (r *Result) constants(chip string) []*registry.Entry {
	var out []*registry.Entry
	for _, p := range plan.Primitives() {
		e := &registry.Entry{Key: registry.Key{Primitive: p, Chip: chip, Boundary: registry.Device}, Unit: "s"}
		if launch, utilisation, n := r.constant(p); n > 0 {
			e.Method = plan.Roofline.String()
			e.Rule = fmt.Sprintf("datasheet peaks times the median utilisation of %d kernels on the measured chips", n)
			e.Curve = &form.Curve{LaunchUS: round(launch), Terms: []form.Term{{Values: form.Rows{{round(utilisation)}}}}}
		} else {
			a, ok := untabled[p]
			if !ok {
				a = unmeasured
			}
			e.Method, e.Rule = plan.Assumed.String(), a.rule
			e.Curve = &form.Curve{LaunchUS: a.launch, Terms: []form.Term{{Values: form.Rows{{a.utilisation}}}}}
		}
		out = append(out, e)
	}
	return out
}

// constant is the median launch time and utilisation of a primitive's kernels.
func (r *Result) constant(p plan.Primitive) (launchUS, utilisation float64, kernels int) {
	var launch, use []float64
	for _, f := range r.Fits {
		if f.key.Primitive != p || f.key.Boundary != registry.Device {
			continue
		}
		kernels++
		launch = append(launch, f.Entry.Curve.LaunchUS)
		for _, s := range f.samples {
			use = append(use, min(1, (f.Entry.Curve.LaunchUS*1e-6+s.point.Ideal)/s.seconds))
		}
	}
	if kernels == 0 {
		return 0, 0, 0
	}
	return quantile(launch, 0.5), quantile(use, 0.5), kernels
}

// flat is a form with one utilisation.
type flat struct {
	launch, utilisation float64 // microseconds; share of the ideal
	rule                string
}

// unmeasured is for a primitive whose tables were not given.
var unmeasured = flat{5, 0.5, "no table given: half the roofline and one launch"}

// untabled are primitives no table times.
var untabled = map[plan.Primitive]flat{
	plan.Elementwise:     {0, 0.75, "a streaming pass reaches three quarters of the memory bandwidth; launch.stream is its launch"},
	plan.Quantize:        {0, 0.75, "a streaming pass reaches three quarters of the memory bandwidth; launch.stream is its launch"},
	plan.Sampling:        {10, 0.75, "several streaming passes over the logits, each with a launch"},
	plan.RecurrentExtend: {10, 0.4, "chunked scan of several kernels, bound by its smaller products"},
	plan.RecurrentDecode: {4, 0.6, "reads and writes the state once, in one kernel"},
	plan.SparseIndex:     {6, 0.5, "scores, then selects: two kernels over the cached keys"},
	plan.SendRecv:        {8, 0.75, "a point-to-point copy over the same links as the collectives"},
}
