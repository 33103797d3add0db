// Package metric is the registry of every figure the project reports, compares,
// ranks or checks: for each id its formula, statistic, population, window and
// unit. Two figures may be compared only when their ids and scopes are equal.
//
// In: an id. Out: its definition. The package computes nothing. Time to first
// token, time per output token and inter-token latency follow the client the
// measured runs used (SemiAnalysisAI/InferenceX@843c6254,
// utils/bench_serving/benchmark_serving.py). Rule kept: DEV-8 (Target Design §8.7).
package metric

import (
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Statistic reduces samples to one number.
type Statistic string

const (
	Mean  Statistic = "mean"
	Std   Statistic = "std" // population standard deviation, as NumPy's
	P50   Statistic = "p50" // percentiles interpolate linearly between order statistics, as NumPy's
	P90   Statistic = "p90"
	P95   Statistic = "p95"
	P99   Statistic = "p99"
	P999  Statistic = "p999"
	Max   Statistic = "max"
	Ratio Statistic = "ratio" // one number a window: a total over a total
)

// Quantile is the statistic's rank in 0..1; ok is false for one that is no percentile.
func (s Statistic) Quantile() (q float64, ok bool) {
	switch s {
	case P50:
		return 0.50, true
	case P90:
		return 0.90, true
	case P95:
		return 0.95, true
	case P99:
		return 0.99, true
	case P999:
		return 0.999, true
	case Max:
		return 1, true
	}
	return 0, false
}

// Population is what one sample stands for.
type Population string

const (
	Requests Population = "requests" // completed requests sent in the measured window
	Tokens   Population = "tokens"   // gaps between consecutive streamed chunks that end in the measured window
	Steps    Population = "steps"    // engine steps that end in the measured window
	Window   Population = "window"   // the measured window as a whole
)

// Better is which way a metric improves.
type Better string

const (
	Lower  Better = "lower"
	Higher Better = "higher"
	None   Better = "none" // describes the run
)

// Definition is one metric. Quantity groups the statistics of one formula.
type Definition struct {
	ID         string     `json:"id"`
	Quantity   string     `json:"quantity"`
	Formula    string     `json:"formula"`
	Statistic  Statistic  `json:"statistic"`
	Population Population `json:"population"`
	Window     string     `json:"window"`
	Unit       string     `json:"unit"`
	Better     Better     `json:"better"`
}

// MeasuredWindow is the window of every metric: what the frame's phases leave.
const MeasuredWindow = "from the first request sent after warm-up to the last completion, or to the horizon"

// All lists the registry in a fixed order.
func All() []Definition { return slices.Clone(registry) }

// Lookup returns a definition, or a refusal that suggests the nearest id.
func Lookup(id string) (Definition, error) {
	for i := range registry {
		if registry[i].ID == id {
			return registry[i], nil
		}
	}
	return Definition{}, &diag.Refusal{Field: "metric", Value: id, Problem: "is not a metric of the registry", Accept: accept(id), Rule: "DEV-8"}
}

func accept(id string) string {
	all := make([]string, len(registry))
	for i, d := range registry {
		all[i] = d.ID
	}
	if near := diag.Nearest(id, all); near != "" {
		return "did you mean " + near + "?"
	}
	return "an id of `blis metrics`, e.g. " + strings.Join(all[:3], ", ")
}
