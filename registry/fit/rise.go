package fit

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// rise makes the time at a link curve's knots never fall with the message: one
// library call never gains from a larger message, so a dip or a bump between two
// measured sizes is timing noise or a change of protocol the library could have
// made earlier. Runs of falling times take their mean (pool adjacent violators:
// Barlow et al., "Statistical inference under order restrictions", 1972).
//
// It applies to curves of one term over ranks and bytes, whose ideal time is
// proportional to the bytes.
func rise(c *form.Curve, in []*sample, ranks, bytes int) {
	t := &c.Terms[0]
	knots := t.Axes[len(t.Axes)-1].Knots
	for i, row := range t.Values {
		perByte := 0.0
		for _, s := range in {
			if len(t.Axes) == 1 || s.point.X[ranks] == t.Axes[0].Knots[i] {
				perByte = s.point.Ideal / s.point.X[bytes]
			}
		}
		if perByte == 0 {
			continue // a knot between measured group sizes
		}
		base := make([]float64, len(row))
		times := make([]float64, len(row))
		for k := range row {
			base[k] = c.LaunchUS*1e-6 + float64(perByte*knots[k])
			times[k] = base[k] / row[k]
		}
		for k, v := range increasing(times) {
			row[k] = round(base[k] / v)
		}
	}
}

// increasing is the closest sequence, in squares, that never falls.
func increasing(x []float64) []float64 {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, v := range x {
		pools = append(pools, pool{v, 1})
		for n := len(pools); n > 1 && pools[n-2].mean > pools[n-1].mean; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			sum := float64(a.mean*float64(a.n)) + float64(b.mean*float64(b.n))
			pools = append(pools[:n-2], pool{sum / float64(a.n+b.n), a.n + b.n})
		}
	}
	var out []float64
	for _, p := range pools {
		out = append(out, slices.Repeat([]float64{p.mean}, p.n)...)
	}
	return out
}
