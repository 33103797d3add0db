package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// runCmd simulates one scenario.
func runCmd() *cobra.Command {
	var d dataFlags
	var look watchFlags
	c := &cobra.Command{
		Use:   "run SCENARIO.yaml",
		Short: "simulate a scenario and print one JSON Result",
		Long: "The Result states every input that can change a byte of it, every request's fate and every figure with its count. " +
			"Watching a run changes nothing in it. In a timeline a batch begins where its instance's batch before it ended, and states its launch, so that " +
			"batches add up to busy time; a request that did not complete ends when its client gave up or the run ended. " +
			"A run that fails its frame's conditions, or whose steady state is overloaded or incomplete, says why on standard error and exits with 3.",
		Example: "  blis run chat.yaml\n  blis run chat.yaml --timeline chat.json --plot chat.svg --watch",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			w, err := d.open(args[0])
			if err != nil {
				return err
			}
			watcher, err := look.start(cmd, args[0], s)
			if err != nil {
				return err
			}
			w.Observer = watcher
			r, err := simulate(cmd.Context(), args[0], s, w)
			if err = watcher.finish(err); err != nil {
				return err
			}
			return printResult(cmd.OutOrStdout(), args[0], r)
		},
	}
	d.add(c)
	look.add(c)
	return c
}

func readScenario(path string) (*spec.Scenario, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &diag.Refusal{File: path, Problem: "cannot be read: " + err.Error()}
	}
	return spec.Parse(path, b)
}

// printResult prints r whatever it says; a run that its frame does not accept, or that
// did not reach the steady state it measures, is a check that failed.
func printResult(w io.Writer, scenario string, r *spec.Result) error {
	b, err := r.JSON()
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(w, "%s\n", b); err != nil {
		return err
	}
	if err := accepted(scenario, r); err != nil {
		return err
	}
	return settled(scenario, r)
}

// settled is the error of a run whose frame measures a steady state that it did not reach.
func settled(scenario string, r *spec.Result) error {
	s := r.Steady
	if s == nil || s.State == string(analysis.Settled) {
		return nil
	}
	fail := func(why, raise string) error {
		return &exit.CheckFailed{What: scenario + ": frame.kind: the steady state is " + s.State + ": " + why + "; " + raise}
	}
	if s.State == string(analysis.Overloaded) {
		return fail("the backlog grows until the last request is sent, and latencies grow with it", "lower the load or add instances: a longer run grows further")
	}
	var why []string
	for _, x := range s.Series {
		if x.Problem != "" {
			why = append(why, x.Series+" "+x.Problem)
		}
	}
	return fail("no figure is reported, since "+strings.Join(why, ", "), "raise "+longer(&r.Inputs.Scenario.Frame))
}

// longer names the frame's setting that makes its window longer.
func longer(f *spec.Frame) string {
	switch {
	case f.Stop.Horizon > 0 && f.Stop.Requests > 0:
		return "frame.stop.horizon and frame.stop.requests"
	case f.Stop.Horizon > 0:
		return "frame.stop.horizon"
	case f.Stop.Requests > 0:
		return "frame.stop.requests"
	}
	return "the requests of the clients"
}

// accepted is the error of a run that failed its frame's conditions.
func accepted(scenario string, r *spec.Result) error {
	if r.Accepted {
		return nil
	}
	return &exit.CheckFailed{What: scenario + ": frame: the run is not accepted: " + strings.Join(r.Failures, "; ")}
}

// dataFlags choose the data of a run: a directory instead of the embedded copy,
// overlays on top of either (SIM-6).
type dataFlags struct{ world.Paths }

func (d *dataFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&d.Catalog, "catalog", "", "directory to read instead of the embedded catalog")
	f.StringArrayVar(&d.CatalogOverlays, "catalog-overlay", nil, "directory laid over the catalog; repeatable")
	f.StringVar(&d.Registry, "registry", "", "directory to read instead of the embedded coefficients")
	f.StringArrayVar(&d.RegistryOverlays, "registry-overlay", nil, "directory laid over the coefficients; repeatable")
	f.BoolVar(&d.ExactAcceptance, "exact-acceptance", false, "refuse a speculative acceptance that was not measured for exactly this target, drafter, workload and number of drafts")
}

// open reads the data; paths in the scenario are relative to its own directory.
func (d *dataFlags) open(scenario string) (sim.World, error) {
	w, err := world.Open(d.Paths)
	if err != nil {
		return sim.World{}, err
	}
	s := w.Sim()
	s.Files = os.DirFS(filepath.Dir(scenario))
	return s, nil
}
