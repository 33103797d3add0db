package main

import (
	"fmt"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
)

// beyond names each limit of an engine that keeps it from forming a step, by the engine's own
// setting. A price is given all the same: a step has one whether or not an engine would run it.
func beyond(settings []engines.Resolved, p *plan.PoolPlan, b world.Batch) []string {
	var seqs, chunked, held, longest, blocks int
	add := func(n, context int) {
		seqs += n
		held += n * context
		longest = max(longest, context)
		blocks += n * blocksOf(p, context)
	}
	for _, d := range b.Decode {
		add(d.Seqs, d.Context)
	}
	decoding := seqs
	for _, e := range b.Extend {
		add(1, e.Query+e.Context)
		chunked += e.Query
	}
	needs := map[string]struct {
		n    int
		what string
	}{
		"max-num-seqs":                  {seqs, "sequences"},
		"resolved max-running-requests": {seqs, "sequences"},
		"max-num-batched-tokens":        {decoding + chunked, "tokens in the step"},
		"chunked-prefill-size":          {chunked, "prompt tokens in the step"},
		"max-model-len":                 {longest, "tokens of one sequence"},
		"context-length":                {longest, "tokens of one sequence"},
		"num-gpu-blocks":                {blocks + 1, "KV blocks with the null block"},
		"max-total-num-tokens":          {held, "tokens of KV"},
	}
	var out []string
	for _, s := range settings {
		if need, ok := needs[s.Name]; ok {
			if most, err := strconv.Atoi(s.Value); err == nil && most > 0 && need.n > most {
				out = append(out, fmt.Sprintf("%s is %d, and it has %d %s", s.Name, most, need.n, need.what))
			}
		}
		if s.Name == "enable-mixed-chunk" && s.Value == "false" && decoding > 0 && chunked > 0 {
			out = append(out, "enable-mixed-chunk is false, and it has prompt chunks beside decoding sequences")
		}
	}
	return out
}

// blocksOf is how many blocks of all groups a sequence of so many tokens holds, at the least.
func blocksOf(p *plan.PoolPlan, tokens int) int {
	n := 0
	for _, g := range p.KV {
		held := tokens
		if g.Window > 0 {
			held = min(held, g.Window)
		}
		if g.Kind == "recurrent" { // one state, whatever the length
			held = min(held, 1)
		}
		n += (held + g.PageTokens - 1) / max(1, g.PageTokens)
	}
	return n
}
