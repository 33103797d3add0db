// Package analysis turns the outputs of runs into estimates: what to cut at the
// start, how wide the interval is, whether two configurations differ, whether a
// run had settled at all.
//
// In: series and samples, as plain numbers. Out: estimates that carry their
// interval, level and what the interval covers. It runs no simulation and draws
// nothing but bootstrap resamples from a named stream. Source: Target Design §8.8.
// Rules kept: DEV-10, DEV-11.
package analysis

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a mean with a two-sided interval at Level.
type Estimate struct {
	Mean, Low, High float64
	Level           float64
	Samples         int
	Covers          string // "replications" or "batch means"
}

// HalfWidth is half the interval.
func (e Estimate) HalfWidth() float64 { return (e.High - e.Low) / 2 }

// RelativeWidth is the half width as a share of the mean; infinite for a mean of 0.
func (e Estimate) RelativeWidth() float64 {
	if e.HalfWidth() == 0 {
		return 0
	}
	return e.HalfWidth() / math.Abs(e.Mean)
}

// ErrTooFew is the error of a procedure that was given too few samples.
var ErrTooFew = errors.New("too few samples")

// MinReplications is where a sequence of replications starts (§8.8).
const MinReplications = 5

// Replications estimates from one value a replication, with Student's t. It takes
// two values or more.
func Replications(values []float64, level float64) (Estimate, error) {
	return interval(values, level, "replications")
}

func interval(values []float64, level float64, covers string) (Estimate, error) {
	n := len(values)
	if n < 2 {
		return Estimate{}, ErrTooFew
	}
	mean, std := stat.MeanStdDev(values, nil)
	half := quantileT(level, n-1) * std / math.Sqrt(float64(n))
	return Estimate{Mean: mean, Low: mean - half, High: mean + half, Level: level, Samples: n, Covers: covers}, nil
}

// quantileT is the two-sided Student's t quantile.
func quantileT(level float64, degrees int) float64 {
	return studentT(degrees).Quantile(0.5 + level/2)
}

func studentT(degrees int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}
}

// Warmup finds how many samples to cut from the start of a series by MSER-5
// (K. White, Simulation 69(6), 1997; batches of five, the cut in the first half
// that minimises the squared standard error of the rest). A series shorter than
// ten samples is an error.
func Warmup(series []float64) (cut int, err error) {
	const batch = 5
	n := len(series) / batch
	if n < 2 {
		return 0, ErrTooFew
	}
	means := batchMeans(series[:n*batch], n)
	origin := means[0] // so that a constant series sums to exactly 0
	best, sum, squares := math.Inf(1), 0.0, 0.0
	for d := n - 1; d >= 0; d-- {
		x := means[d] - origin
		sum, squares = sum+x, squares+float64(x*x)
		if rest := float64(n - d); d <= n/2 {
			mean := sum / rest
			if v := max(0, squares/rest-float64(mean*mean)) / rest; v <= best {
				best, cut = v, d*batch
			}
		}
	}
	return cut, nil
}

// batchMeans splits a series into k equal batches, leaving out the remainder at its start.
// It adds in order, on every platform: a cut must not hang on the last digit.
func batchMeans(series []float64, k int) []float64 {
	size := len(series) / k
	series = series[len(series)-size*k:]
	out := make([]float64, k)
	for i := range out {
		for _, v := range series[i*size : (i+1)*size] {
			out[i] += v
		}
		out[i] /= float64(size)
	}
	return out
}

// The number of batches of the batch-means method (§8.8).
const (
	minBatches = 10
	maxBatches = 30
)

// BatchMeans estimates the mean of a settled series from one run: the most batches
// of 30 to 10 whose neighbours are not correlated beyond chance. It is an error
// when even ten batches are.
func BatchMeans(series []float64, level float64) (Estimate, error) {
	for k := maxBatches; k >= minBatches; k-- {
		if len(series) < 2*k {
			continue
		}
		means := batchMeans(series, k)
		if Correlation(means) <= correlationBound(k, 1) {
			return interval(means, level, "batch means")
		}
	}
	return Estimate{}, errors.New("neighbouring batch means are correlated: the run is too short")
}

// Correlation is the lag-1 autocorrelation; 0 for a constant series.
func Correlation(x []float64) float64 {
	mean := stat.Mean(x, nil)
	num, den := 0.0, 0.0
	for i, v := range x {
		den += (v - mean) * (v - mean)
		if i > 0 {
			num += (v - mean) * (x[i-1] - mean)
		}
	}
	if den == 0 {
		return 0
	}
	return num / den
}

// correlationBound is the one-sided bound of the lag-1 autocorrelation of n independent
// values that k such tests pass together with a chance of 95% or more.
func correlationBound(n, k int) float64 {
	return distuv.UnitNormal.Quantile(1-0.05/float64(k)) / math.Sqrt(float64(n))
}
