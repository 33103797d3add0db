package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// compareCmd compares two scenarios under common random numbers.
func compareCmd() *cobra.Command {
	q := compareQuery{}
	c := &cobra.Command{
		Use:   "compare A.yaml B.yaml",
		Short: "paired differences of two scenarios, with intervals and three outcomes",
		Long: "Both scenarios run with the same seeds, 1, 2, ... instead of their frame.seed, so that one workload sends both the same requests; what differs in the workloads is said, and frames that differ in more are refused. " +
			"The differences B - A get an interval from the spread between seeds. B is better only when the whole interval lies beyond the margin; the chance of a false winner over all metrics is held by Holm's method.",
		Example: "  blis compare tp1.yaml tp2.yaml --metric ttft_mean --metric output_throughput --margin 0.02",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := q.run(cmd.Context(), args)
			if err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return drawComparison(cmd.OutOrStdout(), r)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&q.metrics, "metric", []string{"ttft_mean", "tpot_mean", "e2e_mean", "output_throughput"}, "metric to compare, at cluster scope; repeatable")
	f.Float64Var(&q.margin, "margin", 0, "smallest difference that counts, as a share of A")
	f.IntVar(&q.seeds, "seeds", analysis.MinReplications, "replications")
	f.Float64Var(&q.level, "level", 0.95, "confidence level")
	f.BoolVar(&q.json, "json", false, "print the comparison as JSON")
	q.data.add(c)
	return c
}

type compareQuery struct {
	metrics       []string
	margin, level float64
	seeds         int
	json          bool
	data          dataFlags
}

// comparison is two scenarios under common random numbers.
type comparison struct {
	Scope     string          `json:"scope"` // of every figure
	Level     float64         `json:"level"`
	Margin    float64         `json:"margin"` // share of A
	Method    string          `json:"method"`
	First     uint64          `json:"first_seed"`
	Runs      int             `json:"replications"` // of each scenario; 1 when nothing is drawn
	Scenarios [2]compared     `json:"scenarios"`    // A and B
	Workload  []unlike        `json:"workload_differences"`
	Rows      []comparisonRow `json:"comparisons"`
}

// compared is a scenario by its path and what its first replication ran.
type compared struct {
	Path   string `json:"path"`
	SHA256 string `json:"scenario_sha256"`
}

// comparisonRow is one metric's answer.
type comparisonRow struct {
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	A          float64  `json:"a"` // means over replications
	B          float64  `json:"b"`
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low"` // null without an interval
	High       *float64 `json:"high"`
	Covers     string   `json:"interval_covers"`
	Runs       int      `json:"replications"`
	Outcome    string   `json:"outcome"` // better, worse, not distinguished
	Equivalent bool     `json:"equivalent"`
}

func (q *compareQuery) run(ctx context.Context, paths []string) (*comparison, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	var scenarios [2]*spec.Scenario
	for i, path := range paths {
		s, err := readScenario(path)
		if err != nil {
			return nil, err
		}
		scenarios[i] = s
	}
	if err := measuredAlike(paths, scenarios[0], scenarios[1]); err != nil {
		return nil, err
	}
	r := &comparison{Scope: "cluster", Level: q.level, Margin: q.margin, First: 1, Method: "differences beyond the margin, of runs without chance"}
	var err error
	if r.Workload, err = differences("workload", scenarios[0].Workload, scenarios[1].Workload); err != nil {
		return nil, err
	}
	var sides [2]*side
	for i, path := range paths {
		if sides[i], err = q.replicate(ctx, path, scenarios[i]); err != nil {
			return nil, err
		}
		r.Scenarios[i] = compared{path, sides[i].hash}
	}
	if a, b := sides[0].trace, sides[1].trace; a != b {
		r.Workload = append(r.Workload, unlike{"the trace's SHA-256", a, b})
	}
	return r, q.compare(r, sides)
}

func (q *compareQuery) check() error {
	switch {
	case q.seeds < analysis.MinReplications:
		return &diag.Refusal{Field: "--seeds", Value: fmt.Sprint(q.seeds), Problem: "is too few to see the spread", Accept: fmt.Sprintf("%d or more", analysis.MinReplications), Rule: "DEV-11"}
	case !(q.level > 0 && q.level < 1):
		return &diag.Refusal{Field: "--level", Value: fmt.Sprint(q.level), Problem: "is no confidence level", Accept: "more than 0 and less than 1"}
	case !(q.margin >= 0 && q.margin < 1):
		return &diag.Refusal{Field: "--margin", Value: fmt.Sprint(q.margin), Problem: "is no share of a figure", Accept: "0 or more and less than 1, such as 0.02"}
	}
	return checkMetrics(q.metrics)
}

// compare fills the rows of r, tested together.
func (q *compareQuery) compare(r *comparison, sides [2]*side) error {
	fixed := !sides[0].random && !sides[1].random
	r.Rows, r.Runs = make([]comparisonRow, len(q.metrics)), len(sides[0].values[0])
	var p []float64
	for i, id := range q.metrics {
		d, _ := metric.Lookup(id) // checked before
		row, pi, err := q.row(&d, sides[0].values[i], sides[1].values[i], fixed)
		if err != nil {
			return err
		}
		r.Rows[i], p = row, append(p, pi)
	}
	if fixed {
		r.Runs = 1
		return nil
	}
	r.Method = "differences beyond the margin, paired by seed; Holm over the metrics"
	for i, keep := range analysis.Holm(p, 1-q.level) {
		if !keep && !r.Rows[i].Equivalent {
			r.Rows[i].Outcome = string(analysis.NotDistinguished)
		}
	}
	return nil
}

