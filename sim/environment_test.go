package sim

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Instances share a pricer exactly when their plans are equal.
func TestEqualPlansShareAPricer(t *testing.T) {
	w := embeddedWorld(t)
	k, e := w.Kinds[0], w.Environment
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

// What crosses nodes runs at the rate of the fabric a scenario states, and at the chip's own when it
// states none. Of 4,096 tokens of 4,096 values of 2 bytes, a rank of 16 sends 15/16 twice, in each of
// 65 all-reduces: two a layer of 32, and the embedding's.
func TestWhatCrossesNodesRunsAtTheFabricsRate(t *testing.T) {
	w := embeddedWorld(t)
	const send = 65 * 2 * 15. / 16 * 4096 * 4096 * 2 // bytes
	for fabric, rate := range map[string]float64{"connectx8-2x400g": 100e9, "connectx7-400g": 50e9, "": 50e9} {
		_, p, err := w.Kinds[0].Explain(engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Nodes: 2, Fabric: fabric, Args: map[string]any{"tensor-parallel-size": 16}}, w.Environment)
		if err != nil {
			t.Fatal(err)
		}
		pricer, err := w.Environment.Pricer(p)
		if err != nil {
			t.Fatal(err)
		}
		ideal := 0.0
		for _, part := range pricer.(*cost.Pricer).Explain(&plan.StepShape{
			Mode:   plan.ExtendOnly,
			Ranks:  []plan.RankStep{{Sampled: 1, Extend: []plan.Chunk{{Query: 4096}}}},
			Padded: []plan.PaddedShape{{Tokens: 4096, Launch: plan.Eager}},
		}) {
			if part.Primitive == plan.AllReduce {
				ideal += float64(part.Ideal)
			}
		}
		if want := send / rate; math.Abs(ideal/want-1) > 1e-12 {
			t.Errorf("%q: all-reduces take %v s at the datasheet's rate, want %v", fabric, ideal, want)
		}
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

// What is accepted of a drafter is the workload's to say: stated as chances, or taken
// from a measured profile, and the Result names which supplied it (D8).
func TestAcceptanceIsOfTheWorkload(t *testing.T) {
	keep.Rule(t, "D8")
	const text = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 8, speculative-config: {method: mtp, num_speculative_tokens: 2}}}
model: MODEL
hardware: h200_sxm
workload:
  acceptance: {STATED}
  clients: [{name: a, requests: 1, arrivals: {constant: {rate: 5}}, prompt: {fixed: 100}, output: {fixed: 60}}]
`
	const qwen, deepseek = "qwen3.5-397b-a17b", "deepseek-r1"
	steps := map[string]int64{}
	for _, c := range []struct{ model, stated, step, want string }{
		{deepseek, "per_position: [0, 0]", "stated", ""},
		{deepseek, "per_position: [0.9, 0.8]", "stated", ""},
		{deepseek, "per_position: [0.9]", "", "s.yaml:6:16: workload.acceptance.per_position: [0.9]: states the chances of 1 drafts, and 2 are made a step"},
		{deepseek, "profile: coding/thinking_on", "", "s.yaml:6:16: workload.acceptance.profile: deepseek-r1, drafter mtp, workload coding/thinking_on, 2 drafts: no measured profile"},
		{qwen, "profile: coding/thinking_on", "exact", ""},
		{qwen, "profile: chat", "", "no measured profile on any borrowing step"},
		{deepseek, "", "", "s.yaml:6:3: workload.acceptance: states no kind"},
	} {
		s, err := spec.Parse("s.yaml", []byte(strings.NewReplacer("MODEL", c.model, "STATED", c.stated).Replace(text)))
		var r *spec.Result
		if err == nil {
			r, err = Run(s, embeddedWorld(t))
			err = diag.In("s.yaml", err)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.stated, err, c.want)
		}
		if err != nil {
			continue
		}
		if u := r.Inputs.Acceptance; len(u) != 1 || u[0].Step != c.step || u[0].Workload != s.Workload.Acceptance.Profile || u[0].Drafts != 2 {
			t.Errorf("%s: the Result names %+v, want one use by step %s", c.stated, u, c.step)
		}
		steps[c.stated] = r.Engines[0].Steps
	}
	if none, most := steps["per_position: [0, 0]"], steps["per_position: [0.9, 0.8]"]; 2*most > none {
		t.Errorf("drafts that are mostly accepted take %d steps, those that never are %d", most, none)
	}
}

// A drafter without a word on what is accepted is refused with what could be said; an
// engine that drafts nothing needs none.
func TestADrafterNeedsAnAcceptance(t *testing.T) {
	keep.Rule(t, "D8", "SIM-2")
	const text = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 8ARGS}}
model: deepseek-r1
hardware: h200_sxm
workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}]}
`
	for args, want := range map[string]string{", speculative-config: {method: mtp, num_speculative_tokens: 2}": "workload.acceptance: is not stated, and deepseek-r1 drafts 2 tokens a step with mtp", "": ""} {
		s, err := spec.Parse("s.yaml", []byte(strings.Replace(text, "ARGS", args, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Run(s, embeddedWorld(t)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
}

// Which drafts are accepted is random input: another seed accepts others, a replay the
// same. An acceptance that no engine reads is said to have no effect.
func TestDraftsAreAcceptedByTheSeed(t *testing.T) {
	keep.Rule(t, "DEV-6", "DEV-11", "SIM-11")
	const text = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 8DRAFTS}}
model: deepseek-r1
hardware: h200_sxm
workload:
  acceptance: {per_position: [0.5, 0.5]}
  clients: [{name: a, requests: 5, arrivals: {constant: {rate: 3}}, prompt: {fixed: 100}, output: {fixed: 60}}]
frame: {seed: SEED}
`
	seeded := func(drafts, seed string) *spec.Scenario {
		s, err := spec.Parse("s.yaml", []byte(strings.NewReplacer("DRAFTS", drafts, "SEED", seed).Replace(text)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	of := func(s *spec.Scenario, w World) (*spec.Result, float64) {
		r, err := Run(s, w)
		if err != nil {
			t.Fatal(err)
		}
		return r, value(t, r, "e2e_mean", "cluster")
	}
	const two = ", speculative-config: {method: mtp, num_speculative_tokens: 2}"
	w := embeddedWorld(t)
	var trace bytes.Buffer
	w.Export = &trace
	r, first := of(seeded(two, "1"), w)
	if _, second := of(seeded(two, "2"), embeddedWorld(t)); first == second || r.Random != "the acceptance of drafts, from substreams of the frame's seed" {
		t.Errorf("seeds 1 and 2 give %v and %v s, and random input is %q", first, second, r.Random)
	}
	if !slices.ContainsFunc(r.Settings, func(s spec.Setting) bool {
		return s.Name == "workload.acceptance.per_position" && s.Value == "[0.5 0.5]" && strings.Contains(s.Why, "given that all before it were accepted") && strings.HasSuffix(s.Why, spec.FromShares)
	}) {
		t.Error("the settings do not say what a chance per position is of")
	}
	again, w := seeded(two, "1"), embeddedWorld(t)
	again.Workload.Clients, again.Workload.Trace = nil, &spec.Trace{Path: "t.jsonl"}
	w.Files = fstest.MapFS{"t.jsonl": {Data: trace.Bytes()}}
	if replayed, got := of(again, w); got != first || replayed.Random != r.Random {
		t.Errorf("the replay gives %v s by %q, want %v", got, replayed.Random, first)
	}
	r, _ = of(seeded("", "1"), embeddedWorld(t))
	said := slices.ContainsFunc(r.Settings, func(s spec.Setting) bool { return s.Name == "workload.acceptance" && s.Value == "no effect" })
	if !said || !strings.HasPrefix(r.Random, "none") {
		t.Errorf("without a drafter: random input is %q, settings say so: %v", r.Random, said)
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
	a, err := acceptance.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return World{Kinds: []engines.Kind{k}, Environment: NewEnvironment(c, cost.New(c, r), a)}
}
