package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// explainCmd resolves a scenario's engine and prints what it would run.
func explainCmd() *cobra.Command {
	var d dataFlags
	asJSON := false
	c := &cobra.Command{
		Use:     "explain SCENARIO.yaml",
		Short:   "every resolved setting with its source, the KV budget term by term, the layers with their kernels, and what a request pays on its way in",
		Example: "  blis explain chat.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			w, err := world.Open(d.Paths)
			if err != nil {
				return err
			}
			settings, p, err := explain(w, s)
			if err != nil {
				return diag.In(args[0], err)
			}
			front, err := w.Environment().FrontEnd(p)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), snake(map[string]any{"settings": settings, "plan": p, "front_end": front}))
			}
			return drawExplained(cmd.OutOrStdout(), settings, p, front)
		},
	}
	d.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print settings and plan as JSON")
	return c
}

func explain(w *world.World, s *spec.Scenario) ([]engines.Resolved, *plan.PoolPlan, error) {
	kind, err := sim.Kind(s, w.Kinds)
	if err != nil {
		return nil, nil, s.Placed(err)
	}
	settings, p, err := kind.Explain(sim.EngineSpec(s), w.Environment())
	if err != nil {
		return nil, nil, s.Placed(err)
	}
	return append(settings, sim.WorkloadSettings(s, p)...), p, nil
}

func drawExplained(w io.Writer, settings []engines.Resolved, p *plan.PoolPlan, front cost.FrontEnd) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tVALUE\tSOURCE\tWHY")
	for _, s := range settings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Name, s.Value, s.Source, s.Why)
	}
	fmt.Fprintln(t, "\nLAYER\tSTAGE\tTIMES\tPRIMITIVE\tNAME\tKERNEL\tSHAPE")
	for i := range p.Layers {
		l := &p.Layers[i]
		fmt.Fprintf(t, "%d\t%d\t%d\t%s\t%s\t%s/%s\t%s\n", l.Layer, l.Stage, max(1, l.Repeat), l.Primitive, l.Name, l.Kernel.Library, l.Kernel.Variant, shapeText(l))
	}
	fmt.Fprintln(t, "\nWEIGHTS\tSTAGE\tFORMAT\tBYTES A RANK")
	for _, r := range p.Weights {
		fmt.Fprintf(t, "%s\t%d\t%s\t%.0f\n", r.Name, r.Stage, r.DType, float64(r.Bytes))
	}
	fmt.Fprintln(t, "\nKV GROUP\tLAYERS\tWINDOW\tTOKENS A BLOCK\tBYTES A BLOCK")
	for _, g := range p.KV {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.0f\n", g.Kind, g.Layers, g.Window, g.PageTokens, float64(g.BytesPerPage))
	}
	fmt.Fprintln(t, "\nFRONT END\tSECONDS\tWHAT")
	fmt.Fprintf(t, "request\t%.3g\tof each, whatever the load (%v)\n", front.FixedSeconds, front.Method)
	fmt.Fprintf(t, "prompt token\t%.3g\tof each prompt token\n", front.PerPromptToken)
	if front.SerialPerRequest > 0 {
		fmt.Fprintf(t, "in turn\t%.3g\tone request after the other: at most %.0f a second enter an engine\n", front.SerialPerRequest, 1/front.SerialPerRequest)
	}
	return t.Flush()
}

// shapeText writes the sizes a primitive reads.
func shapeText(l *plan.LoweredLayer) string {
	s := &l.Shape
	switch l.Primitive {
	case plan.GEMM:
		return fmt.Sprintf("N=%d K=%d %s x %s", s.N, s.K, s.Act, s.Weight)
	case plan.GroupedGEMM:
		return fmt.Sprintf("experts=%d top_k=%d hidden=%d inter=%d tp=%d ep=%d %s x %s", s.Experts, s.TopK, s.Hidden, s.Inter, s.ExpertTensor, s.ExpertRanks, s.Act, s.Weight)
	case plan.AttentionExtend, plan.AttentionDecode:
		return fmt.Sprintf("heads=%d kv_heads=%d head_dim=%d window=%d cache=%s", s.Heads, s.KVHeads, s.HeadDim, s.Window+s.Chunk, s.KVType)
	case plan.MLAExtend, plan.MLADecode:
		return fmt.Sprintf("heads=%d latent=%d rope=%d cache=%s weights=%s", s.Heads, s.LatentRank, s.RopeDim, s.KVType, s.Weight)
	case plan.RecurrentExtend, plan.RecurrentDecode:
		return fmt.Sprintf("heads=%d state=%.0f bytes", s.Heads, float64(s.StateBytes))
	}
	if c := l.Collective; c != nil {
		return fmt.Sprintf("ranks=%d bytes/row=%.0f", c.Ranks, float64(c.BytesPerRow))
	}
	return fmt.Sprintf("bytes/row=%.0f", float64(s.BytesPerRow))
}
