// Package sglang is the port of SGLang's scheduler process: it answers the engine
// contract with the scheduler of sched and the KV cache of kv.
//
// In: resolved server arguments, a pool plan, a padding rule and prices. Out: an
// engines.Engine. No token is ever made: a prompt is the identities of its segments.
// Nothing here decides what upstream decides; this package translates. Invariants: a
// request's token record is exact whenever an Event of it is reported; a request
// leaves nothing behind once it has ended and no batch holds it. Rules kept: X3,
// SIM-7, SIM-12, DEV-13, SGL-1.
//
// Source: sgl-project/sglang@0bda0b168ad5bf7311ae639904489a4698a05546.
package sglang

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
)

// Padding says how a step is launched: decode steps by sequences, steps with prompt
// tokens by tokens.
type Padding interface {
	Decode(seqs int) plan.PaddedShape
	Extend(tokens, seqs int) plan.PaddedShape
}

// Parts is what an engine is made of.
type Parts struct {
	Sched    sched.Config
	Eviction kv.Policy
	NoTree   bool // disable_radix_cache
	Plan     *plan.PoolPlan
	// Attends caps the tokens a decoding sequence attends in each KV group; 0 is none.
	Attends []int
	Padding Padding
	Pricer  engines.Pricer
	// RecvInterval is how many decode iterations pass between two readings of the
	// input queue; 1 or less reads in each.
	RecvInterval int
	EveryToken   bool // engines.Spec.EveryToken
}

// Engine is one scheduler process.
type Engine struct {
	parts   Parts
	loop    *sched.Loop
	cache   *kv.Cache
	inputs  []input
	skipped int  // weight of the iterations since inputs were read
	bare    bool // the batch in flight only reports aborts
	live    map[engines.RequestID]*job

	out       *engines.Outcome
	flights   []int // scheduled tokens of each open batch, oldest first
	aborted   []*engines.Request
	preempted []engines.RequestID
	hits      engines.PrefixCounters

	shape    plan.StepShape
	steps    [1]engines.PricedStep
	admitted []engines.RequestID
}

// input is one entry of the input queue: a request, or the id of one to abort.
type input struct {
	job *job
	id  engines.RequestID
}

// job is a request inside the engine.
type job struct {
	sched.Req
	request *engines.Request
	seen    bool // some batch has held it
}

var _ engines.Engine = (*Engine)(nil)

// Assemble builds an engine of its parts.
func Assemble(p Parts) *Engine {
	p.Sched.Stepwise = p.Sched.Stepwise || p.EveryToken
	e := &Engine{parts: p, live: make(map[engines.RequestID]*job)}
	var tree *kv.Tree
	if !p.NoTree {
		tree = kv.NewTree(p.Sched.PageSize, p.Eviction, nil)
	}
	e.cache = kv.NewCache(p.Sched.TotalTokens, p.Sched.PageSize, tree)
	p.Sched.Attends = p.Attends
	e.loop = sched.NewLoop(sched.New(p.Sched, e.cache, nil, e))
	e.shape = plan.StepShape{Ranks: make([]plan.RankStep, 1), Padded: make([]plan.PaddedShape, 1)}
	e.shape.Ranks[0].Decode.Attended = make([]int64, len(p.Plan.KV))
	e.steps[0].Shape = &e.shape
	return e
}

// Plan is the pool plan.
func (e *Engine) Plan() *plan.PoolPlan { return e.parts.Plan }

// Submit queues a request, or rejects it as the tokenizer process does
// (managers/tokenizer_manager.py _validate_one_request; inferred, not on record).
func (e *Engine) Submit(r *engines.Request) *engines.Rejection {
	n, longest := r.PromptTokens(), e.parts.Sched.ContextLen
	switch {
	case n == 0:
		return &engines.Rejection{Reason: "The input is empty."}
	case n >= longest:
		return &engines.Rejection{Reason: fmt.Sprintf("The input (%d tokens) is longer than the model's context length (%d tokens).", n, longest)}
	case r.MaxTokens > 0 && n+r.MaxTokens >= longest:
		return &engines.Rejection{Reason: fmt.Sprintf("Requested token count exceeds the model's maximum context length of %d tokens. You requested a total of %d tokens: %d tokens from the input messages and %d tokens for the completion.", longest, n+r.MaxTokens, n, r.MaxTokens)}
	}
	e.inputs = append(e.inputs, input{job: e.newJob(r, n), id: r.ID})
	return nil
}

func (e *Engine) newJob(r *engines.Request, prompt int) *job {
	j := &job{request: r}
	j.Req = sched.Req{
		Prompt: r.Prompt, Input: prompt, MaxNew: r.MaxTokens, IgnoreEOS: r.IgnoreEOS, Owner: j,
		Ns: kv.Namespace{Salt: r.Salt},
		Next: func(n int) engines.Segment {
			return engines.Segment{Stream: r.Output.Stream, Start: r.Output.Start + n, Count: math.MaxInt}
		},
	}
	if r.StopAt >= r.MinTokens {
		j.StopAt = r.StopAt // a stop token before min_new_tokens is masked
	}
	if j.Priority = -r.Priority; e.parts.Sched.LowFirst {
		j.Priority = r.Priority
	}
	r.Token = engines.TokenRecord{Prompt: prompt}
	return j
}

