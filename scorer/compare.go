package scorer

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
)

// scopeMeasured is the scope of every measured figure: the whole deployment.
const scopeMeasured = "cluster"

// compare sets the simulated figures beside the measured ones, means and percentiles
// where the source records them, both over requests at the client, which is the
// registry's definition of these ids (DEV-8). A unit that holds several measurements
// is scored against their mean (COV-10).
func compare(t *record.Trial, noise map[string]float64) (map[string]record.Metric, error) {
	out := map[string]record.Metric{}
	for _, id := range ledger.Metrics() {
		measured, ok := t.Unit.Measured(id)
		if !ok {
			continue
		}
		def, err := metric.Lookup(id)
		if err != nil {
			return nil, err
		}
		f, ok := t.Result.Figure(id, scopeMeasured)
		if !ok {
			return nil, fmt.Errorf("unit %s: the result has no figure %s at scope %s", t.Unit.ID, id, scopeMeasured)
		}
		if f.Unit != def.Unit {
			return nil, fmt.Errorf("unit %s: %s is in %s, the registry says %s", t.Unit.ID, id, f.Unit, def.Unit)
		}
		m := record.Metric{Measured: measured, Simulated: f.Value, Unit: f.Unit, Interval: interval(f.NoInterval, t.Result.Random)}
		m.RelativeError = (m.Simulated - m.Measured) / m.Measured
		if n, ok := noise[id]; ok {
			m.Noise = &n
		}
		out[id] = m
	}
	return out, nil
}

// simulated reads a figure of the whole deployment.
func simulated(t *record.Trial) func(id string) (float64, bool) {
	return func(id string) (float64, bool) {
		f, ok := t.Result.Figure(id, scopeMeasured)
		return f.Value, ok
	}
}

// Tolerance is how far, relative to it, the simulated mean concurrency may be from
// the measured one (COV-10). A closed loop holds its concurrency until requests run
// out, so only the length of that tail differs.
const Tolerance = 0.05

// achieved compares the concurrency the run reached; nil where it is not recorded.
func achieved(t *record.Trial) *record.Achieved {
	m, okM := t.Unit.AchievedConcurrency()
	s, okS := simulated(t)("concurrency")
	if !okM || !okS {
		return nil
	}
	return &record.Achieved{Measured: m, Simulated: s, Tolerance: Tolerance, Within: math.Abs(s-m) <= Tolerance*m}
}

// interval says what the simulated figure's uncertainty covers (DEV-11).
func interval(why, random string) string {
	if why != "" {
		return why
	}
	return "no interval: random input of the run: " + random
}
