package sim

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Instances share a pricer exactly when their plans are equal.
func TestEqualPlansShareAPricer(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	k, err := vllm.New()
	if err != nil {
		t.Fatal(err)
	}
	e := NewEnvironment(c, cost.New(c, r), nil)
	var pricers []engines.Pricer
	for _, seqs := range []int{128, 128, 64} {
		_, p, err := k.Explain(engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Nodes: 1, Args: map[string]any{"max-num-seqs": seqs}}, e)
		if err != nil {
			t.Fatal(err)
		}
		pricer, err := e.Pricer(p)
		if err != nil {
			t.Fatal(err)
		}
		pricers = append(pricers, pricer)
	}
	if pricers[0] != pricers[1] || pricers[0] == pricers[2] {
		t.Errorf("equal plans share: got %v, want true; unequal ones: got %v, want false", pricers[0] == pricers[1], pricers[0] == pricers[2])
	}
}
