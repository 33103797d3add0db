package fit

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Judged is how far a prediction is from what was measured, over shapes its fit
// never saw.
type Judged struct {
	N                 int
	Median, P95, Bias float64 // absolute relative error; Bias is the median signed one
}

// judge compares seconds with the samples of a part.
func (g *group) judge(seconds []float64, which part) Judged {
	var errs []float64
	for i, s := range g.samples {
		if s.part == which {
			errs = append(errs, seconds[i]/s.seconds-1)
		}
	}
	return sumUp(errs)
}

func sumUp(signed []float64) Judged {
	if len(signed) == 0 {
		return Judged{}
	}
	abs := make([]float64, len(signed))
	for i, e := range signed {
		abs[i] = math.Abs(e)
	}
	return Judged{len(signed), quantile(abs, 0.5), quantile(abs, 0.95), quantile(signed, 0.5)}
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
// predicted time on held-out shapes: their median ratio, resampled. It is unknown
// below eight shapes.
func (g *group) interval(seconds []float64) registry.Interval {
	var ratio []float64
	for i, s := range g.samples {
		if s.part == held {
			ratio = append(ratio, s.seconds/seconds[i])
		}
	}
	if len(ratio) < 8 {
		return registry.Interval{}
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(ratio)))) // any fixed seed: --check compares bytes
	medians := make([]float64, 400)
	draw := make([]float64, len(ratio))
	for i := range medians {
		for j := range draw {
			draw[j] = ratio[rng.IntN(len(ratio))]
		}
		slices.Sort(draw)
		medians[i] = draw[len(draw)/2]
	}
	return registry.Interval{round(quantile(medians, 0.025)), round(quantile(medians, 0.975))}
}

func (j Judged) entry() *registry.Error {
	if j.N == 0 {
		return nil
	}
	return &registry.Error{Held: j.N, Median: round(j.Median), P95: round(j.P95), Bias: round(j.Bias)}
}
