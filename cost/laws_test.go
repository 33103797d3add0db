package cost_test

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestMonotoneInWork: more of any one thing never costs less (SUB-5).
func TestMonotoneInWork(t *testing.T) {
	keep.Rule(t, "SUB-5")
	pr := compile(t, model(t, "h200_sxm"), poolPlan())
	for name, step := range map[string]func(n int) plan.StepShape{
		"sequences":      func(n int) plan.StepShape { return decodeStep(n, 4096) },
		"decode context": func(n int) plan.StepShape { return decodeStep(16, 64*n) },
		"prompt tokens":  func(n int) plan.StepShape { return extendStep(32*n, 0) },
		"prefix":         func(n int) plan.StepShape { return extendStep(256, 64*n) },
		"captured prompt": func(n int) plan.StepShape {
			s := extendStep(8*n, 0)
			s.Padded[0].Launch = plan.PiecewiseGraph
			return s
		},
		"padding": func(n int) plan.StepShape { s := decodeStep(1, 64); s.Padded[0].Tokens = n; return s },
		"sampled": func(n int) plan.StepShape { s := decodeStep(1, 64); s.Ranks[0].Sampled = n; return s },
		"lockstep ranks": func(n int) plan.StepShape {
			s := decodeStep(4, 512)
			for range n {
				s.Ranks, s.Padded = append(s.Ranks, s.Ranks[0]), append(s.Padded, s.Padded[0])
			}
			return s
		},
		"chunks": func(n int) plan.StepShape {
			s := extendStep(256, 0)
			for range n {
				s.Ranks[0].Extend = append(s.Ranks[0].Extend, plan.Chunk{Query: 64, Context: 100})
			}
			s.Padded[0].Tokens += 64 * n
			return s
		},
	} {
		before := 0.0
		for n := 1; n <= 128; n++ {
			s := step(n)
			got := float64(pr.Price(&s).Total)
			if got < before || !(got > 0) || math.IsInf(got, 0) {
				t.Errorf("%s %d: got %v after %v, want no less, positive and finite", name, n, got, before)
			}
			before = got
		}
	}
}

// TestCollectiveNeverFasterWithMoreRanks: at equal bytes a rank (SUB-5).
func TestCollectiveNeverFasterWithMoreRanks(t *testing.T) {
	keep.Rule(t, "SUB-5")
	for _, p := range []plan.Primitive{plan.AllReduce, plan.AllGather, plan.ReduceScatter, plan.AllToAll} {
		before := 0.0
		for _, ranks := range []int{2, 4, 8, 16, 32} {
			pool := poolPlan()
			pool.Layers = []plan.LoweredLayer{{Repeat: 1, Primitive: p, Name: "c", Collective: &plan.Collective{Ranks: ranks, BytesPerRow: 5760}}}
			step := decodeStep(64, 1024)
			got := float64(compile(t, model(t, "h200_sxm"), pool).Price(&step).Device)
			if got < before {
				t.Errorf("%s over %d ranks: got %v, want at least %v", p, ranks, got, before)
			}
			before = got
		}
	}
}

// TestMemoryCloses: every byte a plan states or implies is in exactly one term,
// and what is left for KV is positive here (SUB-14).
func TestMemoryCloses(t *testing.T) {
	keep.Rule(t, "SUB-14")
	m := model(t, "h200_sxm")
	p := poolPlan()
	b, err := m.Memory(p)
	if err != nil {
		t.Fatal(err)
	}
	s := b.Stages[0]
	if s.Weights != 33e9 || s.Buffers != 1e8 || s.Context != 1.5e9 {
		t.Errorf("got %+v, want the plan's weights and buffers and the registry's context", s)
	}
	if got, want := float64(s.Graphs), 9.0*layers*3e5; got != want {
		t.Errorf("graphs: got %v, want %v", got, want)
	}
	logits := 16 * 201088.0
	if got := float64(s.Activations); got < logits || got > 4e9 {
		t.Errorf("activations: got %v, want between the logits' %v and 4e9", got, logits)
	}
	p.Profile = extendStep(16384, 0)
	more, err := m.Memory(p)
	if err != nil || more.Stages[0].Activations <= s.Activations {
		t.Errorf("a longer profiling step: got %v, %v, want more than %v", more.Stages[0].Activations, err, s.Activations)
	}
}

