package scorer

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
)

// measured is the metrics the ledger's units record, by metric id, in the
// registry's unit. The source states both as means over requests at the client,
// which is the registry's definition of these ids (DEV-8).
var measured = map[string]func(*ledger.Measurement) float64{
	"ttft_mean": func(m *ledger.Measurement) float64 { return m.TTFTMeanMS / 1000 },
	"tpot_mean": func(m *ledger.Measurement) float64 { return m.TPOTMeanMS / 1000 },
}

// scopeMeasured is the scope of every measured figure: the whole deployment.
const scopeMeasured = "cluster"

// compare sets the simulated figures beside the measured ones. A unit that holds
// several measurements is scored against their mean (COV-10).
func compare(t *record.Trial, noise map[string]float64) (map[string]record.Metric, error) {
	out := make(map[string]record.Metric, len(measured))
	for id, read := range measured { //determinism:any-order each id writes its own key
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
		var values []float64
		for i := range t.Unit.Measurements {
			values = append(values, read(&t.Unit.Measurements[i]))
		}
		m := record.Metric{Measured: average(values), Simulated: f.Value, Unit: f.Unit, Interval: interval(f.NoInterval, t.Result.Random)}
		m.RelativeError = (m.Simulated - m.Measured) / m.Measured
		if n, ok := noise[id]; ok {
			m.Noise = &n
		}
		out[id] = m
	}
	return out, nil
}

// interval says what the simulated figure's uncertainty covers (DEV-11).
func interval(why, random string) string {
	if why != "" {
		return why
	}
	return "no interval: random input of the run: " + random
}
