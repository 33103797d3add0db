package sglang

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// world answers from the embedded catalog and sizes memory by simple fixed terms.
type world struct{ catalog *catalog.Catalog }

func newWorld(t testing.TB) world {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return world{c}
}

func (w world) Model(name string) (*catalog.Model, error)                       { return w.catalog.Model(name) }
func (w world) Chip(name string) (*catalog.Chip, error)                         { return w.catalog.Chip(name) }
func (w world) Pricer(*plan.PoolPlan) (engines.Pricer, error)                   { return flat{}, nil }
func (w world) Transfer(*plan.PoolPlan, plan.Move) (d plan.Demand, err error)   { return d, nil }
func (w world) Acceptance(_, _ string, _ int) (a engines.Acceptance, err error) { return a, nil }

func (w world) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) {
	chip, err := w.catalog.Chip(p.Hardware)
	if err != nil {
		return plan.MemoryBreakdown{}, err
	}
	s := plan.StageMemory{Device: chip.MemoryBytes(), Context: 1 << 30}
	for _, t := range p.Weights {
		s.Weights += t.Bytes
	}
	return plan.MemoryBreakdown{Stages: []plan.StageMemory{s}}, nil
}

type flat struct{}

func (flat) Price(*plan.StepShape) plan.StepEstimate { return plan.StepEstimate{Total: 0.01} }

func newKind(t testing.TB) *Kind {
	t.Helper()
	k, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// launch is one distinct recorded launch.
type launch struct {
	Model, Checkpoint, Chip, Spec string
	Args                          map[string]any
	Env                           map[string]string
}

func launches(t testing.TB) []launch {
	t.Helper()
	f, err := os.Open("testdata/launches.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []launch
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var l launch
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// stated applies the list's estimation rules, as a measured run's scenario does.
func (l launch) stated(k *Kind) engines.Spec {
	s := engines.Spec{Model: l.Model, Checkpoint: l.Checkpoint, Hardware: l.Chip, Args: map[string]any{}, Env: map[string]string{}}
	put := func(name string, v any, variable bool) {
		if f := k.fields.Covering(name, variable); f != nil && f.Rule != nil {
			if f.Rule.Do == "set" {
				s.Args[f.Rule.Field] = f.Rule.Value
			}
			return
		}
		if variable {
			s.Env[name] = fmt.Sprint(v)
		} else {
			s.Args[name] = v
		}
	}
	for name, v := range l.Args { // order: maps are filled
		put(name, v, false)
	}
	for name, v := range l.Env { // order: maps are filled
		put(name, v, true)
	}
	return s
}

func TestEveryRecordedLaunchResolves(t *testing.T) {
	keep.Rule(t, "SGL-3")
	k, w := newKind(t), newWorld(t)
	for i, l := range launches(t) {
		settings, p, err := k.Explain(l.stated(k), w)
		if l.Spec == "mtp" {
			if err == nil || !strings.Contains(err.Error(), "speculative-") {
				t.Errorf("launch %d is speculative: got %v, want a refusal by name", i+1, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("launch %d (%s on %s): %v", i+1, l.Checkpoint, l.Chip, err)
			continue
		}
		if len(settings) == 0 || len(p.Layers) == 0 || p.KVBudget[0] <= 0 {
			t.Errorf("launch %d: empty plan", i+1)
		}
		for _, x := range p.Layers {
			if x.Kernel.Variant == "" || x.Kernel.Library == "" || x.Repeat < 1 {
				t.Errorf("launch %d: %s is incomplete: %+v", i+1, x.Name, x)
			}
		}
	}
}

// Recorded launches classify completely, but for the speculative ones (X9).
func TestEveryRecordedSettingIsListed(t *testing.T) {
	keep.Rule(t, "SGL-3")
	k := newKind(t)
	for i, l := range launches(t) {
		if missing := k.fields.Unclassified(l.Args, l.Env); (len(missing) > 0) != (l.Spec == "mtp") {
			t.Errorf("launch %d (speculation %s): %v have no row that takes them", i+1, l.Spec, missing)
		}
	}
}

func TestAnArgumentStatedTwiceIsRefused(t *testing.T) {
	k, w := newKind(t), newWorld(t)
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"max-running-requests": 1}, ""},
		{map[string]any{"max-running-requests": 1, "max_running_requests": 8}, "engine.args.max_running_requests: 8: --max-running-requests is given twice"},
		{map[string]any{"tensor-parallel-size": 1, "tp-size": 2}, "engine.args.tp-size: 2: --tensor-parallel-size is given twice"},
	} {
		_, _, err := k.Explain(engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Args: c.args}, w)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
	}
}

func TestGateRefusesByName(t *testing.T) {
	keep.Rule(t, "SGL-3", "SGL-6", "SIM-9", "T-B1")
	k, w := newKind(t), newWorld(t)
	spec := func(name string, v any) engines.Spec {
		return engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Args: map[string]any{name: v}}
	}
	for _, c := range []struct {
		name      string
		bad, good any
		want      string
	}{
		{"tensor-paralel-size", 2, nil, "unrecognized arguments: --tensor-paralel-size"},
		{"tp-size", 3, 2, "engine.args.tensor-parallel-size: 3: 32 attention heads do not divide"},
		{"tp_size", 3, 2, "engine.args.tensor-parallel-size: 3: 32 attention heads do not divide"},
		{"chunked-prefill-size", 1<<24 + 1, 1 << 15, "is too large"},
		{"random-seed", 1 << 32, 1<<32 - 1, "is too large"},
		{"enable-dp-attention", true, false, "is not modelled"},
		{"speculative-algorithm", "EAGLE", "None", "speculative decoding is not modelled"},
		{"speculative-algorithm", "NEXTN", "None", "speculative decoding is not modelled"},
		{"pipeline-parallel-size", 2, 1, "is outside the values modelled here"},
		{"enable-hierarchical-cache", true, false, "is not modelled"},
		{"disaggregation-mode", "prefill", "null", "is not modelled"},
		{"enable-ep-moe", true, nil, "is not a setting of main-0bda0b16"},
		{"schedule-policy", "sjf", "lpm", "is outside the values modelled here"},
		{"data-parallel-size", 2, 1, "is outside the values modelled here"},
		{"page-size", "big", 16, "invalid int value"},
		{"tensor-parallel-size", 3, 2, "do not divide among the ranks"},
		{"context-length", 1 << 20, 4096, "is greater than the derived context_length"},
		{"mem-fraction-static", 0.05, 0.8, "Not enough memory"},
		{"attention-backend", "trtllm_mha", "triton", "only supported on Blackwell"},
		{"max-total-tokens", 1, 4, "max_running_requests is zero"},
	} {
		if _, _, err := k.Explain(spec(c.name, c.bad), w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: got %v, want an error with %q", c.name, c.bad, err, c.want)
		}
		if c.good == nil {
			continue
		}
		if _, _, err := k.Explain(spec(c.name, c.good), w); err != nil {
			t.Errorf("%s %v: %v", c.name, c.good, err)
		}
	}
	for _, c := range []struct {
		what      string
		bad, good engines.Spec
		want      string
	}{
		{"a checkpoint", engines.Spec{Model: "llama-3.1-8b", Checkpoint: "none", Hardware: "h100_sxm"}, engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm"}, "checkpoint: none: is no checkpoint of llama-3.1-8b"},
		{"a variable", engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Env: map[string]string{"SGLANG_NO_SUCH": "1"}},
			engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Env: map[string]string{"SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION": "1"}}, "engine.env.SGLANG_NO_SUCH: 1: SGLang reads no such variable"},
		{"a variable's value", engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Env: map[string]string{"SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION": "many"}},
			engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Env: map[string]string{"SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION": "4096"}}, "engine.env.SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION: many: invalid value"},
	} {
		if _, err := k.New(c.bad, w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.what, err, c.want)
		}
		if _, err := k.New(c.good, w); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// Whatever the list calls not modelled is refused with its name, and taken at its
