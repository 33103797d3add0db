package vllm

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
)

// Ranks are the data-parallel ranks of a mixture-of-experts model: a scheduler and
// a cache each, whose steps run together because their experts exchange tokens. A
// step lasts as long as all ranks' work priced as one shape; a rank without work
// runs a dummy of the same padded size. Requests are spread as the client does, on
// counts that are always fresh: upstream's are up to 100 ms old, and a wave's up to
// 31 dummy steps after its last token are left out.
//
// Source: vllm/v1/engine/core.py:1985-2270, vllm/v1/engine/core_client.py:1472-1523,
// vllm/v1/worker/dp_utils.py. Rules kept: SIM-7, SIM-12.
type Ranks struct {
	ranks  []*Engine
	plan   *plan.PoolPlan
	pricer engines.Pricer
	depth  int

	tick   int // steps of the wave: an idle rank's count goes on
	next   int // where the client's scan starts
	routed []int
	home   map[engines.RequestID]int

	flights  [][]bool // which ranks take part, oldest first
	spare    [][]bool
	actions  []engines.Action
	shapes   []plan.StepShape
	steps    []engines.PricedStep
	admitted []engines.RequestID
	outcome  engines.Outcome
}

var _ engines.Engine = (*Ranks)(nil)

// unpriced stands in for the ranks' own pricers.
type unpriced struct{}

func (unpriced) Price(*plan.StepShape) plan.StepEstimate { return plan.StepEstimate{} }

// AssembleRanks builds n ranks of p.
func AssembleRanks(p Parts, n int) (*Ranks, error) {
	r := &Ranks{plan: p.Plan, pricer: p.Pricer, routed: make([]int, n), home: map[engines.RequestID]int{}, actions: make([]engines.Action, n)}
	p.Pricer = unpriced{}
	for range n {
		e, err := Assemble(p)
		if err != nil {
			return nil, err
		}
		r.ranks = append(r.ranks, e)
	}
	r.depth = r.ranks[0].loop.Depth()
	r.shapes = make([]plan.StepShape, len(r.ranks[0].shapes))
	r.steps = make([]engines.PricedStep, len(r.shapes))
	for k := range r.shapes {
		r.shapes[k] = plan.StepShape{Stage: k, Ranks: make([]plan.RankStep, n), Padded: make([]plan.PaddedShape, n)}
		r.steps[k].Shape = &r.shapes[k]
	}
	return r, nil
}

// Plan is the pool plan.
func (r *Ranks) Plan() *plan.PoolPlan { return r.plan }

// Submit routes a request and queues it there.
func (r *Ranks) Submit(q *engines.Request) *engines.Rejection {
	to := r.route()
	if no := r.ranks[to].Submit(q); no != nil {
		return no
	}
	r.home[q.ID] = to
	r.routed[to]++
	return nil
}

// route is the client's choice: the lowest score found first from a start that
// moves with every request.
func (r *Ranks) route() int {
	best, lowest := 0, 0.0
	for i := range r.ranks {
		at := (r.next + i) % len(r.ranks)
		s := r.ranks[at].Stats()
		score := float64(max(r.routed[at], s.Waiting+s.Running))
		if s.Waiting > 0 {
			score += float64(float64(6*s.Waiting) * max(0, s.KVUsage-0.5))
		}
		if i == 0 || score < lowest {
			best, lowest = at, score
		}
	}
	r.next = (r.next + 1) % len(r.ranks)
	return best
}

// Abort cancels a request where it was routed.
func (r *Ranks) Abort(id engines.RequestID) {
	if at, ok := r.home[id]; ok {
		r.ranks[at].Abort(id)
	}
}