// TestUnusualShapes: no attention, attention alone, one layer, MLA alone, all
// recurrent, no layer at all: each has a finite price (SUB-10).
func TestUnusualShapes(t *testing.T) {
	keep.Rule(t, "SUB-10")
	mixer := func(p plan.Primitive, s plan.Shape) plan.LoweredLayer {
		return plan.LoweredLayer{Repeat: 1, Primitive: p, Name: "mixer", Shape: s}
	}
	mla := plan.Shape{Heads: 16, HeadDim: 192, RopeDim: 64, ValueDim: 128, LatentRank: 512}
	state := plan.Shape{Heads: 32, HeadDim: 128, ValueDim: 128}
	attn := plan.Shape{Heads: 32, KVHeads: 8, HeadDim: 128, Window: 128}
	for name, layers := range map[string][]plan.LoweredLayer{
		"nothing":   nil,
		"gemm":      {{Repeat: 1, Primitive: plan.GEMM, Name: "up", Shape: plan.Shape{N: 4096, K: 4096}}},
		"windowed":  {mixer(plan.AttentionExtend, attn), mixer(plan.AttentionDecode, attn)},
		"mla":       {mixer(plan.MLAExtend, mla), mixer(plan.MLADecode, mla)},
		"recurrent": {mixer(plan.RecurrentExtend, state), mixer(plan.RecurrentDecode, state)},
		"sparse":    {mixer(plan.SparseIndex, plan.Shape{Heads: 32, KVHeads: 1, HeadDim: 128})},
	} {
		p := &plan.PoolPlan{Hardware: "h200_sxm", Layers: layers, Profile: extendStep(128, 0)}
		m := model(t, "h200_sxm")
		pr := compile(t, m, p)
		for _, step := range []plan.StepShape{decodeStep(3, 100), extendStep(64, 32)} {
			if got := float64(pr.Price(&step).Total); !(got > 0) || math.IsInf(got, 0) {
				t.Errorf("%s: got %v, want positive and finite", name, got)
			}
		}
		if _, err := m.Memory(p); err != nil {
			t.Errorf("%s: memory: %v", name, err)
		}
	}
}

// TestCompileRefuses pairs the smallest plan refused with the closest accepted.
func TestCompileRefuses(t *testing.T) {
	keep.Rule(t, "SUB-10")
	good := plan.LoweredLayer{Repeat: 1, Primitive: plan.AllReduce, Name: "x", Collective: &plan.Collective{Ranks: 2, BytesPerRow: 2}}
	for name, bad := range map[string]func(l *plan.LoweredLayer){
		"unknown primitive":        func(l *plan.LoweredLayer) { l.Primitive = "fma" },
		"no group":                 func(l *plan.LoweredLayer) { l.Collective = nil },
		"group of one":             func(l *plan.LoweredLayer) { l.Collective.Ranks = 1 },
		"nothing to send":          func(l *plan.LoweredLayer) { l.Collective.BytesPerRow = 0 },
		"unknown number format":    func(l *plan.LoweredLayer) { l.Shape.Act = "fp12" },
		"product without a length": func(l *plan.LoweredLayer) { l.Primitive, l.Shape.N = plan.GEMM, 128 },
	} {
		p := &plan.PoolPlan{Hardware: "h200_sxm", Layers: []plan.LoweredLayer{good}}
		if _, err := model(t, "h200_sxm").Compile(p); err != nil {
			t.Fatalf("accepted plan: %v", err)
		}
		l := good
		c := *good.Collective
		l.Collective = &c
		bad(&l)
		p.Layers = []plan.LoweredLayer{l}
		if _, err := model(t, "h200_sxm").Compile(p); err == nil {
			t.Errorf("%s: accepted, want a refusal", name)
		}
	}
}
