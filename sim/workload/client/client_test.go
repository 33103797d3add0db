package client

import (
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// Token totals of recorded runs. ISL 8000: total_input_tokens and
// total_output_tokens of GloriaXimingLu/inferencex-profiling@237385bf
// nebius/results_baseline, one file a concurrency. The rest: input_tput/output_tput
// of the InferenceX rows of 2026-06 equals input/output to 1e-9.
func TestDrawGivesTheTotalsOfRecordedRuns(t *testing.T) {
	keep.Rule(t, "COV-12")
	cases := []struct{ isl, osl, prompts, input, output int }{
		{8000, 1000, 10, 72443, 9113},
		{8000, 1000, 20, 144149, 18276},
		{8000, 1000, 40, 287595, 35872},
		{8000, 1000, 80, 571853, 72137},
		{8000, 1000, 160, 1146581, 143290},
		{8000, 1000, 320, 2298526, 289218},
		{8000, 1000, 640, 4621482, 576560},
		{8000, 1000, 1280, 9226329, 1149508},
		{8000, 1000, 2560, 18424797, 2306977},
		{1024, 1024, 640, 590227, 589961},
		{1024, 1024, 5120, 4717859, 4722209},
		{1024, 8192, 640, 590227, 4727146},
		{8192, 1024, 640, 4727544, 589927},
	}
	for _, c := range cases {
		r := Draw(&spec.InferenceX{ISL: c.isl, OSL: c.osl, RangeRatio: 0.8, Prompts: c.prompts})
		if in, out := total(r.Input), total(r.Output); in != c.input || out != c.output {
			t.Errorf("%d/%d x %d: got %d and %d tokens, want %d and %d", c.isl, c.osl, c.prompts, in, out, c.input, c.output)
		}
	}
}

func TestFirstLengths(t *testing.T) {
	keep.Rule(t, "COV-12")
	r := Draw(&spec.InferenceX{ISL: 8000, OSL: 1000, RangeRatio: 0.8, Prompts: 40})
	if want := []int32{7084, 6959, 7616, 7235, 7163}; !slices.Equal(r.Input[:5], want) {
		t.Errorf("input: got %v, want %v", r.Input[:5], want)
	}
	if want := []int32{985, 927, 832, 831, 951}; !slices.Equal(r.Output[:5], want) {
		t.Errorf("output: got %v, want %v", r.Output[:5], want)
	}
}

func TestTemplateIsTakenOffBeforeTheDrawAndAddedAfter(t *testing.T) {
	x := spec.InferenceX{ISL: 1024, OSL: 1024, RangeRatio: 1, Prompts: 3, Template: &spec.ChatTemplate{Subtract: 1, Add: 2}}
	if got := Draw(&x).Input[0]; got != 1025 {
		t.Errorf("got %d, want 1024-1+2", got)
	}
}

// The first outputs of MT19937 seeded with 5489 are published with the algorithm.
func TestGeneratorMatchesItsAuthors(t *testing.T) {
	keep.Rule(t, "COV-12")
	g := newMT19937(5489)
	for i, want := range []uint32{3499211612, 581869302, 3890346734, 3586334585} {
		if got := g.uint32(); got != want {
			t.Errorf("output %d: got %d, want %d", i, got, want)
		}
	}
}

func TestClosedLoopKeepsConcurrencyAndWarmsUpApart(t *testing.T) {
	keep.Rule(t, "COV-12")
	warmups := 4
	c := New(&spec.InferenceX{ISL: 100, OSL: 10, RangeRatio: 1, Prompts: 5, Concurrency: 2, Warmups: &warmups, VocabSize: 90})
	var r workload.Request
	var order []int64
	for c.Left() > 0 {
		sent := 0
		for c.Due() != workload.Never {
			c.Take(0, &r)
			sent++
			order = append(order, r.Index)
			if r.Warmup != (len(order) <= warmups) {
				t.Errorf("request %d: warm-up %v", len(order), r.Warmup)
			}
			if n := r.PromptTokens(); n != 100 {
				t.Errorf("prompt of %d tokens, want 100", n)
			}
		}
		if sent == 0 || sent > 2 {
			t.Fatalf("sent %d at once, want 1 or 2", sent)
		}
		for range sent {
			c.Ended(0, workload.End{})
		}
	}
	if want := []int64{0, 0, 0, 0, 0, 1, 2, 3, 4}; !slices.Equal(order, want) {
		t.Errorf("order: got %v, want %v", order, want)
	}
}

func TestListWaitsForTheLastWarmup(t *testing.T) {
	keep.Rule(t, "COV-12")
	warmups := 2
	c := New(&spec.InferenceX{ISL: 10, OSL: 1, RangeRatio: 1, Prompts: 5, Concurrency: 2, Warmups: &warmups})
	var r workload.Request
	c.Take(0, &r)
	c.Take(0, &r)
	c.Ended(3, workload.End{})
	if c.Due() != workload.Never {
		t.Error("the list began with a warm-up outstanding")
	}
	c.Ended(4, workload.End{})
	if c.Due() == workload.Never {
		t.Error("the list did not begin after the warm-up")
	}
}

func total(n []int32) int {
	sum := 0
	for _, v := range n {
		sum += int(v)
	}
	return sum
}
