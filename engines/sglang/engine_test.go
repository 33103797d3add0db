package sglang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/enginetest"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// asIs pads nothing.
type asIs struct{}

func (asIs) Decode(seqs int) plan.PaddedShape { return plan.PaddedShape{Tokens: seqs, Seqs: seqs} }
func (asIs) Extend(tokens, seqs int) plan.PaddedShape {
	return plan.PaddedShape{Tokens: tokens, Seqs: seqs}
}

// assemble maps the suite's setup to SGLang's names. SGLang keeps a page and two
// tokens back from every request (init_req_max_new_tokens), so a pool that a request
// of MaxLength fills exactly has two pages more, and a context two tokens longer than
// what fits.
func assemble(s enginetest.Setup) (engines.Engine, error) {
	p, err := parts(s)
	if err != nil {
		return nil, err
	}
	return Assemble(p), nil
}

func parts(s enginetest.Setup) (Parts, error) {
	switch {
	case s.Drafts > 0:
		return Parts{}, errors.New("speculative-algorithm is not modelled")
	case s.Pipeline > 1:
		return Parts{}, errors.New("pipeline-parallel-size is not modelled")
	case s.Shape == "all-recurrent" || s.Shape == "recurrent-and-full":
		if s.Caching {
			return Parts{}, errors.New("MambaRadixCache is not modelled")
		}
	case s.Shape != "full" && s.Shape != "one-layer":
		return Parts{}, errors.New("the model needs an allocator that is not modelled: " + s.Shape)
	}
	tokens := s.Blocks * s.BlockTokens
	c := sched.Config{
		TotalTokens: tokens + 2*s.BlockTokens + 2, MaxRunning: s.MaxSeqs, ContextLen: min(s.MaxLength, tokens) + 2, ChunkSize: s.StepTokens,
		MaxPrefill: 16384, PageSize: s.BlockTokens, Policy: sched.FCFS, Conservative: 1, Overlap: s.Async, Tuning: sched.Untuned(),
		Priorities: s.Priority, LowFirst: true, PreemptThreshold: 10, DecodeLogInterval: 40,
	}
	p := &plan.PoolPlan{KV: []plan.KVGroup{{Kind: "full", PageTokens: s.BlockTokens}}, InFlight: 1}
	if s.Async {
		p.InFlight = 2
	}
	return Parts{Sched: c, Eviction: kv.LRU, NoTree: !s.Caching, Plan: p, Attends: []int{0}, Padding: asIs{}, Pricer: flat{}}, nil
}

func TestEngineConforms(t *testing.T) {
	keep.Rule(t, "SIM-7", "SIM-8", "SUB-10", "T-K1", "T-N1")
	enginetest.Run(t, assemble, 200)
}

// A closed batch of n requests of the given lengths, all submitted at once.
func submit(e engines.Engine, n, prompt, output int) []engines.Request {
	reqs := make([]engines.Request, n)
	for i := range reqs {
		reqs[i] = engines.Request{
			ID: engines.RequestID(i + 1), Prompt: []engines.Segment{{Stream: uint64(i), Count: prompt}},
			Output: engines.Segment{Stream: uint64(i) + 1<<32}, MaxTokens: output, IgnoreEOS: true,
		}
		e.Submit(&reqs[i])
	}
	return reqs
}

