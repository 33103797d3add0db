package main

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry/fit/composite"
	"github.com/spf13/cobra"
)

// registryLanesCmd holds an engine's measured runs of role fit against prices that rest
// on all the coefficients, or on those of some methods alone.
func registryLanesCmd() *cobra.Command {
	var engine string
	var methods []string
	var from dataFlags
	var jobs int
	c := &cobra.Command{
		Use: "lanes", Short: "errors of the runs of role fit by lane, at all coefficients or those of some methods", Args: cobra.NoArgs,
		Long:    "Simulates the engine's fit units and prints their TPOT and TTFT errors by lane; minutes on two cores.",
		Example: "  blis registry lanes --engine sglang --methods roofline,assumed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := world.Open(from.Paths)
			if err != nil {
				return err
			}
			if _, err := w.Kind(engine); err != nil {
				return err
			}
			if len(methods) > 0 {
				if err := only(w, methods); err != nil {
					return err
				}
			}
			l, err := ledger.Embedded()
			if err != nil {
				return err
			}
			runs := &composite.Runs{World: w, Jobs: jobs}
			free, limited, err := runs.Judge(cmd.Context(), l, engine)
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), composite.Table("not limited by KV capacity", free), "\n", composite.Table("limited by KV capacity", limited))
			return nil
		},
	}
	from.add(c)
	f := c.Flags()
	f.StringVar(&engine, "engine", "vllm", "engine whose runs are simulated")
	f.StringSliceVar(&methods, "methods", nil, "use only coefficients of these methods, separated by commas")
	f.IntVar(&jobs, "jobs", 2, "simulations at a time")
	return c
}

// only leaves w the coefficients of the named methods.
func only(w *world.World, names []string) error {
	var methods []plan.Method
	for _, name := range names {
		m, ok := plan.ParseMethod(name)
		if !ok {
			return &diag.Refusal{Field: "--methods", Value: name, Problem: "is no method", Accept: "measured, calibrated, transferred, literature, vendor_spec, roofline, assumed", Rule: "VAL-1"}
		}
		methods = append(methods, m)
	}
	var err error
	w.Registry, err = w.Registry.Only(methods...)
	return err
}
