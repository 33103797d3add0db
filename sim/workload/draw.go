package workload

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// sampler draws from one distribution; the draw of an entity depends on its own
// substream alone.
type sampler struct {
	d          *spec.Distribution
	family     substream.Family
	cumulative []float64 // of an empirical distribution's weights
}

func newSampler(d *spec.Distribution, seed uint64, component, purpose string) *sampler {
	if d == nil {
		return nil
	}
	s := &sampler{d: d, family: substream.New(seed, component, purpose)}
	if e := d.Empirical; e != nil {
		total := 0.0
		for i := range e.Values {
			w := 1.0
			if len(e.Weights) > 0 {
				w = e.Weights[i]
			}
			total += w
			s.cumulative = append(s.cumulative, total)
		}
	}
	return s
}

// random is whether the draw is not always the same.
func random(d *spec.Distribution) bool {
	return d != nil && d.Fixed == nil && (d.Uniform == nil || d.Uniform.Min != d.Uniform.Max)
}

// real draws for an entity. A fixed value consumes no substream.
func (s *sampler) real(entity int64) float64 {
	if s.d.Fixed != nil {
		return *s.d.Fixed
	}
	g := s.family.At(uint64(entity))
	switch d := s.d; {
	case d.Uniform != nil:
		return d.Uniform.Min + float64(g.Float64()*(d.Uniform.Max-d.Uniform.Min))
	case d.Normal != nil:
		return truncated(d.Normal, func() float64 { return d.Normal.Mean + float64(g.Normal()*d.Normal.Std) })
	case d.LogNormal != nil:
		return truncated(d.LogNormal, func() float64 { return fmath.Exp(d.LogNormal.Mean + float64(g.Normal()*d.LogNormal.Std)) })
	case d.Exp != nil:
		return g.Exponential() * d.Exp.Mean
	}
	return s.d.Empirical.Values[pick(s.cumulative, g.Float64())]
}

// wait draws a duration in microseconds, at most spec.MaxSeconds.
func (s *sampler) wait(entity int64) int64 {
	return Microseconds(min(s.real(entity), spec.MaxSeconds))
}

// tokens draws a whole number from 1 to spec.MaxTokens: a uniform over whole numbers
// with both ends, the rest to the nearest.
func (s *sampler) tokens(entity int64) int {
	if u := s.d.Uniform; u != nil {
		g := s.family.At(uint64(entity))
		low, high := int64(math.Ceil(u.Min)), int64(math.Floor(u.Max))
		return max(1, int(low+int64(g.Below(uint64(max(1, high-low+1))))))
	}
	return int(min(max(1, math.Round(s.real(entity))), spec.MaxTokens))
}

// truncated draws until the value lies in range; a range so narrow that a thousand
// draws miss it gives its nearer end.
func truncated(n *spec.Normal, draw func() float64) float64 {
	v := 0.0
	for range 1000 {
		if v = draw(); v >= n.Min && v <= n.Max {
			return v
		}
	}
	return min(max(v, n.Min), n.Max)
}

// pick finds the first entry whose cumulative weight exceeds u of the total.
func pick(cumulative []float64, u float64) int {
	x := u * cumulative[len(cumulative)-1]
	low, high := 0, len(cumulative)-1
	for low < high {
		mid := (low + high) / 2
		if cumulative[mid] > x {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// process draws the gaps of a renewal process in operational time, where the rate
// is constant, and maps them through the rate windows.
type process struct {
	p      *spec.Process
	shape  float64
	gap    func(*substream.Stream, float64) float64 // mean 1
	family substream.Family
	n      int64
	at     float64 // seconds
}

func newProcess(a *spec.Arrivals, seed uint64, component string) *process {
	q := &process{family: substream.New(seed, component, "arrival")}
	switch {
	case a.Poisson != nil:
		q.p, q.gap = a.Poisson, func(s *substream.Stream, _ float64) float64 { return s.Exponential() }
	case a.Gamma != nil:
		q.p, q.gap = a.Gamma, func(s *substream.Stream, k float64) float64 { return s.Gamma(k) / k }
	case a.Weibull != nil:
		mean := WeibullMean(a.Weibull.Shape)
		q.p, q.gap = a.Weibull, func(s *substream.Stream, k float64) float64 { return s.Weibull(k) / mean }
	default:
		q.p, q.gap = a.Constant, func(*substream.Stream, float64) float64 { return 1 }
	}
	q.shape = q.p.Shape
	return q
}

// next advances to the next arrival and returns its time in seconds.
func (q *process) next() float64 {
	s := q.family.At(uint64(q.n))
	q.n++
	q.at = q.through(q.at, q.gap(&s, q.shape)/q.p.Rate)
	return q.at
}

// through moves from t until work seconds at the unscaled rate have passed.
func (q *process) through(t, work float64) float64 {
	for _, w := range q.p.Windows {
		if t < w.Start {
			if t+work <= w.Start {
				return t + work
			}
			work -= w.Start - t
			t = w.Start
		}
		if t < w.End {
			room := float64((w.End - t) * w.Factor)
			if work <= room && room > 0 {
				return t + work/w.Factor
			}
			work -= room
			t = w.End
		}
	}
	return t + work
}

// WeibullMean is the mean of a Weibull variate of scale 1: Gamma(1 + 1/k), by Lanczos' approximation (g = 7, n = 9) within 1e-13.
func WeibullMean(k float64) float64 {
	x := 1 / k
	c := [...]float64{676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
		12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7}
	a := 0.99999999999980993
	for i, v := range c {
		a += v / (x + float64(i) + 1)
	}
	t := x + 7.5
	return 2.5066282746310002 * fmath.Exp(float64((x+0.5)*fmath.Log(t))-t) * a
}
