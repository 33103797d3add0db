package analysis

import (
	"fmt"
	"math"
	"slices"

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
// intervals of a window, and the window's output series, each in Batches batches.
//
// Overloaded: the mean change of the backlog over a batch is positive by a
// one-sided t-test at FalseAlarm. A backlog without drift makes changes that are
// independent at worst (a critical load) and cancel otherwise, so the chance of a
// false alarm is FalseAlarm at a critical load and less below it.
//
// Settled: not overloaded, and no series has a problem. Each is cut by MSER-5. What
// is left must then have batch means that are not correlated beyond chance, and
// halves that do not differ, both held over all series together (at 0.05 by an equal
// share each, and at FalseAlarm by Holm's method). Unless it is a share, the 95%
// interval of its mean is within MaxWidth of it, which keeps service with a heavy
// tail from passing on a quiet window. And what was cut must not have moved the mean
// out of that interval: the figures are of the whole window. Batch means that differ
// by less than Flat pass the tests of trend and correlation: a system without chance
// would otherwise fail them by its last digits.
//
// Anything else is incomplete. A closed loop's backlog is constant whatever its
// requests suffer, so it is the other series that tell.
const (
	Batches    = 20
	FalseAlarm = 0.01
	Power      = 0.9 // the chance for which what is found is stated
	MaxWidth   = 0.30
	Flat       = 0.01
)

// Series is one output of a run in the order it came about.
type Series struct {
	Name   string
	Values []float64
	Share  bool // of 0 to 1: no width is asked of it
}

// Verdict is what the detector made of a window.
type Verdict struct {
	State  State
	Growth float64   // least growth of the backlog, a sample, that is found with chance Power; 0 for a short series
	Series []Finding // the backlog first
}

// Finding is what the detector made of one series.
type Finding struct {
	Name    string
	Samples int
	Cut     int     // samples MSER-5 leaves out at the start
	Shift   float64 // least difference of the halves, as a share of the mean, that is found with chance Power; 0 for a short series
	Problem string  // why the series keeps the window from being settled, "" when it does not

	p    float64 // of halves without a difference
	flat bool
}

// Classify applies the detector.
func Classify(backlog []float64, outputs ...Series) Verdict {
	v := Verdict{State: Settled}
	k := 1 + len(outputs)
	for _, s := range slices.Insert(slices.Clone(outputs), 0, Series{Name: "backlog", Values: backlog}) {
		v.Series = append(v.Series, find(s, k))
	}
	p := make([]float64, k)
	for i := range p {
		p[i] = v.Series[i].p
	}
	for i, trend := range Holm(p, FalseAlarm) {
		if f := &v.Series[i]; trend && !f.flat {
			f.Problem = "shows a trend"
		}
		if v.Series[i].Problem != "" {
			v.State = Incomplete
		}
	}
	if len(backlog) >= minSamples {
		var grows bool
		if grows, v.Growth = drifts(backlog); grows {
			v.State = Overloaded
		}
	}
	return v
}

// minSamples makes five samples a batch.
const minSamples = 5 * Batches

// find looks at one series of k that are tested together.
func find(s Series, k int) Finding {
	f := Finding{Name: s.Name, Samples: len(s.Values), p: 1}
	var err error
	if f.Cut, err = Warmup(s.Values); err != nil || f.Samples < minSamples {
		f.Problem = fmt.Sprintf("has %d samples, fewer than %d", f.Samples, minSamples)
		return f
	}
	means := batchMeans(s.Values[f.Cut:], Batches)
	e, err := interval(means, 0.95, "batch means")
	if err != nil {
		f.Problem = err.Error()
		return f
	}
	least := Flat * math.Abs(e.Mean)
	f.flat = slices.Max(means)-slices.Min(means) <= least
	f.p, f.Shift = differs(means, k)
	whole := stat.Mean(s.Values, nil)
	switch {
	case !f.flat && Correlation(means) > correlationBound(Batches, k):
		f.Problem = "swings more slowly than the window averages over (correlated batch means)"
	case !s.Share && e.RelativeWidth() > MaxWidth:
		f.Problem = fmt.Sprintf("has a mean known within %.0f %%, and %.0f %% is wanted", 100*e.RelativeWidth(), 100*MaxWidth)
	case math.Abs(whole-e.Mean) > max(least, e.HalfWidth()):
		f.Problem = "starts with a transient that moves its mean"
	}
	return f
}

// drifts tests the changes over batches, and says which growth a sample it would find.
func drifts(backlog []float64) (grows bool, growth float64) {
	changes := changes(backlog)
	mean, std := stat.MeanStdDev(changes, nil)
	critical := studentT(Batches - 1).Quantile(1 - FalseAlarm)
	se := std / math.Sqrt(Batches)
	growth = found(critical, Batches-1) * se / float64((len(backlog)-1)/Batches)
	return mean > critical*se, growth
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
	if len(series) < Batches {
		return true
	}
	p, _ := differs(batchMeans(series, Batches), 1)
	return p < FalseAlarm
}

// differs is the p-value of Welch's test of the two halves, and the least difference, as
// a share of the mean, that it finds with chance Power at an equal share of FalseAlarm
// among k tests.
func differs(means []float64, k int) (p, shift float64) {
	h := len(means) / 2
	a, b := means[:h], means[h:]
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	se := math.Sqrt((va + vb) / float64(h))
	switch {
	case se == 0 && ma == mb:
		return 1, 0
	case se == 0:
		return 0, 0
	}
	degrees := len(means) - 2
	t := studentT(degrees)
	return 2 * t.Survival(math.Abs(ma-mb)/se), found(t.Quantile(1-FalseAlarm/float64(2*k)), degrees) * se * 2 / math.Abs(ma+mb)
}

// found is how many standard errors a mean must be off for a t-test to pass its critical
// value with chance Power (the normal approximation of the noncentral t: N. Johnson and
// B. Welch, Biometrika 31, 1940).
func found(critical float64, degrees int) float64 {
	return critical + distuv.UnitNormal.Quantile(Power)*math.Sqrt(1+critical*critical/float64(2*degrees))
}
