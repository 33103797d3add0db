package analysis

import (
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"gonum.org/v1/gonum/stat"
)

// Outcome of a comparison (§8.8).
type Outcome string

const (
	Lower            Outcome = "lower"  // the whole interval lies below -margin
	Higher           Outcome = "higher" // the whole interval lies above margin
	NotDistinguished Outcome = "not distinguished"
)

// Comparison is b - a over paired replications.
type Comparison struct {
	Difference Estimate
	Margin     float64
	Outcome    Outcome
	Equivalent bool    // the whole interval lies within the margin
	P          float64 // two-sided, of a difference no larger than the margin
}

// Paired compares replications that shared their random numbers: a[i] and b[i]
// had seed i.
func Paired(a, b []float64, margin, level float64) (Comparison, error) {
	if len(a) != len(b) || len(a) < 2 {
		return Comparison{}, ErrTooFew
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = b[i] - a[i]
	}
	e, err := Replications(d, level)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Difference: e, Margin: margin, Outcome: NotDistinguished, P: pValue(d, margin)}
	switch {
	case e.Low > margin:
		c.Outcome = Higher
	case e.High < -margin:
		c.Outcome = Lower
	default:
		c.Equivalent = e.Low >= -margin && e.High <= margin
	}
	return c, nil
}

// pValue is the two-sided t-test of a mean no farther from 0 than margin: as unlikely as
// the mean is where the truth is the margin itself, so that at most alpha of the tests
// reject at alpha whatever the truth within it.
func pValue(d []float64, margin float64) float64 {
	mean, std := stat.MeanStdDev(d, nil)
	beyond := math.Abs(mean) - margin
	switch {
	case beyond <= 0:
		return 1
	case std == 0:
		return 0
	}
	return 2 * studentT(len(d)-1).Survival(beyond/(std/math.Sqrt(float64(len(d)))))
}

// Holm says which hypotheses to reject so that the chance of any false rejection
// is at most alpha (S. Holm, Scandinavian J. of Statistics 6(2), 1979).
func Holm(p []float64, alpha float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	reject := make([]bool, len(p))
	for rank, i := range order {
		if p[i] > alpha/float64(len(p)-rank) {
			break
		}
		reject[i] = true
	}
	return reject
}

// Bootstrap is the percentile interval of statistic over n resamples of groups:
// whole groups are drawn with replacement, so that what is alike stays together.
// The statistic gets the drawn groups' indices.
func Bootstrap(groups int, statistic func(drawn []int) float64, n int, level float64, s *substream.Stream) (low, high float64) {
	values := make([]float64, n)
	drawn := make([]int, groups)
	for i := range values {
		for j := range drawn {
			drawn[j] = int(s.Below(uint64(groups)))
		}
		values[i] = statistic(drawn)
	}
	slices.Sort(values)
	tail := (1 - level) / 2
	return stat.Quantile(tail, stat.LinInterp, values, nil), stat.Quantile(1-tail, stat.LinInterp, values, nil)
}

// TwoSample is the p-value of the two-sample Kolmogorov-Smirnov test, by its
// limiting distribution; both samples are sorted in place.
func TwoSample(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	d := stat.KolmogorovSmirnov(a, nil, b, nil)
	n := float64(len(a)) * float64(len(b)) / float64(len(a)+len(b))
	x := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d // Stephens, JRSS B 32(1), 1970
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		sum += sign * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return min(1, max(0, 2*sum))
}
