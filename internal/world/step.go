package world

import (
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Batch is a step in a person's terms.
type Batch struct {
	Decode []Decoding   // sequences that produce one token each
	Extend []plan.Chunk // prompts being read
}

// Decoding is Seqs sequences at one context length.
type Decoding struct{ Seqs, Context int }

// Step forms the step that p would launch for b, padded to p's captured sizes.
func Step(p *plan.PoolPlan, b Batch, stage int) *plan.StepShape {
	r := plan.RankStep{Extend: b.Extend, Decode: plan.DecodeBatch{Query: 1, Attended: make([]int64, max(1, len(p.KV)))}}
	for _, d := range b.Decode {
		r.Decode.Seqs += d.Seqs
		for g := range r.Decode.Attended {
			attended := d.Context
			if g < len(p.KV) && p.KV[g].Window > 0 {
				attended = min(attended, p.KV[g].Window)
			}
			r.Decode.Attended[g] += int64(d.Seqs * attended)
		}
	}
	r.Sampled = r.Decode.Seqs + len(r.Extend)
	return &plan.StepShape{Mode: plan.Mixed, Stage: stage, Ranks: []plan.RankStep{r}, Padded: []plan.PaddedShape{padded(p.Graphs, &r)}}
}

// padded launches the smallest captured graph that holds the batch.
func padded(g plan.GraphPolicy, r *plan.RankStep) plan.PaddedShape {
	s := plan.PaddedShape{Tokens: r.Tokens(), Seqs: r.Decode.Seqs}
	for _, try := range []struct {
		sizes  []int
		launch plan.Launch
		ok     bool
	}{{g.Full, plan.FullGraph, len(r.Extend) == 0}, {g.Piecewise, plan.PiecewiseGraph, true}} {
		if i, _ := slices.BinarySearch(try.sizes, s.Tokens); try.ok && i < len(try.sizes) {
			s.Tokens, s.Launch = try.sizes[i], try.launch
			return s
		}
	}
	return s
}

// Typical prices and explains two steps of a finished run: decoding at the
// concurrency it reached, and one mean prompt beside it.
func (w *World) Typical(s *spec.Scenario, r *spec.Result) ([]record.TypicalStep, error) {
	p, pricer, err := w.Compile(s.Engine.Kind, engines.Spec{Model: s.Model, Checkpoint: s.Checkpoint, Hardware: s.Hardware,
		Nodes: s.Cluster.Nodes, Args: s.Engine.Args, Env: s.Engine.Env})
	if err != nil {
		return nil, err
	}
	done := max(1, r.Requests.Measured.Completed)
	prompt, output := int(r.Requests.PromptTokens/done), int(r.Requests.OutputTokens/done)
	running := 0
	for _, e := range r.Engines {
		running = max(running, e.MaxRunning)
	}
	decode := Batch{Decode: []Decoding{{Seqs: max(1, running/max(1, p.Layout.Data)), Context: prompt + output/2}}}
	prefill := Batch{Extend: []plan.Chunk{{Query: max(1, prompt)}}}
	return []record.TypicalStep{
		typical("decode at the concurrency reached, mean context", pricer, Step(p, decode, 0)),
		typical("prefill of one mean prompt alone", pricer, Step(p, prefill, 0)),
	}, nil
}

func typical(name string, pricer *cost.Pricer, step *plan.StepShape) record.TypicalStep {
	t := record.TypicalStep{Name: name, Seconds: float64(pricer.Price(step).Total), Parts: []record.StepPart{}}
	for _, part := range pricer.Explain(step) {
		t.Parts = append(t.Parts, record.StepPart{Name: part.Name, Primitive: string(part.Primitive),
			Kernel:  strings.Trim(part.Kernel.Library+"/"+part.Kernel.Variant, "/"),
			Seconds: float64(part.Seconds), Method: part.Method.String(), Entries: part.Entries, Flags: part.Flags})
	}
	return t
}
