package fit

import (
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Judged is how far a prediction is from what was measured, over shapes its fit
// never saw.
type Judged struct {
	N      int     `json:"n"`
	Median float64 `json:"median"` // absolute relative error
	P95    float64 `json:"p95"`
	Bias   float64 `json:"bias"` // median signed error
}

// judge compares seconds with the samples of a part.
func (g *group) judge(seconds []float64, which part) Judged { return sumUp(g.errors(seconds, which)) }

// errors are the signed relative errors of a part.
func (g *group) errors(seconds []float64, which part) []float64 {
	var errs []float64
	for i, s := range g.samples {
		if s.part == which {
			errs = append(errs, seconds[i]/s.seconds-1)
		}
	}
	return errs
}

func sumUp(signed []float64) Judged {
	if len(signed) == 0 {
		return Judged{}
	}
	abs := make([]float64, len(signed))
	for i, e := range signed {
		abs[i] = math.Abs(e)
	}
	return Judged{len(signed), round(quantile(abs, 0.5)), round(quantile(abs, 0.95)), round(quantile(signed, 0.5))}
}

// quantile interpolates linearly between order statistics.
func quantile(x []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(x))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + float64((at-float64(i))*(s[i+1]-s[i]))
}

// interval is the 95% bootstrap interval of the factor between measured and
// predicted time on held-out shapes. A resampled median is an order statistic, so
// the interval is read off the ordered ratios: the binomial ranks n/2 -+ 1.96
// sqrt(n)/2 (Efron, "Bootstrap methods", Ann. Statist. 7(1), 1979, section 3). It
// is unknown below eight shapes.
func (g *group) interval(seconds []float64) registry.Interval {
	var ratio []float64
	for i, s := range g.samples {
		if s.part == held {
			ratio = append(ratio, s.seconds/seconds[i])
		}
	}
	n := float64(len(ratio))
	if n < 8 {
		return registry.Interval{}
	}
	slices.Sort(ratio)
	half := 0.98 * math.Sqrt(n)
	return registry.Interval{
		round(ratio[int(math.Floor(max(0, n/2-half)))]), round(ratio[int(math.Ceil(min(n-1, n/2+half)))]),
	}
}

func (j Judged) entry() *registry.Error {
	if j.N == 0 {
		return nil
	}
	return &registry.Error{Held: j.N, Median: j.Median, P95: j.P95, Bias: j.Bias}
}
