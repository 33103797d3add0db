package sim

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
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

// A refusal of what only the catalog or a port knows names the scenario's field and line.
func TestRefusalsNameTheScenariosField(t *testing.T) {
	const text = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 16}}
model: llama-3.1-8b
hardware: h100_sxm
cluster: {nodes: 2, fabric: connectx7-400g}
workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}]}
`
	w := embeddedWorld(t)
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"model: llama-3.1-8b", "model: nope", "s.yaml:3:1: model: nope: is not in the catalog"},
		{"h100_sxm", "nope", "s.yaml:4:1: hardware: nope: is not in the catalog"},
		{"connectx7-400g", "nope", "s.yaml:5:21: cluster.fabric: nope: is not in the catalog"},
		{"kind: vllm", "kind: nope", "s.yaml:2:10: engine.kind: nope: is not an engine"},
		{"main-2f41c894", "nope", "s.yaml:2:22: engine.version: nope: is not the vllm release"},
		{"args: {tensor-parallel-size: 16}", "args: {tensor-parallel-size: 16, max-num-seqs: 0}", "s.yaml:2:79: engine.args.max-num-seqs: 0: "},
		{"args: {tensor-parallel-size: 16}", "args: {tensor-parallel-size: 16, stream-interval: 0}", "s.yaml:2:79: engine.args.stream-interval: 0: "},
		{"args: {tensor-parallel-size: 16}", "args: {tensor-parallel-size: 16, block-size: 7}", "s.yaml:2:79: engine.args.block-size: 7: "},
	} {
		s, err := spec.Parse("s.yaml", []byte(strings.Replace(text, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(s, w)
		err = diag.In("s.yaml", err)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// embeddedWorld is the data of this build and vLLM.
func embeddedWorld(t *testing.T) World {
	t.Helper()
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
	return World{Kinds: []engines.Kind{k}, Environment: NewEnvironment(c, cost.New(c, r), nil)}
}
