package vllm

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/enginetest"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// parts is what build gives one engine of a conformance setup.
func ranksOf(s enginetest.Setup, n int) (*Ranks, error) {
	e, err := build(s)
	if err != nil {
		return nil, err
	}
	return AssembleRanks(e.(*Engine).parts, n)
}

func TestRanksServeEveryRequest(t *testing.T) {
	keep.Rule(t, "SIM-7")
	for _, async := range []bool{false, true} {
		s := enginetest.Setup{Blocks: 60, BlockTokens: 4, MaxSeqs: 4, StepTokens: 16, MaxLength: 128, Caching: true, Async: async, Pipeline: 1, Shape: "full"}
		r, err := ranksOf(s, 3)
		if err != nil {
			t.Fatal(err)
		}
		var arrivals []enginetest.Arrival
		for i := range 40 {
			arrivals = append(arrivals, enginetest.Arrival{At: i / 2, Request: engines.Request{ID: engines.RequestID(i + 1),
				Prompt: []engines.Segment{{Stream: uint64(i % 5), Count: 10 + i}}, Output: engines.Segment{Stream: uint64(100 + i), Count: 20}, MaxTokens: 1 + i%20, IgnoreEOS: true}})
		}
		arrivals[7].AbortAt, arrivals[9].AbortAt, arrivals[9].During = 6, 7, true
		got, err := enginetest.Drive(r, arrivals, nil)
		if err != nil {
			t.Fatalf("async %v: %v", async, err)
		}
		aborted := 0
		for _, f := range got.Ended {
			if f == engines.Aborted {
				aborted++
			}
		}
		if len(got.Ended) != 40 || aborted != 2 {
			t.Errorf("async %v: got %d ended and %d aborted, want 40 and 2", async, len(got.Ended), aborted)
		}
		if s := r.Stats(); s.Running+s.Waiting > 0 || s.KVUsage > 0 || len(r.home) > 0 {
			t.Errorf("async %v: left behind: %+v, %d at home", async, s, len(r.home))
		}
	}
}

// shapesSeen prices one second and keeps what it was asked.
type shapesSeen struct{ ranks [][]plan.PaddedShape }

func (p *shapesSeen) Price(s *plan.StepShape) plan.StepEstimate {
	p.ranks = append(p.ranks, append([]plan.PaddedShape(nil), s.Padded...))
	return plan.StepEstimate{Total: 1}
}

// sized pads to multiples of eight and captures up to sixteen.
type sized struct{}

func (sized) Of(tokens, seqs int, uniform bool) plan.PaddedShape {
	switch {
	case tokens > 16:
		return plan.PaddedShape{Tokens: tokens, Seqs: seqs}
	case uniform:
		return plan.PaddedShape{Tokens: (tokens + 7) / 8 * 8, Seqs: seqs, Launch: plan.FullGraph}
	}
	return plan.PaddedShape{Tokens: (tokens + 7) / 8 * 8, Seqs: seqs, Launch: plan.PiecewiseGraph}
}

func TestRanksStepTogether(t *testing.T) {
	e, err := build(enginetest.Setup{Blocks: 60, BlockTokens: 4, MaxSeqs: 4, StepTokens: 64, MaxLength: 128, Pipeline: 1, Shape: "full"})
	if err != nil {
		t.Fatal(err)
	}
	parts := e.(*Engine).parts
	seen := &shapesSeen{}
	parts.Pricer, parts.Padding = seen, sized{}
	r, err := AssembleRanks(parts, 2)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(id engines.RequestID, prompt int) {
		q := &engines.Request{ID: id, Prompt: []engines.Segment{{Stream: uint64(id), Count: prompt}}, Output: engines.Segment{Stream: 9, Count: 4}, MaxTokens: 2, IgnoreEOS: true}
		if no := r.Submit(q); no != nil {
			t.Fatal(no.Reason)
		}
	}
	submit(1, 40)
	submit(2, 12) // to the other rank
	if a := r.Poll(); a.Do != engines.Launch || len(a.Batch.Admitted) != 2 {
		t.Fatalf("got %+v, want both requests admitted in one step", a)
	}
	want := plan.PaddedShape{Tokens: 40, Launch: plan.Eager}
	for i, p := range seen.ranks[0] {
		if p.Tokens != want.Tokens || p.Launch != want.Launch {
			t.Errorf("rank %d: got %+v, want the larger prompt's size without a graph", i, p)
		}
	}
	var out engines.Outcome
	r.Complete(&out)
	if out.Running != 2 || len(out.Events) != 2 {
		t.Errorf("got %+v, want two first tokens", out)
	}
}

// Prompts start in every n-th step of the wave, counted alike on all ranks: one that
// idled before has no count of its own.
func TestRanksStartPromptsTogether(t *testing.T) {
	for _, c := range []struct{ interval, want int }{{1, 3}, {4, 4}} {
		e, err := build(enginetest.Setup{Blocks: 60, BlockTokens: 4, MaxSeqs: 4, StepTokens: 64, MaxLength: 128, Pipeline: 1, Shape: "full"})
		if err != nil {
			t.Fatal(err)
		}
		parts := e.(*Engine).parts
		parts.Sched.PrefillInterval = c.interval
		r, err := AssembleRanks(parts, 2)
		if err != nil {
			t.Fatal(err)
		}
		submit := func(id engines.RequestID) {
			q := &engines.Request{ID: id, Prompt: []engines.Segment{{Stream: uint64(id), Count: 8}}, Output: engines.Segment{Stream: 9, Count: 20}, MaxTokens: 20, IgnoreEOS: true}
			if no := r.Submit(q); no != nil {
				t.Fatal(no.Reason)
			}
		}
		var out engines.Outcome
		admitted := map[engines.RequestID]int{}
		for step := range 8 {
			switch step {
			case 0, 2:
				submit(engines.RequestID(step + 1)) // the second makes an idle rank decode
			case 3:
				submit(11)
				submit(12)
			}
			for _, id := range r.Poll().Batch.Admitted {
				admitted[id] = step
			}
			r.Complete(&out)
		}
		if got := admitted[3]; got != 2 {
			t.Errorf("interval %d: a rank without decodes started its prompt in step %d, want 2", c.interval, got)
		}
		for id := engines.RequestID(11); id <= 12; id++ {
			if got := admitted[id]; got != c.want {
				t.Errorf("interval %d: request %d started in step %d, want %d", c.interval, id, got, c.want)
			}
		}
	}
}
