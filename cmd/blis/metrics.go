package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/spf13/cobra"
)

// metricsCmd lists the metric registry.
func metricsCmd() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:     "metrics [ID...]",
		Short:   "what every metric means: formula, statistic, population, window, unit",
		Example: "  blis metrics ttft_p99\n  blis metrics --json",
		RunE: func(cmd *cobra.Command, ids []string) error {
			defs, err := definitions(ids)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), defs)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(t, "id\tunit\tstatistic\tpopulation\tformula")
			for _, d := range defs {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Unit, d.Statistic, d.Population, d.Formula)
			}
			return t.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the definitions as JSON")
	return c
}

func definitions(ids []string) ([]metric.Definition, error) {
	if len(ids) == 0 {
		return metric.All(), nil
	}
	var out []metric.Definition
	for _, id := range ids {
		d, err := metric.Lookup(id)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}
