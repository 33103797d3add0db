package vllm

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/enginetest"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

var scenarios = flag.Int("scenarios", 150, "random scenarios of the conformance suite; 10000 in the nightly run")

func TestConformance(t *testing.T) {
	keep.Rule(t, "DEV-3", "DEV-5", "SIM-7", "SIM-8", "SIM-12", "SUB-10", "T-K1", "T-N1", "X3")
	if os.Getenv("BLIS_NIGHTLY") != "" {
		*scenarios = 10000
	}
	if testing.Short() {
		*scenarios = 40
	}
	enginetest.Run(t, build, *scenarios)
}

// counted counts cache events.
type counted struct{ stored, removed int }

func (c *counted) Stored(*kv.Stored)         { c.stored++ }
func (c *counted) Removed(kv.BlockHash, int) { c.removed++ }
func (c *counted) Cleared()                  {}

// Publishing what the cache does changes nothing that it does.
func TestEventsChangeNoDecision(t *testing.T) {
	events := &counted{}
	for seed := range uint64(60) {
		s, arrivals := enginetest.Scenario(seed)
		var logs [2]bytes.Buffer
		for k, sink := range []kv.Sink{nil, events} {
			e, err := build(s)
			if err != nil {
				break
			}
			parts := e.(*Engine).parts
			parts.Sched.Sink = sink
			if e, err = Assemble(parts); err != nil {
				t.Fatal(err)
			}
			if _, err := enginetest.Drive(e, slices.Clone(arrivals), &logs[k]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if !bytes.Equal(logs[0].Bytes(), logs[1].Bytes()) {
			t.Errorf("seed %d: publishing events changes the outcome", seed)
		}
	}
	if events.stored == 0 || events.removed == 0 {
		t.Errorf("got %+v, want events of both kinds", *events)
	}
}

// free prices nothing; eager pads nothing.
type free struct{}

func (free) Price(*plan.StepShape) plan.StepEstimate { return plan.StepEstimate{} }

type eager struct{}

func (eager) Of(tokens, seqs int, _ bool) plan.PaddedShape {
	return plan.PaddedShape{Tokens: tokens, Seqs: seqs}
}

// build makes an engine of a conformance setup.
func build(s enginetest.Setup) (engines.Engine, error) {
	layers, err := layersOf(s)
	if err != nil {
		return nil, err
	}
	c := sched.Config{MaxNumSeqs: s.MaxSeqs, MaxNumBatchedTokens: s.StepTokens, MaxModelLen: s.MaxLength, ChunkedPrefill: true,
		Async: s.Async, PipelineParallel: s.Pipeline, ReserveFullISL: true, BlockSize: s.BlockTokens, NumBlocks: s.Blocks + 1,
		PrefixCaching: s.Caching, Layers: layers, Stepwise: s.Plain}
	if s.Priority {
		c.Policy = sched.Priority
	}
	if s.Drafts > 0 {
		c.Speculative = &sched.Speculative{Method: "eagle", Tokens: s.Drafts}
	}
	c.AlignedMamba = s.Caching
	return Assemble(Parts{Sched: c, Plan: &plan.PoolPlan{InFlight: c.MaxConcurrentBatches(), Layout: plan.Layout{Pipeline: s.Pipeline}},
		Padding: eager{}, Pricer: free{}, Acceptance: engines.Acceptance{PerPosition: []float64{0.7, 0.5, 0.3}}})
}

func layersOf(s enginetest.Setup) ([]kv.Layer, error) {
	spec := func(k kv.Kind, window, count int) kv.Layer {
		return kv.Layer{Count: count, Spec: kv.GroupSpec{Kind: k, BlockSize: s.BlockTokens, Window: window, PageBytes: 512}}
	}
	switch s.Shape {
	case "full", "draft-last":
		return []kv.Layer{spec(kv.Full, 0, 4)}, nil
	case "one-layer":
		return []kv.Layer{spec(kv.Full, 0, 1)}, nil
	case "all-windowed":
		return []kv.Layer{spec(kv.SlidingWindow, 40, 4)}, nil
	case "all-recurrent":
		return []kv.Layer{spec(kv.Mamba, 0, 4)}, nil
	case "mixed-windowed":
		return []kv.Layer{spec(kv.Full, 0, 2), spec(kv.SlidingWindow, 24, 4)}, nil
	case "chunked-local":
		return []kv.Layer{spec(kv.Full, 0, 2), spec(kv.ChunkedLocal, 32, 2)}, nil
	case "recurrent-and-full":
		return []kv.Layer{spec(kv.Full, 0, 2), spec(kv.Mamba, 0, 2)}, nil
	}
	return nil, errors.New("a model without attention has nothing to cache")
}
