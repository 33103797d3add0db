package composite

import (
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// linear is the log error of every observation, linear in the parameters around
// one point.
type linear struct {
	p         *Problem
	at        []float64
	predicted []float64
	jacobian  [][]float64 // of log predicted
	base      []float64   // weights of the observations
}

const (
	huber   = 0.1  // log error beyond which an observation counts linearly (Huber, 1964)
	ridge   = 1e-6 // of the diagonal: keeps collinear parameters where they are
	rounds  = 25   // of reweighting
	sweeps  = 200  // of coordinate descent
	samples = 400  // of the bootstrap
)

// solve is the robust weighted least-squares solution under non-negativity, by
// iteratively reweighted coordinate descent from the parameters' starts: one that
// no weighted observation depends on stays there.
func (m *linear) solve(weight []float64) []float64 {
	n := len(m.at)
	x := starts(m.p.Parameters)
	for range rounds {
		a, b := make([][]float64, n), make([]float64, n)
		for j := range a {
			a[j] = make([]float64, n)
		}
		for i, w := range weight {
			r := math.Log(m.predicted[i] / m.p.Observations[i].Measured)
			res := r
			for j := range n {
				res += m.jacobian[i][j] * (x[j] - m.at[j])
			}
			if abs := math.Abs(res); abs > huber {
				w *= huber / abs
			}
			for j := range n {
				for k := range n {
					a[j][k] += w * m.jacobian[i][j] * m.jacobian[i][k]
				}
				b[j] -= w * m.jacobian[i][j] * r
			}
		}
		m.sweep(a, b, x)
	}
	return x
}

// sweep minimises the quadratic a, b in the moves from m.at, keeping x at 0 or above.
func (m *linear) sweep(a [][]float64, b, x []float64) {
	for range sweeps {
		for j := range x {
			d := a[j][j] * (1 + ridge)
			if d == 0 {
				continue
			}
			g := b[j]
			for k := range x {
				if k != j {
					g -= a[j][k] * (x[k] - m.at[k])
				}
			}
			x[j] = math.Max(0, m.at[j]+g/d)
		}
	}
}

// bootstrap resamples whole curves: the runs of one are not independent.
func (m *linear) bootstrap() (low, high []float64) {
	var curves []string
	for i := range m.p.Observations {
		if c := m.p.Observations[i].Curve; !slices.Contains(curves, c) {
			curves = append(curves, c)
		}
	}
	family := substream.New(0, "composite fit", "curves of a bootstrap sample")
	draws := make([][]float64, len(m.at))
	for s := range samples {
		stream := family.At(uint64(s))
		times := map[string]float64{}
		for range curves {
			times[curves[stream.Below(uint64(len(curves)))]]++
		}
		weight := make([]float64, len(m.base))
		for i := range weight {
			weight[i] = m.base[i] * times[m.p.Observations[i].Curve]
		}
		for j, v := range m.solve(weight) {
			draws[j] = append(draws[j], v)
		}
	}
	for _, d := range draws {
		slices.Sort(d)
		low, high = append(low, d[samples*25/1000]), append(high, d[samples*975/1000-1])
	}
	return low, high
}

// lanes lists the lanes in order of their names.
func (p *Problem) lanes() []string {
	var out []string
	for i := range p.Observations {
		out = append(out, p.Observations[i].Lane)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
