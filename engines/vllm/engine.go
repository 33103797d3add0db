// Package vllm is the port of vLLM's V1 engine: it answers the engine contract with
// the scheduler and KV cache of sched and kv.
//
// In: a resolved configuration, a pool plan, a padding rule and prices. Out: an
// engines.Engine. No token is ever made: a prompt's blocks are known by the
// identities of its segments. Nothing here decides what upstream decides; this
// package translates. Invariants: a request's token record is exact whenever an
// Event of it is reported; equal inputs give equal batches, outcomes and prices
// whether or not requests cruise (sched.Config.Stepwise). Rules kept: X3, SIM-7,
// SIM-12, DEV-13, VLM-1.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec.
package vllm

// This file is the project's own: upstream is driven by a server.

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

// Padding says how a step of tokens over seqs sequences is launched; uniform is a
// step whose every sequence decodes.
type Padding interface {
	Of(tokens, seqs int, uniform bool) plan.PaddedShape
}

// Parts is what an engine is made of.
type Parts struct {
	Sched      sched.Config
	Plan       *plan.PoolPlan
	Padding    Padding
	Pricer     engines.Pricer
	Acceptance engines.Acceptance // read with a drafter only
	EveryToken bool               // engines.Spec.EveryToken
}

// Engine is one vLLM engine core.
type Engine struct {
	parts   Parts
	loop    *sched.Loop
	out     sched.Output
	inputs  []input
	live    map[engines.RequestID]*job
	spare   []*job
	ending  []*job                // ended, still held by a batch in flight
	victims [][]engines.RequestID // preempted, by step number modulo how many can be in flight
	aborted []*engines.Request    // to be reported by the next Complete

	shapes   []plan.StepShape
	steps    []engines.PricedStep
	admitted []engines.RequestID
	hits     engines.PrefixCounters
}

// input is one entry of the input queue: a request, or the id of one to abort.
type input struct {
	job *job
	id  engines.RequestID
}

var _ engines.Engine = (*Engine)(nil)

// Assemble builds an engine, or refuses a configuration as start-up does.
func Assemble(p Parts) (*Engine, error) {
	p.Sched.Stepwise = p.Sched.Stepwise || p.EveryToken
	loop, err := sched.NewLoop(p.Sched)
	if err != nil {
		return nil, err
	}
	e := &Engine{parts: p, loop: loop, live: make(map[engines.RequestID]*job), victims: make([][]engines.RequestID, loop.Depth())}
	e.out.Verbose = p.EveryToken
	stages := max(1, p.Plan.Layout.Pipeline)
	e.shapes = make([]plan.StepShape, stages)
	e.steps = make([]engines.PricedStep, stages)
	for k := range e.shapes {
		e.shapes[k] = plan.StepShape{Stage: k, Ranks: make([]plan.RankStep, 1), Padded: make([]plan.PaddedShape, 1)}
		e.steps[k].Shape = &e.shapes[k]
	}
	return e, nil
}

// Plan is the pool plan.
func (e *Engine) Plan() *plan.PoolPlan { return e.parts.Plan }

// Submit queues a request, or rejects it as the front end does.
func (e *Engine) Submit(r *engines.Request) *engines.Rejection {
	if no := e.reject(r); no != nil {
		return no
	}
	e.inputs = append(e.inputs, input{job: e.newJob(r), id: r.ID})
	return nil
}

// Abort queues a cancellation.
func (e *Engine) Abort(id engines.RequestID) {
	e.inputs = append(e.inputs, input{id: id})
}

// Poll reads the input queue and launches the next batch if the loop would.
func (e *Engine) Poll() engines.Action {
	if !e.loop.Waits() {
		e.readInputs()
	}
	b := e.loop.Launch()
	if b == nil {
		if e.loop.InFlight() > 0 {
			return engines.Action{Do: engines.Wait}
		}
		return engines.Action{Do: engines.Idle}
	}
	if len(b.Preempted) > 0 {
		e.noteVictims(b)
	}
	e.retire(b.Finished)
	e.shape(b)
	return engines.Action{Do: engines.Launch, Full: e.loop.Waits(), Batch: engines.Batch{Steps: e.steps, Empty: b.Tokens == 0, Admitted: e.admitted}}
}

