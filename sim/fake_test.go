package sim

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// plainEngine is the smallest engine that keeps the contract of package engines:
// first come first served, chunked prefill under a token budget, a bound on
// running requests, whole-segment prefix reuse, no KV limit. It is written for
// clarity and serves as the reference of the driver's bookkeeping.
type plainEngine struct {
	plan             plan.PoolPlan
	budget, seqs     int
	depth            int
	every            bool
	longest          int // prompt tokens the front end accepts; 0 is any
	waiting, running []*plainRequest
	flights          []plainBatch
	hits             engines.PrefixCounters
	seen             map[engines.Segment]bool
	batch            int
	steps            []engines.PricedStep
	shape            plan.StepShape
}

type plainRequest struct {
	*engines.Request
	computed, inFlight int
	lastBatch          int // that emitted
	gone               bool
}

type plainEntry struct {
	r      *plainRequest
	tokens int
	emits  bool
}

type plainBatch struct {
	entries   []plainEntry
	scheduled int
}

func (e *plainEngine) Plan() *plan.PoolPlan { return &e.plan }

func (e *plainEngine) Submit(r *engines.Request) *engines.Rejection {
	if e.longest > 0 && r.PromptTokens() > e.longest {
		return &engines.Rejection{Reason: "the prompt is too long"}
	}
	e.waiting = append(e.waiting, &plainRequest{Request: r, lastBatch: -10})
	return nil
}

func (e *plainEngine) Abort(id engines.RequestID) {
	for _, list := range []*[]*plainRequest{&e.waiting, &e.running} {
		for i, r := range *list {
			if r.ID == id {
				r.gone = true
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				return
			}
		}
	}
}

func (e *plainEngine) Poll() engines.Action {
	if len(e.flights) == e.depth {
		return engines.Action{Do: engines.Wait}
	}
	b, admitted := e.schedule()
	switch {
	case b.scheduled > 0:
	case len(e.flights) > 0:
		return engines.Action{Do: engines.Wait}
	default:
		return engines.Action{Do: engines.Idle}
	}
	e.flights = append(e.flights, b)
	return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: e.price(&b), Admitted: admitted}}
}

// price is 2 ms, 0.1 ms a decoding request and 10 us a prompt token.
func (e *plainEngine) price(b *plainBatch) []engines.PricedStep {
	decoding, prompt := 0, 0
	for _, x := range b.entries {
		if x.tokens == 1 {
			decoding++
		} else {
			prompt += x.tokens
		}
	}
	seconds := 0.002 + float64(0.0001*float64(decoding)) + float64(0.00001*float64(prompt))
	e.shape = plan.StepShape{Mode: plan.Mixed}
	if prompt == 0 {
		e.shape.Mode = plan.DecodeOnly
	}
	e.steps = append(e.steps[:0], engines.PricedStep{Shape: &e.shape, Price: plan.StepEstimate{Total: quantity.Seconds(seconds), Method: plan.Assumed}})
	return e.steps
}

// schedule forms a batch: running requests first, then waiting ones.
func (e *plainEngine) schedule() (b plainBatch, admitted []engines.RequestID) {
	left := e.budget
	for _, r := range e.running {
		e.take(&b, r, &left)
	}
	for len(e.waiting) > 0 && left > 0 && len(e.running) < e.seqs {
		r := e.waiting[0]
		e.lookup(r)
		if !e.take(&b, r, &left) {
			break
		}
		admitted = append(admitted, r.ID)
		e.waiting = e.waiting[1:]
		e.running = append(e.running, r)
	}
	return b, admitted
}

func (e *plainEngine) take(b *plainBatch, r *plainRequest, left *int) bool {
	want := r.PromptTokens() - r.computed - r.inFlight
	decode := want <= 0
	if decode {
		if r.Token.Emitted+e.promised(r) >= outputs(r) {
			return false
		}
		want = 1
	}
	n := min(want, *left)
	if n == 0 {
		return false
	}
	*left -= n
	r.inFlight += n
	b.scheduled += n
	b.entries = append(b.entries, plainEntry{r, n, decode || n == want})
	return true
}

// promised is how many tokens the batches in flight will emit for r.
func (e *plainEngine) promised(r *plainRequest) int {
	n := 0
	for _, f := range e.flights {
		for _, x := range f.entries {
			if x.r == r && x.emits {
				n++
			}
		}
	}
	return n
}

func outputs(r *plainRequest) int {
	if r.StopAt > 0 {
		return r.StopAt
	}
	return r.MaxTokens
}

