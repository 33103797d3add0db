package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// replicateCmd estimates a scenario's figures from independent replications.
func replicateCmd() *cobra.Command {
	q := replicateQuery{}
	c := &cobra.Command{
		Use:   "replicate SCENARIO.yaml",
		Short: "figures with intervals, from replications until they are narrow enough",
		Long: "Replications have seeds 1, 2, ... instead of frame.seed: at least five, until every metric's interval is within --width of its mean or --limit is reached; " +
			"the latter is a check that failed, and the figures are printed with the width reached. " +
			"The interval covers the workload's randomness, not the coefficients' uncertainty.",
		Example: "  blis replicate chat.yaml --metric ttft_p99 --width 0.05",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, short, err := q.run(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := q.print(cmd.OutOrStdout(), e); err != nil {
				return err
			}
			return short
		},
	}
	f := c.Flags()
	f.StringArrayVar(&q.metrics, "metric", []string{"ttft_mean", "tpot_mean", "e2e_mean", "output_throughput"}, "metric to estimate, at cluster scope; repeatable")
	f.Float64Var(&q.width, "width", 0.05, "half width of the interval that is narrow enough, as a share of the mean")
	f.Float64Var(&q.level, "level", 0.95, "confidence level")
	f.IntVar(&q.limit, "limit", 30, "most replications")
	f.BoolVar(&q.json, "json", false, "print the figures as JSON")
	q.data.add(c)
	return c
}

type replicateQuery struct {
	metrics      []string
	width, level float64
	limit        int
	json         bool
	data         dataFlags
}

// replicated is what replications say of a scenario.
type replicated struct {
	Scenario compared      `json:"scenario"`
	First    uint64        `json:"first_seed"`
	Runs     int           `json:"replications"` // with seeds from the first on
	Width    float64       `json:"width"`
	Figures  []spec.Figure `json:"figures"` // unfinished requests are those of all runs
}

// run gives each metric's figure. short is a *exit.CheckFailed when the limit came
// before the width.
func (q *replicateQuery) run(ctx context.Context, path string) (out *replicated, short, err error) {
	for _, f := range []struct {
		name   string
		value  float64
		ok     bool
		accept string
	}{
		{"--width", q.width, q.width >= 0, "0 or more"},
		{"--level", q.level, q.level > 0 && q.level < 1, "above 0 and below 1"},
		{"--limit", float64(q.limit), q.limit >= analysis.MinReplications, fmt.Sprintf("%d or more", analysis.MinReplications)},
	} {
		if !f.ok {
			return nil, nil, &diag.Refusal{Field: f.name, Value: fmt.Sprint(f.value), Problem: "is out of range", Accept: f.accept}
		}
	}
	if err := checkMetrics(q.metrics); err != nil {
		return nil, nil, err
	}
	s, err := readScenario(path)
	if err != nil {
		return nil, nil, err
	}
	w, err := q.data.open(path)
	if err != nil {
		return nil, nil, err
	}
	s.Frame.Metrics, s.Frame.Scopes = q.metrics, []string{"cluster"}
	values, unfinished := make([][]float64, len(q.metrics)), make([]int64, len(q.metrics))
	out = &replicated{First: 1, Width: q.width}
	err = replications(ctx, path, s, w, 1, func(r *spec.Result) (bool, error) {
		if !r.Drawn() {
			return false, &diag.Refusal{File: path, Problem: "has no random input: every replication would be the same run", Accept: "blis run", Rule: "DEV-11"}
		}
		if out.Runs++; out.Runs == 1 {
			out.Scenario = compared{path, r.Inputs.ScenarioSHA256}
		}
		for i, id := range q.metrics {
			f, err := figureOf(path, r, id)
			if err != nil {
				return false, err
			}
			values[i], unfinished[i] = append(values[i], f.Value), unfinished[i]+f.Unfinished
		}
		n := len(values[0])
		if n < analysis.MinReplications {
			return true, nil
		}
		var wide []string
		var err error
		out.Figures, wide, err = q.estimate(values, unfinished)
		if len(wide) > 0 && n >= q.limit {
			short = &exit.CheckFailed{What: fmt.Sprintf("%s: --width: %g is not reached within --limit %d: %s", path, q.width, q.limit, strings.Join(wide, ", "))}
		}
		return err == nil && len(wide) > 0 && short == nil, err
	})
	if err != nil {
		return nil, nil, err
	}
	return out, short, nil
}

// estimate gives each metric's interval, and the widths of those too wide.
func (q *replicateQuery) estimate(values [][]float64, unfinished []int64) (out []spec.Figure, wide []string, err error) {
	for i, id := range q.metrics {
		d, err := metric.Lookup(id)
		if err != nil {
			return nil, nil, err
		}
		e, err := analysis.Replications(values[i], q.level)
		if err != nil {
			return nil, nil, err
		}
		if width := e.RelativeWidth(); !(width <= q.width) {
			wide = append(wide, fmt.Sprintf("%s reached %.3g", id, width))
		}
		out = append(out, spec.Figure{Metric: id, Scope: "cluster", Value: e.Mean, Unit: d.Unit, Count: int64(e.Samples), Unfinished: unfinished[i],
			Interval: &spec.Interval{Low: e.Low, High: e.High, Level: e.Level, Covers: "the workload's randomness, over replications", Runs: e.Samples}})
	}
	return out, wide, nil
}

func (q *replicateQuery) print(w io.Writer, r *replicated) error {
	if q.json {
		return printJSON(w, r)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tmean\tinterval\treplications\tunfinished")
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s (%s)\t%.5g\t[%.5g, %.5g] at %.0f%%\t%d\t%d\n", f.Metric, f.Unit, f.Value, f.Interval.Low, f.Interval.High, 100*f.Interval.Level, f.Interval.Runs, f.Unfinished)
	}
	return t.Flush()
}