// noteVictims keeps whom a batch preempted: by its end they may be gone.
func (e *Engine) noteVictims(b *sched.Batch) {
	ids := &e.victims[b.Step%len(e.victims)]
	*ids = (*ids)[:0]
	for _, v := range b.Preempted {
		j := v.Request.Owner.(*job)
		j.request.Token.Preemptions = v.Request.Preemptions
		*ids = append(*ids, j.request.ID)
	}
}

// readInputs applies the input queue in order.
func (e *Engine) readInputs() {
	for i := range e.inputs {
		in := &e.inputs[i]
		if in.job != nil {
			e.live[in.id] = in.job
			e.loop.Scheduler.Add(&in.job.Request)
		} else {
			e.abort(in.id)
		}
		in.job = nil
	}
	e.inputs = e.inputs[:0]
}

func (e *Engine) abort(id engines.RequestID) {
	j := e.live[id]
	if j == nil {
		return
	}
	e.loop.Scheduler.Abort(&j.Request)
	e.record(j)
	e.aborted = append(e.aborted, j.request)
	delete(e.live, id)
}

// Complete applies the oldest batch's output; aborts that arrived while it ran go
// first, as upstream's side queue does.
func (e *Engine) Complete(out *engines.Outcome) {
	for _, in := range e.inputs {
		if in.job == nil {
			e.abort(in.id)
		}
	}
	b := e.loop.Oldest()
	if e.parts.Sched.Speculative != nil {
		e.verify(b)
	}
	e.loop.Complete(&e.out)
	if s := e.parts.Sched.Speculative; s != nil && !e.parts.Sched.Async {
		e.loop.Scheduler.Propose(b, func(*sched.Request) int { return s.Tokens })
	}
	e.report(out, b)
	e.release()
}

// report translates the scheduler's output.
func (e *Engine) report(out *engines.Outcome, b *sched.Batch) {
	running, waiting, skipped := e.loop.Scheduler.Counts()
	p := &e.out.Prefix
	out.Steady, out.Scheduled, out.Running, out.Waiting = e.out.Steady, b.Tokens, running, waiting+skipped
	out.KVUsage = e.loop.Scheduler.Cache().Pool().Usage()
	out.PrefixHits = engines.PrefixCounters{Queried: int64(p.Queried + p.PreemptedQueried), Hit: int64(p.Hit + p.PreemptedHit)}
	out.Events, out.Preempted = out.Events[:0], out.Preempted[:0]
	if len(b.Preempted) > 0 {
		out.Preempted = append(out.Preempted, e.victims[b.Step%len(e.victims)]...)
	}
	for _, r := range e.aborted {
		out.Events = append(out.Events, engines.Event{Request: r, Finish: engines.Aborted})
	}
	clear(e.aborted)
	e.aborted = e.aborted[:0]
	for i := range e.out.Events {
		ev := &e.out.Events[i]
		j := ev.Request.Owner.(*job)
		e.record(j)
		out.Events = append(out.Events, engines.Event{Request: j.request, Tokens: ev.Tokens, First: ev.First,
			Finish: finishes[ev.Finish], Gap: ev.Gap})
		if ev.Finish != sched.NotFinished {
			delete(e.live, j.request.ID)
		}
	}
}

var finishes = [...]engines.Finish{sched.NotFinished: engines.NotFinished, sched.Stopped: engines.Stopped,
	sched.Length: engines.Length, sched.Aborted: engines.Aborted}

// Stats reads the gauges.
func (e *Engine) Stats() engines.Stats {
	running, waiting, skipped := e.loop.Scheduler.Counts()
	pool := e.loop.Scheduler.Cache().Pool()
	return engines.Stats{Running: running, Waiting: waiting + skipped, KVUsage: pool.Usage(), KVBlocks: pool.Usable()}
}
