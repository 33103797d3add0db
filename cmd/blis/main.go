// Command blis simulates LLM serving clusters and answers questions about the
// models, coefficients, engines and measured runs it knows.
package main

import (
	"os"
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
	"github.com/spf13/cobra"
)

func main() { os.Exit(exit.Main(root())) }

// builtFrom is what the program was built from. info is nil where it has no build information.
func builtFrom(info *debug.BuildInfo) search.Build {
	b := search.Build{Release: "unreleased", Commit: "not stamped"}
	if info == nil {
		return b
	}
	s := snapshot.NewStack(info)
	if snapshot.Release(s.Main.Version) == nil {
		b.Release = s.Main.Version
	}
	if c := s.Settings["vcs.revision"]; c != "" {
		b.Commit = c
	}
	if s.Settings["vcs.modified"] == "true" {
		b.Commit += "+modified"
	}
	return b
}

// root is the command tree, made anew for each run and for the generated reference.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "blis",
		Short: "simulate LLM serving clusters: vLLM and SGLang step by step, every step priced",
		Long: "Simulates LLM serving clusters: vLLM and SGLang step by step, every step priced.\n\n" +
			"Exit codes: 0 done; 1 refused input, also when interrupted; 2 wrong usage; 3 a check failed; 70 a defect of the program.",
	}
	info, _ := debug.ReadBuildInfo() // nil without
	b := builtFrom(info)
	c.Version = b.Release + ", commit " + b.Commit
	registry := registryCmd()
	registry.AddCommand(fitCompositeCmd())
	c.AddCommand(runCmd(), replayCmd(), traceCmd(), compareCmd(), replicateCmd(), searchCmd(), benchCmd(), metricsCmd(), schemaCmd(), catalogCmd(), ledgerCmd(), priceCmd(), registry, oracleCmd(), fieldsCmd(), explainCmd(), scenarioCmd(), docsCmd(), invariantsCmd())
	return c
}