// default.
func TestUnmodelledSettings(t *testing.T) {
	k := newKind(t)
	for _, f := range k.fields.Fields {
		if f.Status != fields.NotModelled {
			continue
		}
		stated := func(v string) engines.Spec {
			if k.fields.Covering(f.Name, true) != nil {
				return engines.Spec{Env: map[string]string{f.Name: v}}
			}
			return engines.Spec{Args: map[string]any{f.Name: v}}
		}
		if err := k.admit(stated("7")); err == nil || !strings.Contains(err.Error(), f.Name) || !strings.Contains(err.Error(), "is not modelled") {
			t.Errorf("%s: got %v, want a refusal that names it", f.Name, err)
		}
		if err := k.admit(stated(f.Default)); f.Default != "" && err != nil {
			t.Errorf("%s at its default %s: %v", f.Name, f.Default, err)
		}
	}
}

// The sizes of a launch whose every term can be written down: Llama 3.1 8B in bf16 on
// one H100 with a share of 0.8.
func TestBudget(t *testing.T) {
	k, w := newKind(t), newWorld(t)
	s, err := k.prepare(engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Args: map[string]any{"mem-fraction-static": 0.8, "page-size": 16}}, w)
	if err != nil {
		t.Fatal(err)
	}
	const token = 32 * 8 * (128 + 128) * 2
	if got := float64(s.lowered.TokenBytes); got != token {
		t.Errorf("bytes of a token: got %v, want %d", got, token)
	}
	weights := float64(s.budget.memory.Weights)
	free := float64(int64(79<<30))*0.8 - weights
	if got, want := s.budget.tokens, int(free/token)/16*16; got != want {
		t.Errorf("tokens: got %d, want %d", got, want)
	}
	if got := weights / 1e9; got < 16.05 || got > 16.08 {
		t.Errorf("weights: got %.3f GB, want 16.06", got)
	}
	if got := s.budget.maxRunning; got != 2048 {
		t.Errorf("running requests: got %d, want the least default, 2048", got)
	}
}

func TestFieldListIsComplete(t *testing.T) {
	keep.Rule(t, "SGL-3", "SGL-4")
	k := newKind(t)
	for _, f := range k.fields.Fields {
		if f.Status == fields.Removed && f.Rule == nil {
			t.Errorf("%s: is removed without a rule", f.Name)
		}
	}
	if _, err := k.Surface(); err != nil {
		t.Error(err)
	}
}

// A removed setting's stand-in is exact where the kernels stay the same: the later name of a
// backend keeps them, experts that are no longer spread do not.
func TestStandInsOfExpertSettings(t *testing.T) {
	list := newKind(t).Fields()
	for name, exact := range map[string]bool{"enable-flashinfer-trtllm-moe": true, "enable-ep-moe": false} {
		f, ok := list.Lookup(name)
		if !ok || f.Rule == nil || (f.Rule.Preserves != "") != exact {
			t.Errorf("%s: got %+v, want exact %t", name, f, exact)
		}
	}
}
