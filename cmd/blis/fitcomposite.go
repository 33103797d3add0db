package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry/fit/composite"
	"github.com/spf13/cobra"
)

// fitCompositeCmd fits the costs only whole runs show, on units of role fit.
func fitCompositeCmd() *cobra.Command {
	var data, report, engine string
	var from dataFlags
	var jobs, rounds int
	var check bool
	c := &cobra.Command{
		Use: "fit-composite", Short: "fit host and launch costs to measured runs of role fit", Args: cobra.NoArgs,
		Long: "Simulates every fit unit several times per parameter; about a minute each on two cores.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := world.Open(from.Paths)
			if err != nil {
				return err
			}
			l, err := ledger.Embedded()
			if err != nil {
				return err
			}
			runs := &composite.Runs{World: w, Jobs: jobs}
			p, err := runs.Problem(cmd.Context(), l, engine, composite.Parameters(engine))
			if err != nil {
				return err
			}
			if rounds > 0 {
				p.Rounds = rounds
			}
			f, err := composite.Run(p)
			if err != nil {
				return err
			}
			f.Round()
			fmt.Fprint(cmd.OutOrStdout(), p.Text(f))
			if report == "" {
				report = filepath.Join("registry", "fit", "composite", engine+".json")
			}
			files := map[string][]byte{}
			for _, s := range composite.Sets(w.Catalog, p.Parameters, f, runs.Evidence(p, f)) {
				b, err := composite.Encode(s)
				if err != nil {
					return err
				}
				files[filepath.Join(data, s.Entries[0].Chip, s.Set+".yaml")] = b
			}
			if files[report], err = canon.Indent(p.Report(engine, f, runs.Left())); err != nil {
				return err
			}
			return replace(files, check)
		},
	}
	from.add(c)
	f := c.Flags()
	f.StringVar(&data, "out", "registry/data", "registry directory to write below")
	f.StringVar(&report, "report", "", "file of the published record (default registry/fit/composite/ENGINE.json)")
	f.StringVar(&engine, "engine", "vllm", "engine whose runs are fitted")
	f.IntVar(&jobs, "jobs", 2, "simulations at a time")
	f.IntVar(&rounds, "rounds", 0, "Gauss-Newton rounds; 0 is the number the published fit of the engine took")
	f.BoolVar(&check, "check", false, "compare with what stands there instead of writing")
	return c
}

// replace writes files, or says which differ from what stands on disk.
func replace(files map[string][]byte, check bool) error {
	var differ []string
	for name, want := range files {
		have, err := os.ReadFile(name)
		if check {
			if err != nil || !bytes.Equal(have, want) {
				differ = append(differ, name)
			}
			continue
		}
		if err := os.WriteFile(name, want, 0o644); err != nil {
			return err
		}
	}
	slices.Sort(differ)
	if len(differ) > 0 {
		return &exit.CheckFailed{What: "differs from what the fit writes: " + strings.Join(differ, ", ")}
	}
	return nil
}
