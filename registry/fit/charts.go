package fit

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/plot"
)

// marksPerChart bounds a chart: a sample of the held-out shapes drawn by their
// hash, so the same shapes are shown whatever changes in the fit.
const marksPerChart = 200

// Charts draws, for each primitive, what was measured against what a fit that
// never saw it says, and the signed error by size.
func (r *Result) Charts() ([]plot.Chart, error) {
	var out []plot.Chart
	for _, p := range plan.Primitives() {
		against, errs, err := r.chart(p)
		if err != nil {
			return nil, err
		}
		if against.Count() > 0 {
			out = append(out, against, errs)
		}
	}
	return out, nil
}

func (r *Result) chart(p plan.Primitive) (against, errs plot.Chart, err error) {
	id := strings.NewReplacer(".", "-", "_", "-").Replace(string(p))
	against = plot.Chart{
		ID: id + "-fit", Title: string(p) + ": held-out shapes", Ratios: []float64{0.1},
		X: plot.Axis{Label: "measured (us)", Log: true}, Y: plot.Axis{Label: "fitted without it (us)", Log: true},
	}
	errs = plot.Chart{
		ID: id + "-error", Title: string(p) + ": error by size of the work", Tolerances: []float64{0.1},
		X: plot.Axis{Label: "ideal time (us)", Log: true}, Y: plot.Axis{Label: "fitted / measured - 1"},
	}
	total := 0
	for _, f := range r.Fits {
		if f.key.Primitive == p {
			total += f.Held.N
		}
	}
	for tone, chip := range sortedKeys(r.measured()) {
		a, e := plot.Series{Name: chip, Tone: tone}, plot.Series{Name: chip, Tone: tone}
		for _, f := range r.Fits {
			if f.key.Primitive != p || f.key.Chip != chip {
				continue
			}
			seconds, err := f.predict(f.Trial)
			if err != nil {
				return against, errs, err
			}
			for i, s := range f.samples {
				if s.part != held || !drawn(s.shape+f.key.Kernel, total) {
					continue
				}
				a.Marks = append(a.Marks, plot.Mark{X: s.seconds * 1e6, Y: seconds[i] * 1e6, Text: s.shape})
				e.Marks = append(e.Marks, plot.Mark{X: s.point.Ideal * 1e6, Y: seconds[i]/s.seconds - 1, Text: s.shape})
			}
		}
		against.Series, errs.Series = append(against.Series, a), append(errs.Series, e)
	}
	against.Series = slices.DeleteFunc(against.Series, empty)
	errs.Series = slices.DeleteFunc(errs.Series, empty)
	return against, errs, nil
}

func empty(s plot.Series) bool { return len(s.Marks) == 0 }

// drawn keeps about marksPerChart of total.
func drawn(shape string, total int) bool {
	h := fnv.New64a()
	h.Write([]byte(shape))
	return h.Sum64()%uint64(max(1, total)) < marksPerChart
}
