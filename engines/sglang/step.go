package sglang

// This file is the project's own: upstream launches what is described here.

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
)

// launch describes a batch in the cost model's terms, has it priced and brings the
// token records of its requests up to date.
func (e *Engine) launch(l *sched.Launch) {
	rank := &e.shape.Ranks[0]
	attended := rank.Decode.Attended
	clear(attended)
	*rank = plan.RankStep{Extend: rank.Extend[:0], Decode: plan.DecodeBatch{Query: 1, Attended: attended}}
	e.admitted = e.admitted[:0]
	scheduled := len(l.Reqs)
	if l.Attended != nil {
		copy(attended, l.Attended)
		rank.Decode.Seqs, rank.Sampled = scheduled, scheduled
	} else {
		scheduled = e.visit(l, rank)
	}
	e.flights = append(e.flights, scheduled)
	e.shape.Mode = stepMode(rank)
	if len(rank.Extend) == 0 {
		e.shape.Padded[0] = e.parts.Padding.Decode(rank.Decode.Seqs)
	} else {
		e.shape.Padded[0] = e.parts.Padding.Extend(scheduled, len(l.Reqs))
	}
	e.steps[0].Price = e.parts.Pricer.Price(&e.shape)
}

// visit adds the requests of l to rank one by one and returns their tokens.
func (e *Engine) visit(l *sched.Launch, rank *plan.RankStep) (scheduled int) {
	extending := len(l.Reqs) - l.Decoding
	if l.Mode == sched.Decode {
		extending = 0
	}
	for i, r := range l.Reqs {
		j := r.Owner.(*job)
		tokens := 1
		if i < extending {
			tokens = l.Tokens[i]
			e.extend(j, rank, l.Prefix[i], tokens)
		} else {
			rank.Decode.Seqs++
			e.attend(rank.Decode.Attended, r.Committed())
		}
		if i >= extending || !e.cut(r) {
			rank.Sampled++
		}
		j.request.Token.Computed += tokens
		scheduled += tokens
	}
	return scheduled
}

// cut says whether r has prompt left for later steps, so that this one samples
// nothing for it.
func (e *Engine) cut(r *sched.Req) bool { return r == e.loop.Scheduler.Chunked() }

func (e *Engine) extend(j *job, rank *plan.RankStep, prefix, tokens int) {
	rank.Extend = append(rank.Extend, plan.Chunk{Query: tokens, Context: prefix})
	if j.seen {
		return
	}
	j.seen = true
	e.admitted = append(e.admitted, j.request.ID)
	j.request.Token.CachedLocal = j.Hit()
	if e.cache.Tree == nil {
		return
	}
	e.hits.Queried += int64(j.request.Token.Prompt)
	e.hits.Hit += int64(j.Hit())
}

// attend adds the tokens one decoding sequence of n tokens attends in each group.
func (e *Engine) attend(attended []int64, n int) {
	for g := range attended {
		k := n
		if w := e.parts.Attends[g]; w > 0 {
			k = min(n, w)
		}
		attended[g] += int64(k)
	}
}

func stepMode(r *plan.RankStep) plan.StepMode {
	switch {
	case r.Decode.Seqs == 0:
		return plan.ExtendOnly
	case len(r.Extend) > 0:
		return plan.Mixed
	}
	return plan.DecodeOnly
}

// Steady counts requests that the scheduler does not name.
func (e *Engine) Steady(n int) { e.out.Steady += n }

// Emitted reports a token: counted when the request also emitted one in the batch
// before and goes on, an event otherwise.
func (e *Engine) Emitted(r *sched.Req) {
	j := r.Owner.(*job)
	j.note()
	t, gap := &j.request.Token, r.Consecutive()
	t.Emitted = r.Outputs()
	if gap && r.Finish == engines.NotFinished && !e.parts.EveryToken {
		e.out.Steady++
		return
	}
	e.out.Events = append(e.out.Events, engines.Event{Request: j.request, Tokens: 1, First: t.Emitted == 1, Finish: r.Finish, Gap: gap})
	if r.Finish != engines.NotFinished {
		delete(e.live, j.request.ID)
	}
}

// note brings the record of computed tokens up to date.
func (j *job) note() { j.request.Token.Computed += j.Steps() }

// Aborted notes a request that ended without a result; the next Complete reports it.
func (e *Engine) Aborted(r *sched.Req, _ string) {
	j := r.Owner.(*job)
	j.note()
	e.aborted = append(e.aborted, j.request)
	delete(e.live, j.request.ID)
}

// Retracted notes the requests that lost their KV and wait again.
func (e *Engine) Retracted(victims []*sched.Req, _ float64) {
	for _, r := range victims {
		j := r.Owner.(*job)
		j.note()
		j.request.Token.Preemptions++
		e.preempted = append(e.preempted, j.request.ID)
	}
}

// Preempted is Retracted for requests that made room for a more urgent one.
func (e *Engine) Preempted(victims []*sched.Req) { e.Retracted(victims, 0) }

// Filling, Tried and Published concern recordings alone.
func (e *Engine) Filling(*sched.Adder)                                      {}
func (e *Engine) Tried(*sched.Adder, *sched.Req, sched.Verdict, bool, bool) {}
func (e *Engine) Published([]kv.Event)                                      {}