// checkMetrics refuses a --metric that is none, or is stated twice.
func checkMetrics(ids []string) error {
	for i, id := range ids {
		if _, err := metric.Lookup(id); err != nil {
			if r, ok := errors.AsType[*diag.Refusal](err); ok {
				r.Field = "--metric"
			}
			return err
		}
		if slices.Contains(ids[:i], id) {
			return &diag.Refusal{Field: "--metric", Value: id, Problem: "is stated twice", Accept: "each once"}
		}
	}
	return nil
}

// side is the runs of one scenario.
type side struct {
	values      [][]float64 // by metric, then replication
	random      bool
	hash, trace string // of the first run's scenario, and of its trace; "" for none
}

// replicate runs one scenario with seeds 1, 2, ...
func (q *compareQuery) replicate(ctx context.Context, path string, s *spec.Scenario) (*side, error) {
	w, err := q.data.open(path)
	if err != nil {
		return nil, err
	}
	out := &side{values: make([][]float64, len(q.metrics))}
	s.Frame.Metrics, s.Frame.Scopes = q.metrics, []string{"cluster"}
	err = replications(ctx, path, s, w, 1, func(r *spec.Result) (bool, error) {
		if out.hash == "" {
			out.random, out.hash = r.Drawn(), r.Inputs.ScenarioSHA256
			for _, d := range r.Inputs.Data {
				if d.Kind == "trace" {
					out.trace = d.SHA256
				}
			}
		}
		for i, id := range q.metrics {
			f, err := figureOf(path, r, id)
			if err != nil {
				return false, err
			}
			out.values[i] = append(out.values[i], f.Value)
		}
		return len(out.values[0]) < q.seeds, nil
	})
	return out, err
}

// figureOf is a metric's figure over the cluster. A run that its frame does not accept
// is a check that failed, as in every command. A percentile needs a sample beyond it.
func figureOf(scenario string, r *spec.Result, id string) (*spec.Figure, error) {
	if err := accepted(scenario, r); err != nil {
		return nil, err
	}
	f, ok := r.Figure(id, "cluster")
	if !ok {
		reason := "not computed"
		for _, w := range r.Withheld {
			if w.Metric == id {
				reason = w.Reason
			}
		}
		return nil, &diag.Refusal{File: scenario, Field: id, Problem: "has no figure in a run: " + reason, Rule: "DEV-7"}
	}
	d, err := metric.Lookup(id)
	if err != nil {
		return nil, err
	}
	const slack = 1e-9 // 1 - 0.9 is a little less than 0.1
	if p, ok := d.Statistic.Quantile(); ok && p < 1 && float64(f.Count)*(1-p) < 1-slack {
		return nil, &diag.Refusal{File: scenario, Field: id, Value: fmt.Sprint(f.Count, " samples a run"), Problem: "leave none beyond the percentile: it would be the largest, whatever its place",
			Accept: fmt.Sprintf("%.0f or more samples, or a lower percentile", math.Ceil(1/(1-p)-slack)), Rule: "DEV-8"}
	}
	return &f, nil
}

func (q *compareQuery) row(d *metric.Definition, a, b []float64, fixed bool) (comparisonRow, float64, error) {
	r := comparisonRow{Metric: d.ID, Unit: d.Unit, A: mean(a), B: mean(b), Runs: len(a)}
	r.Difference = r.B - r.A
	margin := q.margin * math.Abs(r.A)
	if fixed {
		r.Covers = "nothing: the runs have no random input, and coefficients are not varied"
		r.Runs = 1
		r.Outcome = named(d, r.Difference, margin)
		return r, 0, nil
	}
	c, err := analysis.Paired(a, b, margin, q.level)
	if err != nil {
		return r, 1, err
	}
	r.Low, r.High, r.Covers, r.Equivalent = &c.Difference.Low, &c.Difference.High, "the workload's randomness, over replications", c.Equivalent
	r.Outcome = string(c.Outcome)
	switch c.Outcome {
	case analysis.Higher:
		r.Outcome = named(d, 1, 0)
	case analysis.Lower:
		r.Outcome = named(d, -1, 0)
	}
	return r, c.P, nil
}

// named turns a difference into better or worse by the metric's own direction.
func named(d *metric.Definition, difference, margin float64) string {
	switch {
	case math.Abs(difference) <= margin:
		return string(analysis.NotDistinguished)
	case d.Better == metric.None:
		return map[bool]string{true: "higher", false: "lower"}[difference > 0]
	case (difference > 0) == (d.Better == metric.Higher):
		return "better"
	}
	return "worse"
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func drawComparison(w io.Writer, r *comparison) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tA\tB\tB - A\tinterval\toutcome")
	for _, r := range r.Rows {
		interval, outcome := "none: no random input", r.Outcome
		if r.Low != nil {
			interval = fmt.Sprintf("[%.4g, %.4g]", *r.Low, *r.High)
		}
		if r.Equivalent {
			outcome += " (equivalent)"
		}
		fmt.Fprintf(t, "%s (%s)\t%.4g\t%.4g\t%+.4g\t%s\t%s\n", r.Metric, r.Unit, r.A, r.B, r.Difference, interval, outcome)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	said := "One workload, with the same seeds, met both."
	if len(r.Workload) > 0 {
		said = "The workloads differ, so that other requests met each:"
		for _, u := range r.Workload {
			said += "\n  " + u.String()
		}
	}
	_, err := fmt.Fprintln(w, said)
	return err
}
