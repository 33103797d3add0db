package lower

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// Padding says how a step is launched: a decode step replays the smallest captured
// batch that holds it, a step with prompt tokens the smallest captured length, and
// either runs without a graph above the largest (model_executor/cuda_graph_runner.py,
// server_args.py:5166, 5219).
type Padding struct{ decode, extend []int }

// Decode pads a batch of seqs decoding sequences.
func (p *Padding) Decode(seqs int) plan.PaddedShape {
	if n, ok := up(p.decode, seqs); ok {
		return plan.PaddedShape{Tokens: n, Seqs: n, Launch: plan.FullGraph}
	}
	return plan.PaddedShape{Tokens: seqs, Seqs: seqs, Launch: plan.Eager}
}

// Extend pads a batch of tokens over seqs sequences.
func (p *Padding) Extend(tokens, seqs int) plan.PaddedShape {
	if n, ok := up(p.extend, tokens); ok {
		return plan.PaddedShape{Tokens: n, Seqs: seqs, Launch: plan.PiecewiseGraph}
	}
	return plan.PaddedShape{Tokens: tokens, Seqs: seqs, Launch: plan.Eager}
}

func up(sizes []int, n int) (int, bool) {
	i, _ := slices.BinarySearch(sizes, n)
	if i == len(sizes) {
		return 0, false
	}
	return sizes[i], true
}