// steady is an engine in which seqs requests decode for thousands of steps.
func steady(t testing.TB, seqs, page int, overlap, stepwise bool) engines.Engine {
	t.Helper()
	p, err := parts(enginetest.Setup{
		Blocks: seqs * 9000 / page, BlockTokens: page, MaxSeqs: seqs, StepTokens: 16384, MaxLength: 1 << 20, Async: overlap, Pipeline: 1, Shape: "full",
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Sched.Stepwise = stepwise
	e := Assemble(p)
	submit(e, seqs, 128, 8000)
	var out engines.Outcome
	for range 64 {
		step(e, &out)
	}
	if out.Steady != seqs {
		t.Fatalf("got %d steady requests, want all %d", out.Steady, seqs)
	}
	return e
}

func step(e engines.Engine, out *engines.Outcome) {
	for e.Poll().Do == engines.Launch {
	}
	e.Complete(out)
}

func TestSteadyDecodeAllocatesNothing(t *testing.T) {
	for _, overlap := range []bool{false, true} {
		e := steady(t, 64, 16, overlap, false)
		var out engines.Outcome
		step(e, &out)
		if got := testing.AllocsPerRun(200, func() { step(e, &out) }); got != 0 {
			t.Errorf("overlap %v: got %v allocations a step, want 0", overlap, got)
		}
	}
}

// BenchmarkDecodeStep is one step in which every request takes and emits one token.
func BenchmarkDecodeStep(b *testing.B) {
	for _, seqs := range []int{1, 64, 512} {
		for _, mode := range []string{"steady", "stepwise"} {
			b.Run(fmt.Sprintf("batch=%d/%s", seqs, mode), func(b *testing.B) {
				var e engines.Engine
				var out engines.Outcome
				left := 0
				b.ReportAllocs()
				for b.Loop() {
					if left--; left < 0 {
						b.StopTimer()
						e, left = steady(b, seqs, 16, true, mode == "stepwise"), 7000
						b.StartTimer()
					}
					step(e, &out)
				}
			})
		}
	}
}

func BenchmarkClosedLoop(b *testing.B) {
	for b.Loop() {
		e, err := assemble(enginetest.Setup{Blocks: 60000, BlockTokens: 1, MaxSeqs: 64, StepTokens: 16384, MaxLength: 1 << 16, Async: true, Pipeline: 1, Shape: "full"})
		if err != nil {
			b.Fatal(err)
		}
		submit(e, 256, 1024, 256)
		var out engines.Outcome
		for e.Stats().Waiting+e.Stats().Running > 0 || out.Scheduled == 0 {
			step(e, &out)
		}
	}
}

// With scheduler_recv_interval a request that arrives among decodes waits until that
// many have passed.
func TestRecvInterval(t *testing.T) {
	for _, interval := range []int{1, 30} {
		p := Parts{
			Sched:  sched.Config{TotalTokens: 10000, MaxRunning: 8, ContextLen: 4096, ChunkSize: 512, MaxPrefill: 16384, PageSize: 1, Policy: sched.FCFS, Conservative: 1, Tuning: sched.Untuned()},
			NoTree: true, Plan: &plan.PoolPlan{KV: []plan.KVGroup{{Kind: "full"}}}, Attends: []int{0}, Padding: asIs{}, Pricer: flat{}, RecvInterval: interval,
		}
		e := Assemble(p)
		first := submit(e, 1, 10, 500)
		var out engines.Outcome
		for range 5 {
			step(e, &out)
		}
		late := engines.Request{ID: 99, Prompt: []engines.Segment{{Stream: 99, Count: 10}}, MaxTokens: 3, IgnoreEOS: true}
		e.Submit(&late)
		steps := 0
		for late.Token.Computed == 0 {
			step(e, &out)
			steps++
		}
		if lo, hi := (interval-1)*2/3, interval; steps < max(1, lo) || steps > hi {
			t.Errorf("interval %d: admitted after %d steps, want %d to %d", interval, steps, lo, hi)
		}
		_ = first
	}
}

// The tokenizer process rejects what the context cannot hold; one token less is taken.
func TestRejections(t *testing.T) {
	keep.Rule(t, "SIM-9")
	e := Assemble(Parts{
		Sched:  sched.Config{TotalTokens: 1000, MaxRunning: 8, ContextLen: 100, ChunkSize: 512, MaxPrefill: 16384, PageSize: 1, Policy: sched.FCFS, Conservative: 1, Tuning: sched.Untuned()},
		NoTree: true, Plan: &plan.PoolPlan{KV: []plan.KVGroup{{Kind: "full"}}}, Attends: []int{0}, Padding: asIs{}, Pricer: flat{},
	})
	for i, c := range []struct {
		prompt, output int
		want           string
	}{
		{0, 5, "The input is empty."}, {100, 0, "longer than the model's context length"}, {90, 10, "Requested token count exceeds"}, {90, 9, ""}, {99, 0, ""},
	} {
		r := &engines.Request{ID: engines.RequestID(i + 1), Prompt: []engines.Segment{{Stream: 1, Count: c.prompt}}, MaxTokens: c.output}
		got := ""
		if no := e.Submit(r); no != nil {
			got = no.Reason
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d tokens and %d to come: got %q, want %q", c.prompt, c.output, got, c.want)
		}
	}
}
