package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// State is what a steady-state run turned out to be.
type State string

const (
	Settled    State = "settled"
	Overloaded State = "overloaded"
	Incomplete State = "incomplete" // too short to tell, or to estimate from
)

// The one detector of DEV-10 reads the backlog (requests in the system) at equal
// intervals of a window, in Batches batches.
//
// Overloaded: the mean change of the backlog over a batch is positive by a
// one-sided t-test at FalseAlarm. A backlog without drift makes changes that are
// independent at worst (a critical load) and cancel otherwise, so the chance of a
// false alarm is FalseAlarm at a critical load and less below it.
//
// Settled: not overloaded; after MSER-5's cut, batch means that are not correlated
// beyond chance; halves that do not differ at FalseAlarm; and a 95% interval of
// the mean backlog within MaxWidth of it. The last keeps service with a heavy tail
// from passing on a quiet window.
//
// Anything else is incomplete.
const (
	Batches    = 20
	FalseAlarm = 0.01
	MaxWidth   = 0.30
)

// Classify applies the detector. A series shorter than five samples a batch is
// incomplete.
func Classify(backlog []float64) State {
	if len(backlog) < 5*Batches {
		return Incomplete
	}
	if drifts(backlog) {
		return Overloaded
	}
	cut, err := Warmup(backlog)
	if err != nil {
		return Incomplete
	}
	means := batchMeans(backlog[cut:], Batches)
	e, err := interval(means, 0.95, "batch means")
	if err != nil || e.RelativeWidth() > MaxWidth || Correlation(means) > correlationBound(Batches) || differs(means) {
		return Incomplete
	}
	return Settled
}

// drifts tests the changes over batches.
func drifts(backlog []float64) bool {
	changes := changes(backlog)
	mean, std := stat.MeanStdDev(changes, nil)
	if std == 0 {
		return mean > 0
	}
	return mean/(std/math.Sqrt(Batches)) > criticalT()
}

func criticalT() float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: Batches - 1}.Quantile(1 - FalseAlarm)
}

func changes(backlog []float64) []float64 {
	size := (len(backlog) - 1) / Batches
	out := make([]float64, Batches)
	for i := range out {
		out[i] = backlog[(i+1)*size] - backlog[i*size]
	}
	return out
}

// Trend is whether the first and second half of a series differ at FalseAlarm, by
// means over Batches batches. A series shorter than a sample a batch has one.
func Trend(series []float64) bool {
	return len(series) < Batches || differs(batchMeans(series, Batches))
}

// differs is Welch's test of the two halves.
func differs(means []float64) bool {
	h := len(means) / 2
	a, b := means[:h], means[h:]
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	se := (va + vb) / float64(h)
	if se == 0 {
		return ma != mb
	}
	t := math.Abs(ma-mb) / math.Sqrt(se)
	return 2*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(means) - 2)}.Survival(t) < FalseAlarm
}

// Power is the chance that an overload is found: drift is the backlog's growth in
// requests a second, spread the standard deviation of its change over one second
// (sqrt of arrival plus service rate for M/M/1), window the length in seconds. It
// is the normal approximation of the noncentral t.
func Power(drift, spread, window float64) float64 {
	return distuv.UnitNormal.Survival(criticalT() - drift*math.Sqrt(window)/spread)
}
