package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/registry/fit"
	"github.com/inference-sim/accuracy-dashboard/registry/fit/composite"
	"github.com/spf13/cobra"
)

// docsCmd renders every generated file of a source tree.
func docsCmd() *cobra.Command {
	var dir string
	check := false
	c := &cobra.Command{
		Use:   "docs",
		Short: "write the generated pages, schemas and AGENTS.md of a source tree, or compare them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := generatedFiles(dir)
			if err != nil {
				return err
			}
			if !check {
				return writeFiles(files, dir)
			}
			stale, err := docgen.Stale(files, os.DirFS(dir), otherPrograms...)
			if err != nil {
				return err
			}
			for _, s := range stale {
				fmt.Fprintln(cmd.OutOrStdout(), s)
			}
			if len(stale) > 0 {
				return &exit.CheckFailed{What: count(len(stale), "stale generated file") + "; `blis docs` writes each"}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "root", ".", "root of the source tree")
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail when a file differs from what its owner says")
	return c
}

// otherPrograms are pages that the test of another program renders.
var otherPrograms = []string{"content/generated/commands-blis-score.md"}

func generatedFiles(dir string) (map[string][]byte, error) {
	policy, err := os.ReadFile(filepath.Join(dir, "invariants", "layers.txt"))
	if err != nil {
		return nil, &diag.Refusal{Field: "--root", Value: dir, Problem: "is no source tree: " + err.Error(), Accept: "the root of the module"}
	}
	layers, err := invariants.ParseLayers("layers.txt", string(policy))
	if err != nil {
		return nil, err
	}
	m, err := invariants.Load(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	records, err := invariants.Records()
	if err != nil {
		return nil, err
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		return nil, err
	}
	prices, err := referencePrices(w)
	if err != nil {
		return nil, err
	}
	fits, err := fitRecords()
	if err != nil {
		return nil, err
	}
	return docgen.Files(docgen.Input{Fits: fits, Commands: []*cobra.Command{root()}, Others: []string{"blis-score"}, Engines: w.Kinds, Records: records, Registry: w.Registry,
		Layers: layers, Policy: string(policy), Packages: m.Packages(), Prices: prices})
}

// fitRecords is what the registry's writers left on record.
func fitRecords() (docgen.Fits, error) {
	operators, err := fit.Published()
	if err != nil {
		return docgen.Fits{}, err
	}
	vllm, err := composite.Published()
	if err != nil {
		return docgen.Fits{}, err
	}
	sglang, err := composite.PublishedSGLang()
	if err != nil {
		return docgen.Fits{}, err
	}
	return docgen.Fits{Operators: operators, Whole: []composite.Report{*vllm, *sglang}, Plots: fit.Plots}, nil
}

// referencePrices prices a decode step and a prompt of a few models and chips, which the
// release notes compare between releases.
func referencePrices(w *world.World) ([]docgen.Price, error) {
	var out []docgen.Price
	for _, r := range []struct {
		engine, model, chip string
		tensor              int
	}{
		{"vllm", "llama-3.1-8b", "h100_sxm", 1}, {"vllm", "llama-3.1-70b", "h200_sxm", 4}, {"vllm", "gpt-oss-120b", "b200_sxm", 1},
		{"vllm", "minimax-m2.5", "h200_sxm", 4}, {"vllm", "deepseek-r1", "b200_sxm", 8}, {"sglang", "deepseek-r1", "h200_sxm", 8},
		{"vllm", "kimi-k2.5", "b200_sxm", 8},
	} {
		p, pricer, err := w.Compile(r.engine, engines.Spec{Model: r.model, Hardware: r.chip, Nodes: 1,
			Args: map[string]any{"tensor-parallel-size": r.tensor}})
		if err != nil {
			return nil, err
		}
		for _, s := range []struct {
			name  string
			batch world.Batch
		}{
			{"decode 1x1024", world.Batch{Decode: []world.Decoding{{Seqs: 1, Context: 1024}}}},
			{"decode 64x8192", world.Batch{Decode: []world.Decoding{{Seqs: 64, Context: 8192}}}},
			{"prompt 2048", world.Batch{Extend: []plan.Chunk{{Query: 2048}}}},
		} {
			e := pricer.Price(world.Step(p, s.batch, 0))
			out = append(out, docgen.Price{Name: fmt.Sprintf("%s %s on %d %s, %s", r.engine, r.model, r.tensor, r.chip, s.name), Seconds: e.Total, Method: e.Method.String()})
		}
	}
	return out, nil
}
