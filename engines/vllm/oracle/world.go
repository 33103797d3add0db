package oracle

// This file is the project's own: it replays recordings.

import (
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

// world plays a scenario: it feeds arrivals and aborts to the loop and answers each
// batch with the tokens the recorder's model would have sampled.
type world struct {
	scenario *scenario
	config   *settings
	hasher   *kv.Hasher
	interner kv.Interner
	events   recorder
	loop     *sched.Loop
	requests []*player
	byName   map[string]*player
	compact  bool
	second   bool // the trace is of the second set, which records more
	bare     bool // let requests cruise and record nothing but the end
}

// player is one request of the scenario.
type player struct {
	in *request
	sched.Request
	content  *content
	added    bool
	verified int         // speculative steps so far
	lengths  map[int]int // table length last recorded, by group
}

func newWorld(s *scenario, c *settings, bare bool) (*world, error) {
	hasher, err := kv.NewHasher(c.HashAlgo)
	if err != nil {
		return nil, err
	}
	w := &world{scenario: s, config: c, hasher: hasher, bare: bare, compact: s.Detail == "compact", byName: make(map[string]*player)}
	lowered, err := c.lower()
	if err != nil {
		return nil, err
	}
	lowered.Stepwise = !bare
	if c.KVEvents && !bare {
		w.events = recorder{world: w}
		lowered.Sink = &w.events
	}
	if w.loop, err = sched.NewLoop(*lowered); err != nil {
		return nil, err
	}
	unit := w.loop.Scheduler.Cache().Config().HashBlockSize
	for i := range s.Requests {
		w.add(i, &s.Requests[i], unit)
	}
	return w, nil
}

func (w *world) add(i int, r *request, unit int) {
	if r.OutStream == nil {
		stream := 50000 + i
		r.OutStream = &stream
	}
	stopAt := r.OutputLen
	if stopAt >= r.MaxTokens {
		stopAt = 0 // the recorder samples no end of sequence where the length limit ends the request
	}
	p := &player{in: r, content: newContent(r, stopAt, w.hasher, &w.interner, unit), lengths: make(map[int]int)}
	arrival := float64(r.ArrivalStep) + float64(0.001*float64(i))
	if r.ArrivalTime != nil {
		arrival = *r.ArrivalTime
	}
	p.Request = sched.Request{Name: r.ID, Priority: r.Priority, Arrival: arrival, MaxTokens: r.MaxTokens,
		MinTokens: r.MinTokens, StopAt: stopAt, Adapter: r.LoRA, Resumable: r.Resumable, Owner: p}
	if g := r.Structured; g != nil {
		p.Grammar = &sched.Grammar{Failed: g.Error, RejectAt: g.RejectAt, Drafts: -1}
		if g.ValidDrafts != nil {
			p.Grammar.Drafts = *g.ValidDrafts
		}
	}
	p.Prompt, p.Tokens, p.Hashes = p.content.prompt, p.content.prompt, p.content
	w.requests = append(w.requests, p)
	w.byName[r.ID] = p
}

// play answers a batch as the recorder's model did: the k-th verification of a
// request accepts the k-th number of the pattern, one just admitted accepts none.
func (w *world) play(b *sched.Batch) {
	d := w.config.Speculative
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Drafts == 0 || e.Origin != sched.FromRunning {
			continue
		}
		p := e.Request.Owner.(*player)
		e.Accepted = min(d.Accept[p.verified%len(d.Accept)], e.Drafts)
		p.verified++
	}
}

// propose is the number of drafts the recorder's drafter makes for a request.
func (w *world) propose(r *sched.Request) int {
	d := w.config.Speculative
	if len(d.DraftLen) == 0 {
		return d.Tokens
	}
	return d.DraftLen[(r.Outputs()-1)%len(d.DraftLen)]
}