// lookup finds a first segment that was computed before, all but the prompt's last token.
func (e *plainEngine) lookup(r *plainRequest) {
	n := r.PromptTokens()
	e.hits.Queried += int64(n)
	if e.seen[r.Prompt[0]] {
		r.Token.CachedLocal = min(r.Prompt[0].Count, n-1)
		r.computed = r.Token.CachedLocal
		e.hits.Hit += int64(r.computed)
	}
	e.seen[r.Prompt[0]] = true
}

func (e *plainEngine) Complete(out *engines.Outcome) {
	b := e.flights[0]
	e.flights = e.flights[1:]
	e.batch++
	*out = engines.Outcome{Events: out.Events[:0], Scheduled: b.scheduled, PrefixHits: e.hits}
	e.hits = engines.PrefixCounters{}
	for _, x := range b.entries {
		e.apply(&x, out)
	}
	kept := e.running[:0]
	for _, r := range e.running {
		if !r.gone {
			kept = append(kept, r)
		}
	}
	e.running = kept
	out.Running, out.Waiting = len(e.running), len(e.waiting)
}

func (e *plainEngine) apply(x *plainEntry, out *engines.Outcome) {
	r := x.r
	r.inFlight -= x.tokens
	r.computed += x.tokens
	r.Token.Computed += x.tokens
	if r.gone || !x.emits {
		return
	}
	r.Token.Emitted++
	ev := engines.Event{Request: r.Request, Tokens: 1, First: r.Token.Emitted == 1, Gap: r.lastBatch == e.batch-1}
	r.lastBatch = e.batch
	switch {
	case r.Token.Emitted == r.StopAt:
		ev.Finish = engines.Stopped
	case r.Token.Emitted == r.MaxTokens:
		ev.Finish = engines.Length
	case ev.Gap && !e.every:
		out.Steady++
		return
	}
	r.gone = ev.Finish != engines.NotFinished
	out.Events = append(out.Events, ev)
}

func (e *plainEngine) Stats() engines.Stats {
	return engines.Stats{Running: len(e.running), Waiting: len(e.waiting), KVBlocks: 1000}
}

// plainKind makes plain engines from the arguments budget, seqs, depth, longest and chunk.
type plainKind struct{}

func (plainKind) Name() string { return "plain" }
func (plainKind) Upstream() engines.Upstream {
	return engines.Upstream{Repository: "none", Commit: "none", Version: "1"}
}
func (plainKind) Fields() *fields.List { return nil }

func (plainKind) Explain(spec engines.Spec, _ engines.Environment) ([]engines.Resolved, *plan.PoolPlan, error) {
	return []engines.Resolved{{Name: "budget", Value: "2048", Source: "default"}}, plainPlan(spec), nil
}

func argument(spec engines.Spec, name string, or int) int {
	if v, ok := spec.Args[name].(int); ok {
		return v
	}
	return or
}

func plainPlan(spec engines.Spec) *plan.PoolPlan {
	return &plan.PoolPlan{InFlight: argument(spec, "depth", 1), Layout: plan.Layout{Tensor: 2}, Host: plan.HostPlan{StreamInterval: argument(spec, "chunk", 1)}}
}

func (plainKind) New(spec engines.Spec, _ engines.Environment) (engines.Engine, error) {
	get := func(name string, or int) int { return argument(spec, name, or) }
	if get("seqs", 1) < 1 {
		return nil, &diag.Refusal{Field: "engine.args.seqs", Value: "0", Problem: "runs nothing"}
	}
	return &plainEngine{budget: get("budget", 2048), seqs: get("seqs", 128), depth: get("depth", 1), longest: get("longest", 0),
		every: spec.EveryToken, seen: map[engines.Segment]bool{}, plan: *plainPlan(spec)}, nil
}

// plainEnvironment answers nothing an engine could ask.
type plainEnvironment struct{ front cost.FrontEnd }

func (plainEnvironment) Model(string) (*catalog.Model, error)             { return nil, nil }
func (plainEnvironment) Chip(string) (*catalog.Chip, error)               { return nil, nil }
func (plainEnvironment) Pricer(*plan.PoolPlan) (engines.Pricer, error)    { return nil, nil }
func (w plainEnvironment) FrontEnd(*plan.PoolPlan) (cost.FrontEnd, error) { return w.front, nil }
func (plainEnvironment) Memory(*plan.PoolPlan) (plan.MemoryBreakdown, error) {
	return plan.MemoryBreakdown{}, nil
}
func (plainEnvironment) Transfer(*plan.PoolPlan, plan.Move) (plan.Demand, error) {
	return plan.Demand{}, nil
}
func (plainEnvironment) Acceptance(_, _ string, _ int) (engines.Acceptance, error) {
	return engines.Acceptance{}, nil
}

func plainWorld() World {
	return World{Kinds: []engines.Kind{plainKind{}}, Environment: plainEnvironment{}}
}
