package vllm

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// By hand, of Llama 3.1 8B in BF16: 32 layers; 8 KV heads of 128, which more than eight
// ranks copy; matrices of 4096, 14336 and a vocabulary of 128256, divided among the
// ranks; norms, kept whole. Of gpt-oss-120b: 8 KV heads of 64 in two groups of 18 layers,
// whole on every data-parallel rank that has no tensor-parallel peer.
func TestCapacityAtParallelWidths(t *testing.T) {
	keep.Rule(t, "SIM-12", "SUB-14")
	llama := engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm"}
	llamaWeights := func(tp int) float64 {
		layer := 4096*(4096+2*1024) + 4096*4096 + 3*4096*14336
		return 2 * (float64(2*128256*4096+32*layer)/float64(tp) + float64(65*4096))
	}
	page := func(layers, heads, width int) float64 { return float64(16 * layers * 2 * heads * width * 2) }
	for _, c := range []struct {
		spec    engines.Spec
		args    map[string]any
		nodes   int
		weights float64 // 0 leaves them to the plan
		page    float64 // bytes of a block on a rank
		ranks   int     // schedulers with a pool each
	}{
		{llama, nil, 1, llamaWeights(1), page(32, 8, 128), 1},
		{llama, map[string]any{"tensor-parallel-size": 2}, 1, llamaWeights(2), page(32, 4, 128), 1},
		{llama, map[string]any{"tensor-parallel-size": 8}, 1, llamaWeights(8), page(32, 1, 128), 1},
		{llama, map[string]any{"tensor-parallel-size": 16}, 2, 0, page(32, 1, 128), 1},
		{gptoss, nil, 1, 0, page(18, 8, 64), 1},
		{gptoss, map[string]any{"tensor-parallel-size": 4}, 1, 0, page(18, 2, 64), 1},
		{gptoss, map[string]any{"data-parallel-size": 2}, 1, 0, page(18, 8, 64), 2},
		{gptoss, map[string]any{"tensor-parallel-size": 2, "data-parallel-size": 4}, 1, 0, page(18, 4, 64), 4},
	} {
		s := with(c.spec, c.args)
		s.Nodes = c.nodes
		e, err := newKind(t).New(s, newWorld(t))
		if err != nil {
			t.Fatal(err)
		}
		chip, _ := newWorld(t).Chip(s.Hardware)
		weights := 0.0
		for _, w := range e.Plan().Weights {
			weights += float64(w.Bytes)
		}
		if c.weights > 0 && math.Abs(weights/c.weights-1) > 1e-9 {
			t.Errorf("%v: got weights of %v a rank, want %v", c.args, quantity.Bytes(weights), quantity.Bytes(c.weights))
		}
		free := math.Trunc(float64(chip.MemoryBytes())*0.92) - weights - 4*(1<<30) // the world's fixed terms
		want := c.ranks * (int(free/c.page) - 1)
		if got := e.Stats().KVBlocks; got != want {
			t.Errorf("%v: got %d usable blocks of %d ranks, want %d", c.args, got, c.ranks, want)
		}
		if got := e.Plan().KV[0].BytesPerPage; float64(got) != c.page {
			t.Errorf("%v: got pages of %v, want %v", c.args, got, quantity.Bytes(c.page))
		}
	}
}