// inputs applies what arrives before iteration i and returns its record.
func (w *world) inputs(i int) (in object, during []*player) {
	in = object{}
	for _, p := range w.requests {
		if !p.added && p.in.ArrivalStep <= i {
			p.added = true
			w.loop.Scheduler.Add(&p.Request)
			in.append("add", p.in.ID)
		}
	}
	for _, p := range w.requests {
		if p.in.AbortStep == nil || *p.in.AbortStep != i {
			continue
		}
		if p.in.AbortPhase == "during" {
			during = append(during, p)
			in.append("abort_during", p.in.ID)
			continue
		}
		w.abort(p)
		in.append("abort", p.in.ID)
	}
	for _, p := range w.requests {
		if g := p.in.Structured; g != nil && g.ReadyStep == i {
			p.Grammar.Ready = true
			in.append("grammar", p.in.ID)
		}
	}
	for k := range w.scenario.Ops {
		if o := &w.scenario.Ops[k]; o.at == i {
			in.append("ops", w.operate(o))
		}
	}
	for _, at := range w.scenario.ResetSteps {
		if at == i {
			in["reset"] = w.loop.Scheduler.ResetPrefixCache()
		}
	}
	return in, during
}

func (w *world) abort(p *player) {
	if p.added {
		w.loop.Scheduler.Abort(&p.Request)
	}
}

// pending reports whether any input is still to come.
func (w *world) pending(i int) bool {
	for _, p := range w.requests {
		if !p.added || p.in.AbortStep != nil && *p.in.AbortStep > i && p.Status != sched.Finished {
			return true
		}
	}
	for _, o := range w.scenario.Ops {
		if o.at > i {
			return true
		}
	}
	return false
}

// run plays the scenario and returns the steps, how it ended and the final state.
func (w *world) run() (steps []any, ended string, final object) {
	limit := w.scenario.MaxSteps
	if limit == 0 {
		limit = 5000
	}
	idle := 0
	ended = "max_steps"
	for i := 0; i < limit; i++ {
		in, during := w.inputs(i)
		if !w.loop.Busy() {
			if w.second && len(in) > 0 {
				steps = append(steps, object{"i": i, "in": in})
			}
			if !w.pending(i) {
				ended = "drained"
				break
			}
			continue
		}
		step, changed := w.iterate(i, during)
		if len(in) > 0 {
			step["in"] = in
		}
		steps = append(steps, step)
		idle++
		if changed || len(in) > 0 || w.pending(i) {
			idle = 0
		}
		if idle == 3 && w.loop.Scheduler.Unfinished() > 0 {
			ended = "stuck"
			break
		}
	}
	return steps, ended, w.final()
}

// iterate runs one loop iteration and records it; changed is false when it neither
// scheduled, passed on nor awaited anything.
func (w *world) iterate(i int, during []*player) (step object, changed bool) {
	step = object{"i": i}
	b := w.loop.Launch()
	if b != nil {
		w.play(b)
		if !w.bare {
			w.recordLaunch(step, b)
		}
		changed = len(b.Finished) > 0 || w.loop.Tokens() > 0
	}
	if b == nil || w.loop.Waits() {
		for _, p := range during {
			w.abort(p)
		}
		during = nil
		changed = w.complete(step) || changed
	}
	for _, p := range during {
		w.abort(p)
	}
	if !w.bare {
		step["st"] = w.recordState(step["u"] != nil)
	}
	return step, changed
}

// complete applies the oldest batch and records it; it reports whether the batch
// held any work.
func (w *world) complete(step object) bool {
	b := w.loop.Oldest()
	if b == nil {
		return false
	}
	out := sched.Output{Verbose: !w.bare}
	w.loop.Complete(&out)
	if w.config.Speculative != nil && !w.config.AsyncScheduling {
		w.loop.Scheduler.Propose(b, w.propose)
	}
	if !w.bare {
		step["u"] = []any{w.recordUpdate(b, &out)}
	}
	return b.Tokens > 0
}
