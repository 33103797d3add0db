package sglang

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// By hand, of Llama 3.1 8B in BF16: 32 layers, 8 KV heads of 128, which more than eight
// ranks copy. What the budget holds is counted in pages of as many tokens as stated.
func TestCapacityAtParallelWidths(t *testing.T) {
	keep.Rule(t, "SIM-12")
	for _, c := range []struct{ tp, nodes, page, heads int }{{1, 1, 1, 8}, {2, 1, 1, 4}, {8, 1, 16, 1}, {16, 2, 64, 1}} {
		s := engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Nodes: c.nodes, Args: map[string]any{"tensor-parallel-size": c.tp, "page-size": c.page}}
		e, err := newKind(t).New(s, newWorld(t))
		if err != nil {
			t.Fatal(err)
		}
		token := float64(32 * 2 * c.heads * 128 * 2)
		if got, want := e.Stats().KVBlocks, int(float64(e.Plan().KVBudget[0])/token)/c.page; got != want {
			t.Errorf("%+v: got %d pages, want %d", c, got, want)
		}
	}
}
