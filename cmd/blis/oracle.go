package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	sglang "github.com/inference-sim/accuracy-dashboard/engines/sglang/oracle"
	vllm "github.com/inference-sim/accuracy-dashboard/engines/vllm/oracle"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
	"github.com/spf13/cobra"
)

// replayer replays recordings of one real engine.
type replayer struct {
	check   func(name string, r io.Reader) (replay.Report, error)
	corrupt func(name string, r io.Reader, n int) (replay.Report, string, error)
}

var replayers = map[string]replayer{
	"vllm":   {vllm.Check, vllm.CheckCorrupted},
	"sglang": {sglang.Check, sglang.CheckCorrupted},
}

// oracleCmd holds a port to recordings of the engine it ports.
func oracleCmd() *cobra.Command {
	c := &cobra.Command{Use: "oracle", Short: "compare a port with recordings of the real engine"}
	c.AddCommand(oracleCheckCmd())
	return c
}

func oracleCheckCmd() *cobra.Command {
	var engine string
	var corrupt bool
	var n int
	c := &cobra.Command{
		Use:   "check --engine NAME FILE...",
		Short: "replay recordings and compare every recorded value",
		Long: "Prints a line a file and the first difference drawn side by side. A recording that is refused is named and the rest are replayed. A field the replay does not know, or one that only one side has, is a difference. " +
			"With --corrupt one recorded value of each file is changed first, and the check must then fail.",
		Example: "  blis oracle check --engine vllm engines/vllm/testdata/oracle/*",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case !corrupt && cmd.Flags().Changed("value"):
				return exit.UsageError(errors.New("--value says what --corrupt changes; give --corrupt too"))
			case n < 0:
				return exit.UsageError(fmt.Errorf("--value: %d: values are counted from 0", n))
			}
			r, ok := replayers[engine]
			if !ok {
				return exit.UsageError(&diag.Refusal{Field: "--engine", Value: engine, Problem: "has no recordings", Accept: diag.OneOf(engine, []string{"sglang", "vllm"})})
			}
			t := tally{out: cmd.OutOrStdout()}
			for _, f := range files {
				if err := t.file(r, f, corrupt, n); err != nil {
					if len(files) == 1 {
						return err
					}
					if err := t.refuse(err); err != nil {
						return err
					}
				}
			}
			return t.close(corrupt)
		},
	}
	c.Flags().StringVar(&engine, "engine", "vllm", "the port: vllm or sglang")
	c.Flags().BoolVar(&corrupt, "corrupt", false, "change one recorded value a file first")
	c.Flags().IntVar(&n, "value", 0, "which value --corrupt changes, counted from 0")
	return c
}

// tally adds up what the files gave.
type tally struct {
	out                                       io.Writer
	traces, steps, values, differences, clean int
	refused                                   []error
}

// refuse names a recording that was not replayed; the others still are.
func (t *tally) refuse(err error) error {
	t.refused = append(t.refused, err)
	_, werr := fmt.Fprintf(t.out, "refused: %v\n", err)
	return werr
}

func (t *tally) file(r replayer, name string, corrupt bool, n int) error {
	f, err := os.Open(name)
	if err != nil {
		return &diag.Refusal{File: name, Problem: "cannot be read: " + err.Error()}
	}
	defer f.Close()
	var rep replay.Report
	note := ""
	if corrupt {
		var changed string
		rep, changed, err = r.corrupt(name, f, n)
		note = ", changed " + changed
	} else {
		rep, err = r.check(name, f)
	}
	if err != nil {
		return err
	}
	t.traces++
	t.steps += rep.Steps
	t.values += rep.Values
	t.differences += len(rep.Differences)
	if len(rep.Differences) == 0 {
		t.clean++
	}
	_, err = fmt.Fprintf(t.out, "%s: %d steps, %d values, %s%s\n%s", name, rep.Steps, rep.Values, count(len(rep.Differences), "difference"), note, rep.Draw())
	return err
}

// close prints the totals and fails on a difference; a corrupted file that replayed
// without one fails in words of its own.
func (t *tally) close(corrupt bool) error {
	rest := ""
	if len(t.refused) > 0 {
		rest = fmt.Sprintf(", %d refused", len(t.refused))
	}
	if _, err := fmt.Fprintf(t.out, "%s, %d steps, %d values, %s%s\n", count(t.traces, "trace"), t.steps, t.values, count(t.differences, "difference"), rest); err != nil {
		return err
	}
	switch {
	case corrupt && t.clean > 0:
		return fmt.Errorf("%s replayed without a difference: the check is blind to the changed value", count(t.clean, "corrupted recording"))
	case t.differences > 0:
		return &exit.CheckFailed{What: count(t.differences, "difference")}
	case len(t.refused) > 0:
		return fmt.Errorf("%s refused, the first: %w", count(len(t.refused), "recording"), t.refused[0])
	}
	return nil
}

// count is n things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
