package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
)

// What a flag may ask for: more is a slip of the keyboard.
const (
	maxWidth = 1 << 12 // nodes, or ranks a layer is split over
	maxSeqs  = 1 << 16 // sequences of one flag
)

// batch is what the flags ask for; positions is how many tokens the model's sequences may reach.
func (q *priceQuery) batch(p *plan.PoolPlan, positions int) (b world.Batch, err error) {
	for _, d := range q.decode {
		seqs, context, err := pair("--decode", d, "x", "SEQSxCONTEXT")
		if err != nil {
			return b, err
		}
		if seqs < 1 || seqs > maxSeqs || context < 0 || context > positions {
			return b, outside("--decode", d, fmt.Sprintf("SEQSxCONTEXT: 1 to %d sequences, 0 to %d tokens of context", maxSeqs, positions))
		}
		b.Decode = append(b.Decode, world.Decoding{Seqs: seqs, Context: context})
	}
	for _, e := range q.extend {
		query, context, err := pair("--extend", e, "@", "TOKENS@CACHED")
		if err != nil {
			return b, err
		}
		if query < 1 || query > positions || context < 0 || context > positions-query {
			return b, outside("--extend", e, fmt.Sprintf("TOKENS@CACHED: 1 or more tokens, 0 or more cached, %d together", positions))
		}
		b.Extend = append(b.Extend, plan.Chunk{Query: query, Context: context})
	}
	if len(b.Decode)+len(b.Extend) == 0 {
		return b, exit.UsageError(&diag.Refusal{Field: "--decode", Problem: "the step is empty", Accept: "--decode SEQSxCONTEXT or --extend TOKENS@CACHED"})
	}
	if last := max(1, p.Layout.Pipeline) - 1; q.stage < 0 || q.stage > last {
		return b, outside("--stage", strconv.Itoa(q.stage), fmt.Sprintf("0 to %d, a stage of the plan", last))
	}
	return b, nil
}

func outside(flag, value, accept string) error {
	return exit.UsageError(&diag.Refusal{Field: flag, Value: value, Problem: "is out of range", Accept: accept})
}

func pair(flag, text, sep, accept string) (a, b int, err error) {
	left, right, ok := strings.Cut(text, sep)
	a, errA := strconv.Atoi(left)
	b, errB := strconv.Atoi(right)
	if !ok || errA != nil || errB != nil {
		return 0, 0, exit.UsageError(&diag.Refusal{Field: flag, Value: text, Problem: "is not " + accept, Accept: accept + ", whole numbers"})
	}
	return a, b, nil
}
