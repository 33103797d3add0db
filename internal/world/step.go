package world

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
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
