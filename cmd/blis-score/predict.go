package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/spf13/cobra"
)

// candidate is a build that is judged: its data, and the units it must run.
type candidate struct {
	ledger, out string
	inputs
	jobs int
}

func (o *candidate) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.ledger, "ledger", "", "directory made by ledger ingest, in place of the embedded ledger")
	o.inputFlags(f)
	f.StringVar(&o.out, "out", "", "file to write")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "units simulated at once; changes no byte of the outcome")
	if err := c.MarkFlagRequired("out"); err != nil {
		panic(err)
	}
}

// run tries the chosen units as they are without their measured values, so that no
// figure can depend on one.
func (o *candidate) run(ctx context.Context, progress io.Writer, chosen func(l *ledger.Ledger, u *ledger.Unit) bool) (record.Build, []record.Trial, error) {
	if err := o.check(); err != nil {
		return record.Build{}, nil, err
	}
	l, err := openLedger(o.ledger)
	if err != nil {
		return record.Build{}, nil, err
	}
	var units []*ledger.Unit
	for i := range l.Units {
		if u := &l.Units[i]; chosen(l, u) {
			units = append(units, u.Unmeasured())
		}
	}
	if len(units) == 0 {
		return record.Build{}, nil, &diag.Refusal{Field: "--ledger", Value: o.ledger, Problem: "every unit is on a published list, so there is nothing to predict", Accept: "a ledger with units of no published role"}
	}
	w, err := world.Open(o.Paths)
	if err != nil {
		return record.Build{}, nil, err
	}
	build, err := describe(w, l, "")
	if err != nil {
		return build, nil, err
	}
	h, err := theWorld(w, build)
	if err != nil {
		return build, nil, err
	}
	trials, err := h.Run(ctx, units, harness.Options{Jobs: o.jobs, Done: ticker(progress)})
	return build, trials, err
}

func predictCmd() *cobra.Command {
	var o candidate
	c := &cobra.Command{
		Use:   "predict --out FILE",
		Short: "simulate every unit without a published role, for the jobs that hold the role seed",
		Long: "Simulates every unit that is on no published list and writes one prediction a unit: figures, or the reason there are none.\n" +
			"It needs no secret and no network, and reads no measured value.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			build, trials, err := o.run(c.Context(), c.ErrOrStderr(), func(l *ledger.Ledger, u *ledger.Unit) bool { return l.Role(u) == ledger.Unlisted })
			if err != nil {
				return err
			}
			data, err := gate.Predict(build, trials).Write()
			if err != nil {
				return err
			}
			if _, err := gate.ReadPredictions(o.out, bytes.NewReader(data)); err != nil { // what the gate will say
				return err
			}
			return write(o.out, data)
		},
	}
	o.flags(c)
	return c
}

func fingerprintCmd() *cobra.Command {
	var o candidate
	c := &cobra.Command{
		Use:   "fingerprint --out FILE",
		Short: "simulate every unit's recorded configuration and write the hashes, for refactor-check",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, trials, err := o.run(c.Context(), c.ErrOrStderr(), func(*ledger.Ledger, *ledger.Unit) bool { return true })
			if err != nil {
				return err
			}
			f, err := harness.NewFingerprints(trials)
			if err != nil {
				return err
			}
			data, err := canon.Indent(f)
			if err != nil {
				return err
			}
			return write(o.out, data)
		},
	}
	o.flags(c)
	return c
}

func refactorCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "refactor-check A B",
		Short: "check that two builds simulate every unit alike, by the files fingerprint made",
		Long: "Compares two builds over every unit's recorded configuration, by hash; no measured value is read. Exits with 3 and names\n" +
			"each unit whose scenario, result or reason differs.",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var two [2]*harness.Fingerprints
			for i, file := range args {
				data, err := os.ReadFile(file)
				if err != nil {
					return &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error(), Accept: "a file that fingerprint made"}
				}
				if two[i], err = harness.ReadFingerprints(file, data); err != nil {
					return err
				}
			}
			differing := harness.Differing(two[0], two[1])
			for _, d := range differing {
				fmt.Fprintln(c.OutOrStdout(), d)
			}
			if len(differing) > 0 {
				return &exit.CheckFailed{What: fmt.Sprintf("%d of %d units are simulated otherwise: the change is no refactor", len(differing), len(two[0].Units))}
			}
			fmt.Fprintf(c.OutOrStdout(), "%d units are simulated alike\n", len(two[0].Units))
			return nil
		},
	}
}

// write makes file whole or not at all.
func write(file string, data []byte) error {
	return unwritable(file, swap.File(filepath.Clean(file), data))
}

func unwritable(file string, err error) error {
	if err == nil {
		return nil
	}
	return &diag.Refusal{File: file, Problem: "cannot be written: " + err.Error(), Accept: "a file you may write"}
}
