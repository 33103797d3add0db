package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim"
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
		Long: "Replications have seeds 1, 2, ...: at least five, until every metric's interval is within --width of its mean or --limit is reached. " +
			"The interval covers the workload's randomness, not the coefficients' uncertainty.",
		Example: "  blis replicate chat.yaml --metric ttft_p99 --width 0.05",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			figures, err := q.run(args[0])
			if err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), figures)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(t, "metric\tmean\tinterval\treplications")
			for _, f := range figures {
				fmt.Fprintf(t, "%s (%s)\t%.5g\t[%.5g, %.5g] at %.0f%%\t%d\n", f.Metric, f.Unit, f.Value, f.Interval.Low, f.Interval.High, 100*f.Interval.Level, f.Interval.Runs)
			}
			return t.Flush()
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

func (q *replicateQuery) run(path string) ([]spec.Figure, error) {
	if !(q.width >= 0) || !(q.level > 0 && q.level < 1) || q.limit < analysis.MinReplications {
		return nil, &diag.Refusal{Field: "--width, --level, --limit", Value: fmt.Sprint(q.width, ", ", q.level, ", ", q.limit), Problem: "are out of range",
			Accept: fmt.Sprintf("a width of 0 or more, a level in 0..1, a limit of %d or more", analysis.MinReplications)}
	}
	s, err := readScenario(path)
	if err != nil {
		return nil, err
	}
	w, err := q.data.open(path)
	if err != nil {
		return nil, err
	}
	s.Frame.Metrics, s.Frame.Scopes = q.metrics, []string{"cluster"}
	values := make([][]float64, len(q.metrics))
	for seed := 1; ; seed++ {
		s.Frame.Seed = uint64(seed)
		r, err := sim.Run(s, w)
		if err != nil {
			return nil, diag.In(path, err)
		}
		if r.Random[:4] == "none" {
			return nil, &diag.Refusal{File: path, Problem: "has no random input: every replication would be the same run", Accept: "blis run", Rule: "DEV-11"}
		}
		for i, id := range q.metrics {
			f, ok := r.Figure(id, "cluster")
			if !ok {
				return nil, &diag.Refusal{File: path, Field: id, Problem: "has no figure in a run: " + absence(r, id), Rule: "DEV-7"}
			}
			values[i] = append(values[i], f.Value)
		}
		if seed < analysis.MinReplications {
			continue
		}
		figures, narrow, err := q.estimate(values)
		if err != nil || narrow || seed >= q.limit {
			return figures, err
		}
	}
}

// estimate gives each metric's interval, and whether all are narrow enough.
func (q *replicateQuery) estimate(values [][]float64) (out []spec.Figure, narrow bool, err error) {
	narrow = true
	for i, id := range q.metrics {
		d, err := metric.Lookup(id)
		if err != nil {
			return nil, false, err
		}
		e, err := analysis.Replications(values[i], q.level)
		if err != nil {
			return nil, false, err
		}
		narrow = narrow && e.RelativeWidth() <= q.width
		out = append(out, spec.Figure{Metric: id, Scope: "cluster", Value: e.Mean, Unit: d.Unit, Count: int64(e.Samples),
			Interval: &spec.Interval{Low: e.Low, High: e.High, Level: e.Level, Covers: "the workload's randomness, over replications", Runs: e.Samples}})
	}
	return out, narrow, nil
}
