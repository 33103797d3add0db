package vllm

// This file is the project's own: upstream launches what is described here.

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// shape describes a batch in the cost model's terms and has every stage priced.
func (e *Engine) shape(b *sched.Batch) {
	first := &e.shapes[0]
	rank := &first.Ranks[0]
	query := 1 + e.parts.Sched.Speculative.K()
	rank.Extend, rank.Sampled = rank.Extend[:0], b.Cruising
	rank.Decode.Seqs, rank.Decode.Query, rank.Decode.Attended = b.Cruising, query, b.Attended
	first.Drafts = plan.DraftShape{}
	e.admitted = e.admitted[:0]
	for i := range b.Entries {
		e.entry(first, rank, &b.Entries[i], query)
	}
	first.Drafts.Proposed = e.parts.Sched.Speculative.K() * rank.Sampled
	first.Mode = mode(rank, first.Drafts.Verified)
	seqs := rank.Decode.Seqs + len(rank.Extend)
	first.Padded[0] = plan.PaddedShape{}
	if b.Tokens > 0 {
		first.Padded[0] = e.parts.Padding.Of(b.Tokens, seqs, len(rank.Extend) == 0)
	}
	e.steps[0].Price = e.parts.Pricer.Price(first)
	for k := 1; k < len(e.shapes); k++ {
		s := &e.shapes[k]
		s.Mode, s.Drafts, s.Ranks[0], s.Padded[0] = first.Mode, first.Drafts, *rank, first.Padded[0]
		e.steps[k].Price = e.parts.Pricer.Price(s)
	}
}

// entry adds one request's part to the shape: a decode if it takes the query length
// all decodes take, else a chunk.
func (e *Engine) entry(s *plan.StepShape, rank *plan.RankStep, en *sched.Entry, query int) {
	if en.Origin == sched.FromWaiting {
		e.admitted = append(e.admitted, en.Request.Owner.(*job).request.ID)
	}
	if en.Samples {
		rank.Sampled++
	}
	s.Drafts.Verified += en.Drafts
	if en.Tokens != query || !en.Samples {
		rank.Extend = append(rank.Extend, plan.Chunk{Query: en.Tokens, Context: en.Computed})
		return
	}
	rank.Decode.Seqs++
	groups := e.loop.Scheduler.Cache().Config().Groups
	for g := range groups {
		rank.Decode.Attended[g] += int64(groups[g].Attends(en.Computed + query - 1))
	}
}

func mode(rank *plan.RankStep, verified int) plan.StepMode {
	switch {
	case rank.Decode.Seqs == 0 && len(rank.Extend) == 0:
		return plan.Idle
	case rank.Decode.Seqs == 0:
		return plan.ExtendOnly
	case len(rank.Extend) > 0:
		return plan.Mixed
	case verified > 0:
		return plan.Verify
	}
	return plan.DecodeOnly
}

// verify decides how many drafts of each entry the target accepts: draft k of the output
// position p stands when position p+k's number lies below the profile's probability. The
// request brings its numbers, so a server setting cannot change them.
func (e *Engine) verify(b *sched.Batch) {
	for i := range b.Entries {
		en := &b.Entries[i]
		if en.Drafts == 0 || en.Origin != sched.FromRunning || en.Request.Status == sched.Finished {
			continue
		}
		drafts := en.Request.Owner.(*job).draftsFrom(en.Request.Outputs())
		en.Accepted = 0
		for k := 0; k < en.Drafts && k < len(e.parts.Acceptance.PerPosition); k++ {
			if drafts.Float64() >= e.parts.Acceptance.PerPosition[k] {
				break
			}
			en.Accepted++
		}
	}
}

// draftsFrom is the job's numbers from an output position on, which never falls.
func (j *job) draftsFrom(position int) substream.Stream {
	for ; j.drawn < position; j.drawn++ {
		j.drafts.Float64()
	}
	return j.drafts
}
