package main

import (
	"math"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// A moved coefficient prices by the factor what it priced before, and nothing else moves.
func TestMovedCoefficientsPriceByTheirFactor(t *testing.T) {
	w, err := world.Open(world.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	before := partsOf(t, w)
	for _, k := range []registry.Key{
		{Primitive: plan.GEMM, Kernel: "vllm/torch.nn.functional.linear", Format: "bf16", Chip: "h100_sxm"},
		{Primitive: plan.AttentionDecode, Kernel: "vllm/vllm_flash_attn_fa3", Format: "bf16", Chip: "h100_sxm"},
		{Primitive: registry.HostStep, Chip: "h100_sxm", Boundary: registry.Host},
	} {
		e, err := w.Registry.Lookup(k)
		if err != nil {
			t.Fatal(err)
		}
		other := *w
		if other.Registry, err = w.Registry.With(moved(e, 1.25)); err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, p := range partsOf(t, &other) {
			want := 1.0
			if p.Entries[0] == e.Entry.Key.String() {
				want, n = 1.25, n+1
			}
			if got := float64(p.Seconds / before[i].Seconds); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, part %s: moved by %v, want %v", e.Entry.Key, p.Name, got, want)
			}
		}
		if n == 0 {
			t.Errorf("%s prices no part", e.Entry.Key)
		}
	}
}

// partsOf takes one decode step of a small model apart.
func partsOf(t *testing.T, w *world.World) []plan.Part {
	t.Helper()
	p, pricer, err := w.Compile("vllm", engines.Spec{Model: "llama-3.1-8b", Hardware: "h100_sxm", Nodes: 1, Args: map[string]any{"tensor-parallel-size": 1}})
	if err != nil {
		t.Fatal(err)
	}
	q := priceQuery{decode: []string{"32x1024"}}
	batch, err := q.batch(p, 1<<17)
	if err != nil {
		t.Fatal(err)
	}
	var out []plan.Part
	for _, part := range pricer.Explain(world.Step(p, batch, 0)) {
		if part.Seconds > 0 {
			out = append(out, part)
		}
	}
	return out
}

// A report says whether its winners stay when prices move, unless it is not asked.
func TestSearchMovesPrices(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": seats})
	s := searched(t, dir, "--sensitivity", "2").Sensitivity
	if s == nil || len(s.Coefficients) != 2 || !s.Holds || s.Unstated <= 0 || s.Unstated >= 1 {
		t.Fatalf("got %+v", s)
	}
	for _, c := range s.Coefficients {
		if len(c.Ends) != 2 || !(c.Ends[0].Factor < 1 && c.Ends[1].Factor > 1) || !(c.Share > 0 && c.Share < 1) || len(c.Ends[0].Winners) == 0 {
			t.Errorf("got %+v, want both ends of its interval", c)
		}
	}
	_, out, complaint := blisIn(t, dir, "search", "seats.yaml", "--sensitivity", "9")
	if !strings.Contains(out, "hold the mean over shapes only") || !strings.Contains(out, "error of a single shape: p95 ") {
		t.Errorf("got %s%s, want what the intervals leave out", out, complaint)
	}
	if r := searched(t, dir, "--sensitivity", "0"); r.Sensitivity != nil {
		t.Errorf("not asked for: got %+v", r.Sensitivity)
	}
}
