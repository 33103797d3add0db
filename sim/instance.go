package sim

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// instance is one engine as a component: it advances time by the prices of the
// engine's batches and hands the engine its inputs.
//
// Inputs are handed over when they arrive, and take effect where the engine reads
// its input queue. An input that arrives at the instant a batch ends is read after
// the batch's output is processed and before the next batch is formed: upstream's
// order there is a race between its threads (DEV-3).
type instance struct {
	index    int
	engine   engines.Engine
	client   des.ID // the generator
	log      *stepLog
	observer Observer

	held     table
	flights  flights
	stages   []des.Time // when each pipeline stage is free
	idle     bool       // the last Poll found nothing to do
	poll     bool       // this instant's transition runs the engine's loop
	ends     []message  // to be sent
	now      des.Time
	outcome  engines.Outcome
	ended    history // when each batch ended
	launches int     // batches so far
	spent    []spent
	pool     *pool
	chunk    int // tokens a streamed chunk carries
	stalled  int // batches in a row that changed nothing
	fault    *error
}

// stallLimit is how many batches in a row may change nothing (SIM-7).
const stallLimit = 1000

func newInstance(index int, e engines.Engine, client des.ID, log *stepLog, m *model) *instance {
	p := e.Plan()
	return &instance{index: index, engine: e, client: client, log: log, observer: m.world.Observer, fault: &m.fault, idle: true,
		pool: &m.pool, chunk: max(1, p.Host.StreamInterval), flights: make(flights, 0, max(1, p.InFlight)), stages: make([]des.Time, max(1, p.Layout.Pipeline))}
}

// Next is the end of the oldest batch in flight, or now when there are ends to tell.
func (n *instance) Next() des.Time {
	switch {
	case len(n.ends) > 0:
		return n.now
	case len(n.flights) > 0:
		return n.flights[0].end
	}
	return des.Never
}

// Output completes a batch that ends now and tells the client who ended.
func (n *instance) Output(now des.Time, out *outbox) {
	n.now = now
	if len(n.flights) > 0 && n.flights[0].end == now {
		n.complete(now)
		n.poll = true
	}
	for i := range n.ends {
		out.Send(n.client, classEnd, n.ends[i])
		n.ends[i] = message{}
	}
	n.ends = n.ends[:0]
}

// Internal lets the engine go on after a batch.
func (n *instance) Internal(now des.Time) { n.run(now) }

// External takes inputs in.
func (n *instance) External(now des.Time, b bag) {
	n.now = now
	for i := range b {
		r := b[i].Body.request
		if b[i].Class == classAbort {
			n.abort(r)
		} else {
			n.submit(r, now)
		}
	}
	n.run(now)
}

// Confluent has completed the batch in Output; inputs come next, then the loop.
func (n *instance) Confluent(now des.Time, b bag) { n.External(now, b) }

func (n *instance) submit(r *request, now des.Time) {
	if err := n.held.add(r); err != nil {
		n.fail(err)
		return
	}
	r.arrived = now
	if no := n.engine.Submit(&r.engine); no != nil {
		n.held.remove(r)
		r.reason = no.Reason
		n.ends = append(n.ends, message{r, dropped})
		return
	}
	n.poll = n.poll || n.idle
}

// abort forgets r at once; what the engine still says of it is ignored.
func (n *instance) abort(r *request) {
	if n.held.find(r.engine.ID) != r {
		return // it ended at this instant
	}
	n.engine.Abort(r.engine.ID)
	n.held.remove(r)
	n.poll = n.poll || n.idle
}

// run is the engine's loop up to where it waits.
func (n *instance) run(now des.Time) {
	for n.poll && *n.fault == nil {
		switch a := n.engine.Poll(); a.Do {
		case engines.Launch:
			n.launch(now, &a.Batch)
			n.idle, n.poll = false, !a.Full
		default:
			n.idle, n.poll = a.Do == engines.Idle, false
			if n.idle && len(n.flights) > 0 || !n.idle && len(n.flights) == 0 {
				n.fail(fmt.Errorf("the engine waits for a batch that is not there, or idles beside one"))
			}
		}
	}
}

