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
		Long: "Both scenarios run with the same seeds, 1, 2, ... instead of their frame.seed, so that the same requests meet both; the differences B - A get an interval from the spread " +
			"between seeds. B is better only when the whole interval lies beyond the margin; the chance of a false winner over all metrics is held by Holm's method.",
		Example: "  blis compare tp1.yaml tp2.yaml --metric ttft_mean --metric output_throughput --margin 0.02",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := q.run(cmd.Context(), args)
			if err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), rows)
			}
			return drawComparison(cmd.OutOrStdout(), rows)
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

func (q *compareQuery) run(ctx context.Context, paths []string) ([]comparisonRow, error) {
	if q.seeds < analysis.MinReplications {
		return nil, &diag.Refusal{Field: "--seeds", Value: fmt.Sprint(q.seeds), Problem: "is too few to see the spread", Accept: fmt.Sprintf("%d or more", analysis.MinReplications), Rule: "DEV-11"}
	}
	if !(q.level > 0 && q.level < 1) || !(q.margin >= 0) {
		return nil, &diag.Refusal{Field: "--level, --margin", Value: fmt.Sprint(q.level, ", ", q.margin), Problem: "are out of range", Accept: "a level in 0..1, a margin of 0 or more"}
	}
	if err := checkMetrics(q.metrics); err != nil {
		return nil, err
	}
	var sides [2][][]float64
	fixed := true
	for i, path := range paths {
		values, random, err := q.replicate(ctx, path)
		if err != nil {
			return nil, err
		}
		sides[i], fixed = values, fixed && !random
	}
	rows := make([]comparisonRow, len(q.metrics))
	var p []float64
	for i, id := range q.metrics {
		d, _ := metric.Lookup(id) // checked above
		row, pi, err := q.row(&d, sides[0][i], sides[1][i], fixed)
		if err != nil {
			return nil, err
		}
		rows[i], p = row, append(p, pi)
	}
	if !fixed {
		for i, keep := range analysis.Holm(p, 1-q.level) {
			if !keep && !rows[i].Equivalent {
				rows[i].Outcome = string(analysis.NotDistinguished)
			}
		}
	}
	return rows, nil
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

// replicate runs one scenario with seeds 1, 2, ...: once when nothing is drawn.
func (q *compareQuery) replicate(ctx context.Context, path string) (values [][]float64, random bool, err error) {
	s, err := readScenario(path)
	if err != nil {
		return nil, false, err
	}
	w, err := q.data.open(path)
	if err != nil {
		return nil, false, err
	}
	values = make([][]float64, len(q.metrics))
	s.Frame.Metrics, s.Frame.Scopes = q.metrics, []string{"cluster"}
	err = replications(ctx, path, s, w, 1, func(r *spec.Result) (bool, error) {
		random = r.Drawn()
		for i, id := range q.metrics {
			v, err := valueOf(path, r, id)
			if err != nil {
				return false, err
			}
			values[i] = append(values[i], v)
		}
		return len(values[0]) < q.seeds, nil
	})
	return values, random, err
}

// valueOf is a metric's value over the cluster. A run that its frame does not accept
// is a check that failed, as in every command.
func valueOf(scenario string, r *spec.Result, id string) (float64, error) {
	if err := accepted(scenario, r); err != nil {
		return 0, err
	}
	f, ok := r.Figure(id, "cluster")
	if ok {
		return f.Value, nil
	}
	reason := "not computed"
	for _, w := range r.Withheld {
		if w.Metric == id {
			reason = w.Reason
		}
	}
	return 0, &diag.Refusal{File: scenario, Field: id, Problem: "has no figure in a run: " + reason, Rule: "DEV-7"}
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

func drawComparison(w io.Writer, rows []comparisonRow) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tA\tB\tB - A\tinterval\toutcome")
	for _, r := range rows {
		interval, outcome := "none: no random input", r.Outcome
		if r.Low != nil {
			interval = fmt.Sprintf("[%.4g, %.4g]", *r.Low, *r.High)
		}
		if r.Equivalent {
			outcome += " (equivalent)"
		}
		fmt.Fprintf(t, "%s (%s)\t%.4g\t%.4g\t%+.4g\t%s\t%s\n", r.Metric, r.Unit, r.A, r.B, r.Difference, interval, outcome)
	}
	return t.Flush()
}
