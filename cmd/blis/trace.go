package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload/convert"
	"github.com/spf13/cobra"
)

// replayCmd runs a scenario on the requests of a trace.
func replayCmd() *cobra.Command {
	var d dataFlags
	scale := 1.0
	c := &cobra.Command{
		Use:     "replay SCENARIO.yaml TRACE.jsonl",
		Short:   "simulate a scenario on a trace's requests instead of its own workload",
		Long:    "Arrivals that follow from completions are recomputed; the rest come at the trace's times.",
		Example: "  blis trace export chat.yaml --out chat.jsonl\n  blis replay chat-tp2.yaml chat.jsonl",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spec.CheckScale("--scale", scale); err != nil {
				return err
			}
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			s.Workload = spec.Workload{Trace: &spec.Trace{Path: filepath.Base(args[1]), Scale: scale}, Acceptance: s.Workload.Acceptance}
			w, err := d.open(args[1])
			if err != nil {
				return err
			}
			r, err := simulate(cmd.Context(), args[0], s, w)
			if err != nil {
				return err
			}
			return printResult(cmd.OutOrStdout(), args[0], r)
		},
	}
	c.Flags().Float64Var(&scale, "scale", 1, "multiply every time of sending and every wait of the trace, no deadline")
	d.add(c)
	return c
}

// traceCmd makes traces: from a run, or from another tool's files.
func traceCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "make a trace from a run or from another tool's workload",
	}
	c.AddCommand(exportCmd(), convertCmd())
	return c
}

func exportCmd() *cobra.Command {
	var d dataFlags
	out := ""
	c := &cobra.Command{
		Use:   "export SCENARIO.yaml --out TRACE.jsonl",
		Short: "run a scenario and write the requests it sent, with their causes",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			w, err := d.open(args[0])
			if err != nil {
				return err
			}
			var r *spec.Result
			err = scenarioInputs(args[0], s).writeWhole(out, func(f *os.File) error {
				w.Export = f
				r, err = simulate(cmd.Context(), args[0], s, w)
				return err
			})
			if err != nil {
				return err
			}
			return accepted(args[0], r) // the trace is whole all the same
		},
	}
	c.Flags().StringVar(&out, "out", "", "trace to write")
	c.MarkFlagRequired("out")
	d.add(c)
	return c
}

func convertCmd() *cobra.Command {
	q := convertQuery{}
	c := &cobra.Command{
		Use:   "convert FILE... --from FORMAT --out TRACE.jsonl",
		Short: "turn another tool's workload into a trace",
		Long: "Formats: " + strings.Join(convert.Formats(), ", ") + ". Every one becomes a trace (blis.trace/1) for `blis replay` or workload.trace. " +
			"servegen is an input model: its requests are drawn once, from a fixed seed.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inputs(args...).writeWhole(q.out, func(f *os.File) error {
				return untilCanceled(cmd.Context(), func() error { return q.convert(f, args) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&q.from, "from", "", "format of the files")
	f.StringVar(&q.out, "out", "", "file to write")
	for _, name := range []string{"from", "out"} {
		c.MarkFlagRequired(name)
	}
	return c
}

type convertQuery struct{ from, out string }

func (q *convertQuery) convert(w io.Writer, paths []string) error {
	var in []convert.File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return &diag.Refusal{File: path, Problem: "cannot be read: " + err.Error()}
		}
		in = append(in, convert.File{Name: path, Data: data})
	}
	return convert.To(w, q.from, in)
}

// untilCanceled returns when work does or ctx ends. Work that knows no context is then left to end
// with the program: what it writes must be what its caller discards.
func untilCanceled(ctx context.Context, work func() error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return canceled(ctx)
	}
}