// Abort queues a cancellation.
func (e *Engine) Abort(id engines.RequestID) { e.inputs = append(e.inputs, input{id: id}) }

// turns is how often Poll repeats an iteration in which nothing ran although
// something waits: one turn makes room that the next one uses. A request that is
// never admitted after that is never served upstream either.
const turns = 3

// Poll runs the loop's iterations up to a launch or to where it waits.
func (e *Engine) Poll() engines.Action {
	if e.loop.Waits() || e.bare {
		return engines.Action{Do: engines.Wait}
	}
	for range turns {
		if e.reads() {
			e.read()
		}
		if l := e.loop.Turn(); l != nil {
			e.launch(l)
			return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: e.steps[:], Admitted: e.admitted}}
		}
		if e.loop.Waits() {
			return engines.Action{Do: engines.Wait}
		}
		e.loop.Rest()
		if len(e.aborted) > 0 {
			return e.launchBare()
		}
		if len(e.inputs) == 0 && len(e.loop.Scheduler.Waiting()) == 0 {
			break
		}
	}
	return engines.Action{Do: engines.Idle}
}

// launchBare is an iteration that only reports aborts: no batch carries them.
func (e *Engine) launchBare() engines.Action {
	e.bare = true
	rank := &e.shape.Ranks[0]
	clear(rank.Decode.Attended)
	*rank = plan.RankStep{Extend: rank.Extend[:0], Decode: plan.DecodeBatch{Query: 1, Attended: rank.Decode.Attended}}
	e.shape.Mode, e.shape.Padded[0] = plan.Idle, plan.PaddedShape{}
	e.steps[0].Price = plan.StepEstimate{}
	e.flights = append(e.flights, 0)
	return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: e.steps[:], Empty: true}}
}

// extendWeight is the weight of an iteration after anything but a decode
// (SGLANG_SCHEDULER_RECV_SKIPPER_WEIGHT_DEFAULT).
const extendWeight = 1000

// reads says whether this iteration reads the input queue: with
// scheduler_recv_interval, once the iterations before weigh that much, a decode 1
// and any other 1000 (managers/scheduler_recv_skipper.py; inferred, not on record).
// An idle server turns so fast that it reads at once.
func (e *Engine) reads() bool {
	last := e.loop.Scheduler.LastMode()
	switch {
	case e.parts.RecvInterval <= 1 || e.loop.InFlight() == 0 && last == sched.None:
		e.skipped = 0
		return true
	case last == sched.Decode || last == sched.None:
		e.skipped++
	default:
		e.skipped += extendWeight
	}
	if e.skipped < e.parts.RecvInterval {
		return false
	}
	e.skipped = 0
	return true
}

// read applies the input queue in order.
func (e *Engine) read() {
	s := e.loop.Scheduler
	for i := range e.inputs {
		in := &e.inputs[i]
		if in.job != nil {
			e.live[in.id] = in.job
			s.Receive(&in.job.Req)
		} else if j := e.live[in.id]; j != nil {
			s.Abort(func(r *sched.Req) bool { return r == &j.Req })
		}
		in.job = nil
	}
	e.inputs = e.inputs[:0]
}

// Complete applies the oldest batch's result.
func (e *Engine) Complete(out *engines.Outcome) {
	*out = engines.Outcome{Events: out.Events[:0], Preempted: append(out.Preempted[:0], e.preempted...), Scheduled: e.flights[0]}
	e.flights = append(e.flights[:0], e.flights[1:]...)
	e.preempted = e.preempted[:0]
	e.out = out
	for _, r := range e.aborted {
		out.Events = append(out.Events, engines.Event{Request: r, Finish: engines.Aborted})
	}
	clear(e.aborted)
	e.aborted = e.aborted[:0]
	if e.bare {
		e.bare = false
		e.loop.Scheduler.Skip()
	} else {
		e.loop.Settle()
	}
	st := e.Stats()
	out.Waiting, out.Running, out.KVUsage = st.Waiting, st.Running, st.KVUsage
	out.PrefixHits, e.hits = e.hits, engines.PrefixCounters{}
	e.out = nil
}

// Stats reads the gauges: num_running_reqs, num_queue_reqs and token_usage, which
// counts neither free nor evictable tokens.
func (e *Engine) Stats() engines.Stats {
	s := e.loop.Scheduler
	used := e.cache.Total() - e.cache.Free() - e.cache.Evictable()
	running := s.Live()
	return engines.Stats{
		Running: running, Waiting: len(s.Waiting()), KVUsage: float64(used) / float64(e.cache.Total()),
		KVBlocks: e.cache.Total() / e.cache.Page(),
	}
}