// Poll launches one step on every rank that has work.
func (r *Ranks) Poll() engines.Action {
	if len(r.flights) == r.depth {
		return engines.Action{Do: engines.Wait}
	}
	taking := r.taking()
	any := false
	for i, e := range r.ranks {
		e.loop.Scheduler.SetTick(r.tick)
		r.actions[i] = e.Poll()
		taking[i] = r.actions[i].Do == engines.Launch
		any = any || taking[i]
	}
	if !any {
		r.spare = append(r.spare, taking)
		if len(r.flights) > 0 {
			return engines.Action{Do: engines.Wait}
		}
		r.tick = 0
		return engines.Action{Do: engines.Idle}
	}
	r.tick++
	r.flights = append(r.flights, taking)
	r.admitted = r.admitted[:0]
	empty := true
	for i := range r.actions {
		if taking[i] {
			r.admitted = append(r.admitted, r.actions[i].Batch.Admitted...)
			empty = empty && r.actions[i].Batch.Empty
		}
	}
	for k := range r.shapes {
		r.merge(k, taking)
		r.steps[k].Price = r.pricer.Price(&r.shapes[k])
	}
	return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: r.steps, Empty: empty, Admitted: r.admitted}}
}

func (r *Ranks) taking() []bool {
	if n := len(r.spare); n > 0 {
		t := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return t
	}
	return make([]bool, len(r.ranks))
}

// merge makes one shape of the ranks' shapes of stage k. All ranks pad to the
// largest and launch the way the least captured of them can
// (dp_utils.py, coordinate_batch_across_dp).
func (r *Ranks) merge(k int, taking []bool) {
	s := &r.shapes[k]
	s.Drafts = plan.DraftShape{}
	most, launch, mode := 0, plan.FullGraph, plan.Idle
	for i := range r.ranks {
		s.Ranks[i], s.Padded[i] = plan.RankStep{}, plan.PaddedShape{}
		if !taking[i] {
			continue
		}
		one := r.actions[i].Batch.Steps[k].Shape
		s.Ranks[i], s.Padded[i] = one.Ranks[0], one.Padded[0]
		s.Drafts.Proposed += one.Drafts.Proposed
		s.Drafts.Verified += one.Drafts.Verified
		if one.Padded[0].Tokens == 0 {
			continue
		}
		most, launch = max(most, one.Padded[0].Tokens), min(launch, one.Padded[0].Launch)
		switch {
		case mode == plan.Idle:
			mode = one.Mode
		case mode != one.Mode:
			mode = plan.Mixed
		}
	}
	s.Mode = mode
	for i := range s.Padded {
		s.Padded[i].Tokens, s.Padded[i].Launch = most, launch
	}
}

// Complete applies the oldest step on the ranks that took part.
func (r *Ranks) Complete(out *engines.Outcome) {
	taking := r.flights[0]
	r.flights = slices.Delete(r.flights, 0, 1)
	*out = engines.Outcome{Events: out.Events[:0], Preempted: out.Preempted[:0]}
	for i, e := range r.ranks {
		if taking[i] {
			e.Complete(&r.outcome)
			r.add(out, i)
		}
		s := e.Stats()
		out.Waiting += s.Waiting
		out.Running += s.Running
		out.KVUsage += s.KVUsage / float64(len(r.ranks))
	}
	r.spare = append(r.spare, taking)
}

func (r *Ranks) add(out *engines.Outcome, rank int) {
	o := &r.outcome
	out.Steady += o.Steady
	out.Scheduled += o.Scheduled
	out.Preempted = append(out.Preempted, o.Preempted...)
	out.PrefixHits.Queried += o.PrefixHits.Queried
	out.PrefixHits.Hit += o.PrefixHits.Hit
	for _, e := range o.Events {
		out.Events = append(out.Events, e)
		if e.Finish != engines.NotFinished {
			r.routed[rank]--
			delete(r.home, e.Request.ID)
		}
	}
}

// Stats adds the ranks' gauges; usage is their mean.
func (r *Ranks) Stats() engines.Stats {
	var all engines.Stats
	for _, e := range r.ranks {
		s := e.Stats()
		all.Running += s.Running
		all.Waiting += s.Waiting
		all.KVBlocks += s.KVBlocks
		all.KVUsage += s.KVUsage / float64(len(r.ranks))
	}
	return all
}