// launch prices a batch and puts it in flight: stage k starts when stage k-1 of
// this batch and stage k of the batch before have ended.
func (n *instance) launch(now des.Time, b *engines.Batch) {
	if len(n.flights) == cap(n.flights) {
		n.fail(fmt.Errorf("more than %d batches in flight", cap(n.flights)))
		return
	}
	t := now
	for k := range b.Steps {
		s := &b.Steps[k]
		t = max(t, n.stages[k]) + ticks(s.Price.Total)
		n.stages[k] = t
		n.log.priced(s)
	}
	if len(n.flights) == 0 {
		n.log.busySince = now
	}
	f := flight{launched: now, end: t, empty: b.Empty}
	if len(b.Steps) > 0 && b.Steps[0].Shape != nil {
		f.mode = b.Steps[0].Shape.Mode
	}
	n.flights = append(n.flights, f)
	n.launches++
	n.log.depth = max(n.log.depth, len(n.flights))
	for _, id := range b.Admitted {
		if r := n.held.find(id); r != nil {
			r.launched = now
		}
	}
}

// complete applies the oldest batch.
func (n *instance) complete(now des.Time) {
	f := n.flights.pop()
	o := &n.outcome
	n.engine.Complete(o)
	gap := n.ended.add(now)
	if n.ended.long() {
		n.ended.forget(n.held.oldestEvent(n.ended.count))
	}
	n.recycle()
	n.log.completed(now, &f, o, len(n.flights) == 0)
	n.log.gaps(now, gap, int64(o.Steady))
	for i := range o.Events {
		n.event(now, gap, &o.Events[i])
	}
	n.watch(&f, o)
	if n.observer != nil {
		n.observer.Batch(BatchRecord{Instance: n.index, Launched: f.launched, End: f.end, Mode: modeNames[f.mode], Tokens: o.Scheduled,
			Running: o.Running, Waiting: o.Waiting, KVUsage: o.KVUsage})
	}
}

// event writes down one request's part in a batch.
func (n *instance) event(now, gap des.Time, e *engines.Event) {
	r := n.held.find(e.Request.ID)
	if r == nil {
		return // aborted
	}
	if e.Tokens > 0 {
		switch {
		case n.chunk > 1:
			n.stream(now, r, e)
		case e.First:
			r.first = now
		case e.Gap:
			n.log.gaps(now, gap, 1)
		default:
			n.log.gaps(now, now-n.tokenTime(r, e.Request.Token.Emitted-e.Tokens), 1)
		}
		r.last, r.event, r.emitted = now, n.ended.count-1, e.Request.Token.Emitted
	}
	if e.Finish == engines.NotFinished {
		return
	}
	n.held.remove(r)
	outcome := completed
	if e.Finish == engines.Aborted {
		outcome, r.reason = dropped, "aborted by the engine"
	} else if r.deadline == des.Never {
		n.spent = append(n.spent, spent{r, n.launches})
	}
	n.ends = append(n.ends, message{r, outcome})
}

// stream sends r's tokens on in chunks: the first token alone, then as many as a chunk
// carries, and with the last token what is left (vllm/v1/engine/output_processor.py;
// SGLang's scheduler does the same; inferred, no recording has a stream interval).
func (n *instance) stream(now des.Time, r *request, e *engines.Event) {
	emitted := e.Request.Token.Emitted
	if e.First {
		r.first = now
	} else if emitted-r.streamed < n.chunk && e.Finish == engines.NotFinished {
		return
	} else {
		n.log.gaps(now, now-r.chunkTime, 1)
	}
	r.streamed, r.chunkTime = emitted, now
}

// tokenTime is when r's token number emitted came: every token after its last
// event came with one more batch.
func (n *instance) tokenTime(r *request, emitted int) des.Time {
	return n.ended.at(r.event + emitted - r.emitted)
}

// watch fails a run whose engine takes a step that changes nothing without having said
// so (DEV-5), or that many in a row (SIM-7).
func (n *instance) watch(f *flight, o *engines.Outcome) {
	switch {
	case o.Scheduled > 0 || o.Steady > 0 || len(o.Events) > 0:
		n.stalled = 0
	case !f.empty:
		n.fail(fmt.Errorf("a batch changed no request and was not announced as empty, %d wait and %d run (DEV-5)", o.Waiting, o.Running))
	default:
		if n.stalled++; n.stalled > stallLimit {
			n.fail(fmt.Errorf("%d batches in a row changed no request while %d wait and %d run (SIM-7)", n.stalled, o.Waiting, o.Running))
		}
	}
}

func (n *instance) fail(err error) {
	if *n.fault == nil {
		*n.fault = fmt.Errorf("sim: instance %d at %d us: %w", n.index, n.now, err)
	}
	n.poll = false
}

// flight is one batch in flight.
type flight struct {
	launched, end des.Time
	mode          plan.StepMode
	empty         bool
}

// flights is in order of launch, and so of end.
type flights []flight

func (f *flights) pop() flight {
	all := *f
	oldest, last := all[0], len(all)-1
	for i := range last {
		all[i] = all[i+1]
	}
	*f = all[:last]
	return oldest
}
