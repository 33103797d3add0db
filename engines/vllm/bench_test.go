package vllm

import (
	"fmt"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

func benchEngine(b testing.TB, seqs, blocks int, caching, stepwise bool) *Engine {
	c := sched.Config{MaxNumSeqs: seqs, MaxNumBatchedTokens: 2048, MaxModelLen: 1 << 17, ChunkedPrefill: true, Async: true, ReserveFullISL: true,
		PipelineParallel: 1, BlockSize: 16, NumBlocks: blocks, PrefixCaching: caching, Stepwise: stepwise, UncheckedPool: true,
		Layers: []kv.Layer{{Count: 32, Spec: kv.GroupSpec{Kind: kv.Full, BlockSize: 16, PageBytes: 65536}}}}
	e, err := Assemble(Parts{Sched: c, Plan: &plan.PoolPlan{InFlight: 2}, Padding: eager{}, Pricer: free{}})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// step runs the engine for one completed batch.
func step(e *Engine, out *engines.Outcome) {
	for e.Poll().Do == engines.Launch {
	}
	e.Complete(out)
}

// steady submits batch requests that decode without end and returns the engine past
// their prefill.
func steady(b testing.TB, batch int, caching, stepwise bool) (*Engine, *engines.Outcome) {
	e := benchEngine(b, batch, batch*140+2000, caching, stepwise)
	for i := range batch {
		e.Submit(&engines.Request{ID: engines.RequestID(i), MaxTokens: 2100, Prompt: []engines.Segment{{Stream: uint64(i), Count: 16 + i%16}},
			Output: engines.Segment{Stream: uint64(i) + 1<<32}})
	}
	out := new(engines.Outcome)
	for range 200 {
		step(e, out)
	}
	if s := e.Stats(); s.Running != batch {
		b.Fatalf("running: got %d, want %d", s.Running, batch)
	}
	return e, out
}

func BenchmarkSteadyStep(b *testing.B) {
	for _, batch := range []int{1, 64, 512} {
		for _, mode := range []string{"cruise", "stepwise"} {
			b.Run(fmt.Sprintf("batch=%d/%s", batch, mode), func(b *testing.B) {
				b.ReportAllocs()
				var e *Engine
				var out *engines.Outcome
				left := 0
				for b.Loop() {
					if left == 0 {
						b.StopTimer()
						e, out = steady(b, batch, true, mode == "stepwise")
						left = 1800
						b.StartTimer()
					}
					step(e, out)
					left--
				}
			})
		}
	}
}

// BenchmarkRequests runs requests of 512 prompt and 128 output tokens through the
// engine alone, mean concurrency near 37.
func BenchmarkRequests(b *testing.B) {
	for _, caching := range []bool{false, true} {
		for _, stepwise := range []bool{false, true} {
			b.Run(fmt.Sprintf("caching=%v/stepwise=%v", caching, stepwise), func(b *testing.B) {
				b.ReportAllocs()
				e := benchEngine(b, 128, 30000, caching, stepwise)
				requests := make([]engines.Request, 4096)
				prompts := make([]engines.Segment, len(requests))
				out := new(engines.Outcome)
				n, steps := 0, 0
				for b.Loop() {
					r := &requests[n%len(requests)]
					prompts[n%len(requests)] = engines.Segment{Stream: uint64(n), Count: 512}
					*r = engines.Request{ID: engines.RequestID(n), MaxTokens: 128, Prompt: prompts[n%len(requests) : n%len(requests)+1],
						Output: engines.Segment{Stream: uint64(n) + 1<<40}}
					e.Submit(r)
					n++
					for range 3 + n%2 {
						step(e, out)
						steps++
					}
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "req/s")
				b.ReportMetric(float64(steps)/float64(n), "steps/req")
			})
		}
	}
}

func TestSteadyStepAllocatesNothing(t *testing.T) {
	for _, stepwise := range []bool{false, true} {
		e, out := steady(t, 64, true, stepwise)
		for range 600 {
			step(e, out)
		}
		// Tables and identities double as they grow, so a short window is exact.
		if got := testing.AllocsPerRun(200, func() { step(e, out) }); got != 0 {
			t.Errorf("stepwise %v: got %v allocations a step, want 0", stepwise, got)
		}
	}
}
