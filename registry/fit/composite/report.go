package composite

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Errors are relative errors of one metric over some observations.
type Errors struct {
	Lane   string  `json:"lane"` // "" for all
	Metric string  `json:"metric"`
	Count  int     `json:"count"`
	Mean   float64 `json:"mean_absolute"`
	Median float64 `json:"median_absolute"`
	Bias   float64 `json:"mean_signed"`
}

// Errors is the table of predicted against measured, by lane and over all lanes
// together; observations limited by KV capacity are left out, or alone in it.
func (p *Problem) Errors(predicted []float64, capacity bool) []Errors {
	var out []Errors
	for _, lane := range append([]string{""}, p.lanes()...) {
		for _, metric := range []string{"tpot_mean", "ttft_mean"} {
			var e []float64
			for i := range p.Observations {
				o := &p.Observations[i]
				if o.Capacity == capacity && o.Metric == metric && (lane == "" || o.Lane == lane) {
					e = append(e, predicted[i]/o.Measured-1)
				}
			}
			if len(e) > 0 {
				out = append(out, summarise(lane, metric, e))
			}
		}
	}
	return out
}

func summarise(lane, metric string, e []float64) Errors {
	s := Errors{Lane: lane, Metric: metric, Count: len(e)}
	abs := make([]float64, len(e))
	for i, v := range e {
		abs[i] = math.Abs(v)
		s.Mean += abs[i] / float64(len(e))
		s.Bias += v / float64(len(e))
	}
	slices.Sort(abs)
	s.Median = (abs[len(abs)/2] + abs[(len(abs)-1)/2]) / 2
	return s
}

// Text writes values with intervals and the left-out table for people.
func (p *Problem) Text(f *Fit) string {
	var b strings.Builder
	for j, q := range p.Parameters {
		fmt.Fprintf(&b, "%-16s %-28s %10.4g  95%% [%.4g, %.4g] %s\n", q.Key.Primitive, q.Key.Kernel+" "+q.Key.Chip, f.Values[j], f.Low[j], f.High[j], q.Unit)
	}
	for _, t := range []struct {
		title     string
		predicted []float64
		capacity  bool
	}{{"all lanes fitted", f.Predicted, false}, {"own lane left out", f.LeftOut, false}, {"own lane left out, limited by KV capacity", f.LeftOut, true}} {
		fmt.Fprintf(&b, "\n%s\n%-44s %-10s %5s %7s %7s %7s\n", t.title, "lane", "metric", "count", "mean", "median", "bias")
		for _, e := range p.Errors(t.predicted, t.capacity) {
			lane := e.Lane
			if lane == "" {
				lane = "all"
			}
			fmt.Fprintf(&b, "%-44s %-10s %5d %6.1f%% %6.1f%% %+6.1f%%\n", lane, e.Metric, e.Count, 100*e.Mean, 100*e.Median, 100*e.Bias)
		}
	}
	return b.String()
}
