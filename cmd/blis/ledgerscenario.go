package main

import (
	"fmt"
	"io"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

func ledgerScenarioCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "scenario UNIT",
		Short: "print the scenario a unit is scored with, for blis run; refused with the reason it is not scored",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := openLedger(c)
			if err != nil {
				return err
			}
			u, err := l.Find(args[0])
			if err != nil {
				return err
			}
			w := new(harness.World)
			if w.Catalog, err = catalog.Embedded(); err != nil {
				return err
			}
			if w.Engines, err = builtin.Kinds(); err != nil {
				return err
			}
			t, err := w.State(u)
			if err != nil {
				return err
			}
			if t.Refusal != nil {
				return &diag.Refusal{Field: u.ID, Value: string(t.Refusal.Reason), Problem: t.Refusal.Detail, Accept: "a unit that can be stated as a scenario", Rule: "COV-5"}
			}
			return printScenario(c.OutOrStdout(), t)
		},
	}
	addLedgerFlag(c)
	return c
}

func printScenario(w io.Writer, t *record.Trial) error {
	fmt.Fprintf(w, "# unit %s, run on %s %s\n", t.Unit.ID, t.Unit.Framework, t.EngineVersion)
	for _, e := range t.Estimates {
		fmt.Fprintf(w, "# %s=%s: %s %s: %s\n", e.Field, e.Recorded, e.Rule, e.StoodIn, e.Reason)
	}
	for _, d := range t.Client {
		fmt.Fprintf(w, "# client: %s\n", d)
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(t.Scenario); err != nil {
		return err
	}
	return enc.Close()
}
