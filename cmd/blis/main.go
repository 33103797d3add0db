// Command blis simulates LLM serving clusters and answers questions about the
// models, coefficients, engines and measured runs it knows.
package main

import (
	"os"
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/spf13/cobra"
)

func main() { os.Exit(exit.Main(root())) }

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
