package world

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// features are what a plan asks of an engine beyond one rank that decodes.
func features(p *plan.PoolPlan) map[string]bool {
	l := p.Layout
	out := map[string]bool{"tensor": l.Tensor > 1, "pipeline": l.Pipeline > 1, "data": l.Data > 1, "expert": l.Expert > 1, "context": l.Context > 1,
		"nodes": l.RanksPerNode < l.Ranks(), "drafts": len(p.DraftLayers) > 0, "tiers": len(p.Tiers) > 0, "stream interval": p.Host.StreamInterval > 1}
	for _, g := range p.KV {
		out["KV "+g.Kind] = true
	}
	maps.DeleteFunc(out, func(_ string, has bool) bool { return !has })
	return out
}

// ask is a launch that asks for a feature in the upstream's words, and the words with which
// it is refused; "" runs.
type ask struct {
	model, chip string
	nodes       int
	args        map[string]any
	refused     string
}

type args = map[string]any

// capabilities are the features that some engine runs, with the answer of every engine.
var capabilities = map[string]map[string]ask{
	"tensor": {
		"vllm":   {"llama-3.1-8b", "h100_sxm", 1, args{"tensor-parallel-size": 2}, ""},
		"sglang": {"llama-3.1-8b", "h100_sxm", 1, args{"tensor-parallel-size": 2}, ""}},
	"pipeline": {
		"vllm":   {"llama-3.1-8b", "h100_sxm", 1, args{"pipeline-parallel-size": 2}, ""},
		"sglang": {"llama-3.1-8b", "h100_sxm", 1, args{"pipeline-parallel-size": 2}, "pipeline-parallel-size"}},
	"data": {
		"vllm":   {"gpt-oss-120b", "h200_sxm", 1, args{"data-parallel-size": 2}, ""},
		"sglang": {"deepseek-r1", "b200_sxm", 1, args{"data-parallel-size": 2, "tensor-parallel-size": 8}, "data-parallel-size"}},
	"expert": {
		"vllm":   {"gpt-oss-120b", "h200_sxm", 1, args{"tensor-parallel-size": 2, "enable-expert-parallel": true}, ""},
		"sglang": {"deepseek-r1", "b200_sxm", 1, args{"tensor-parallel-size": 8, "expert-parallel-size": 8}, ""}},
	"nodes": {
		"vllm":   {"llama-3.1-70b", "h100_sxm", 2, args{"tensor-parallel-size": 16}, ""},
		"sglang": {"llama-3.1-70b", "h100_sxm", 2, args{"tensor-parallel-size": 16}, ""}},
	"drafts": {
		"vllm":   {"deepseek-r1", "b200_sxm", 1, args{"tensor-parallel-size": 8, "speculative-config": args{"method": "mtp", "num_speculative_tokens": 2}}, ""},
		"sglang": {"deepseek-r1", "b200_sxm", 1, args{"tensor-parallel-size": 8, "speculative-algorithm": "EAGLE"}, "speculative-algorithm"}},
	"stream interval": {
		"vllm":   {"llama-3.1-8b", "h100_sxm", 1, args{"stream-interval": 20}, ""},
		"sglang": {"llama-3.1-8b", "h100_sxm", 1, args{"stream-interval": 20}, ""}},
	"KV full": {
		"vllm":   {"llama-3.1-8b", "h100_sxm", 1, nil, ""},
		"sglang": {"llama-3.1-8b", "h100_sxm", 1, nil, ""}},
	"KV mla": {
		"vllm":   {"deepseek-r1", "b200_sxm", 1, args{"tensor-parallel-size": 8}, ""},
		"sglang": {"deepseek-r1", "b200_sxm", 1, args{"tensor-parallel-size": 8}, ""}},
	"KV sliding_window": {
		"vllm":   {"gpt-oss-120b", "h200_sxm", 1, nil, ""},
		"sglang": {"gpt-oss-120b", "h200_sxm", 1, nil, "SWATokenToKVPoolAllocator"}},
	"KV recurrent": {
		"vllm":   {"qwen3.5-397b-a17b", "b300_sxm", 1, args{"tensor-parallel-size": 8}, ""},
		"sglang": {"qwen3.5-397b-a17b", "b300_sxm", 1, args{"tensor-parallel-size": 8}, "MambaRadixCache"}},
}

// TestEachEngineRunsOrRefusesEachCapability keeps T-B1: what one port runs, each other runs
// too or refuses by its upstream's name; a feature that some port gained and that is not in
// the table is found in its plans of the catalog's models.
func TestEachEngineRunsOrRefusesEachCapability(t *testing.T) {
	keep.Rule(t, "T-B1")
	w := opened(t)
	gained := func(p *plan.PoolPlan, at string) {
		for f := range features(p) {
			if capabilities[f] == nil {
				t.Errorf("%s: %s is run, and no engine's answer to it is written down", at, f)
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(capabilities)) {
		runs := 0
		for _, k := range w.Kinds {
			a, ok := capabilities[f][k.Name()]
			if !ok {
				t.Errorf("%s: what %s makes of it is not written down", f, k.Name())
				continue
			}
			p, _, err := w.Compile(k.Name(), engines.Spec{Model: a.model, Hardware: a.chip, Nodes: a.nodes, Args: a.args})
			switch {
			case (err == nil) != (a.refused == "") || err != nil && !strings.Contains(err.Error(), a.refused):
				t.Errorf("%s: %s: got %v, want a refusal that names %q", f, k.Name(), err, a.refused)
			case err == nil && !features(p)[f]:
				t.Errorf("%s: %s runs %v without it", f, k.Name(), a.args)
			case err == nil:
				runs++
				gained(p, k.Name()+" "+f)
			}
		}
		if runs == 0 {
			t.Errorf("%s: no engine runs it", f)
		}
	}
	plans := 0
	for _, k := range w.Kinds {
		for _, m := range w.Catalog.Models() {
			if p, _, err := w.Compile(k.Name(), engines.Spec{Model: m, Hardware: "b300_sxm", Nodes: 1, Args: args{"tensor-parallel-size": 8}}); err == nil {
				plans++
				gained(p, k.Name()+" "+m)
			}
		}
	}
	if plans < len(w.Catalog.Models()) {
		t.Errorf("only %d plans of the catalog's models", plans)
	}
}
