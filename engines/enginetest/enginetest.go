// Package enginetest is the conformance suite every engine port runs: progress,
// conservation of tokens and blocks, pools that fit exactly and by one block too
// few, steps that change nothing, reuse of identifiers, and random scenarios.
//
// In: a Maker that builds an engine of a given Setup. Out: test failures. It knows
// nothing of any engine beyond the contract in package engines. Rules kept: DEV-5,
// SIM-7, SIM-8, SIM-12, SUB-10.
package enginetest

import (
	"fmt"
	"io"

	"github.com/inference-sim/accuracy-dashboard/engines"
)

// Setup is the part of a configuration the suite varies.
type Setup struct {
	Blocks      int // usable KV blocks
	BlockTokens int
	MaxSeqs     int
	StepTokens  int // token budget of a step
	MaxLength   int // prompt and output together
	Caching     bool
	Async       bool // batches overlap
	Pipeline    int
	Priority    bool
	Drafts      int    // speculative tokens; 0 is none
	Shape       string // attention layout: one of Shapes
	Plain       bool   // visit every request in every step
}

// Shapes are the attention layouts of SUB-10 and the ordinary one. A Maker refuses
// those its engine refuses.
func Shapes() []string {
	return []string{"full", "one-layer", "all-windowed", "all-recurrent", "mixed-windowed", "chunked-local", "recurrent-and-full", "draft-last", "no-attention"}
}

// Maker builds an engine, or refuses a Setup.
type Maker func(Setup) (engines.Engine, error)

// Arrival is a request and when it comes, in completed batches.
type Arrival struct {
	At      int
	Request engines.Request
	AbortAt int  // in completed batches; 0 is never
	During  bool // the abort comes while a batch runs
}

// Result is what a drive saw.
type Result struct {
	Batches   int
	Scheduled int
	Emitted   int
	Rejected  int
	Ended     map[engines.RequestID]engines.Finish
}

// stall is how many batches in a row may pass without a token before a drive gives
// up.
const stall = 50

// Drive feeds the arrivals to e and runs it until all have ended, checking the
// contract on the way. Each batch and outcome is written to log, which may be nil.
func Drive(e engines.Engine, arrivals []Arrival, log io.Writer) (*Result, error) {
	d := &drive{engine: e, arrivals: arrivals, log: log,
		result: Result{Ended: make(map[engines.RequestID]engines.Finish)}}
	for d.next < len(arrivals) || len(d.result.Ended)+d.result.Rejected < len(arrivals) {
		if err := d.turn(); err != nil {
			return &d.result, fmt.Errorf("batch %d: %w", d.result.Batches, err)
		}
	}
	for len(d.empty) > 0 || d.poll() {
		if err := d.complete(); err != nil {
			return &d.result, err
		}
	}
	return &d.result, d.settled()
}

type drive struct {
	engine   engines.Engine
	arrivals []Arrival
	next     int
	log      io.Writer
	empty    []bool // of each batch in flight, oldest first: announced as changing nothing
	quiet    int
	outcome  engines.Outcome
	result   Result
	fault    error
}

// turn hands over what is due, launches what can be launched and completes a batch.
func (d *drive) turn() error {
	if len(d.empty) == 0 && d.next < len(d.arrivals) && len(d.result.Ended)+d.result.Rejected == d.next {
		d.result.Batches = max(d.result.Batches, d.arrivals[d.next].At)
	}
	for ; d.next < len(d.arrivals) && d.arrivals[d.next].At <= d.result.Batches; d.next++ {
		if no := d.engine.Submit(&d.arrivals[d.next].Request); no != nil {
			d.result.Rejected++
		}
	}
	d.aborts(false)
	d.poll()
	if d.fault != nil {
		return d.fault
	}
	d.aborts(true)
	if len(d.empty) == 0 {
		d.quiet++
		d.result.Batches++
		if d.quiet > stall {
			return fmt.Errorf("idle with %d requests unfinished", d.next-len(d.result.Ended)-d.result.Rejected)
		}
		return nil
	}
	return d.complete()
}

func (d *drive) aborts(during bool) {
	for i := range d.arrivals[:d.next] {
		a := &d.arrivals[i]
		if a.AbortAt > 0 && a.AbortAt <= d.result.Batches && a.During == during {
			d.engine.Abort(a.Request.ID)
			a.AbortAt = 0
		}
	}
}

// poll launches until the engine waits; it reports whether a batch is in flight.
func (d *drive) poll() bool {
	for full := false; ; {
		a := d.engine.Poll()
		if full && a.Do != engines.Wait {
			d.fault = fmt.Errorf("Poll says %d after a launch that said it would wait", a.Do)
		}
		if full = a.Full; a.Do != engines.Launch {
			if (a.Do == engines.Wait) != (len(d.empty) > 0) {
				d.fault = fmt.Errorf("Poll says %d with %d batches in flight", a.Do, len(d.empty))
			}
			return len(d.empty) > 0
		}
		d.empty = append(d.empty, a.Batch.Empty)
		if most := max(1, d.engine.Plan().InFlight); len(d.empty) > most {
			d.fault = fmt.Errorf("%d batches in flight, the plan allows %d", len(d.empty), most)
			return true
		}
		d.write("launch %+v admitted %v empty %v\n", *a.Batch.Steps[0].Shape, a.Batch.Admitted, a.Batch.Empty)
	}
}

// complete applies the oldest batch and checks its outcome.
func (d *drive) complete() error {
	o := &d.outcome
	d.engine.Complete(o)
	empty := d.empty[0]
	d.empty = d.empty[1:]
	d.result.Batches++
	d.result.Scheduled += o.Scheduled
	d.result.Emitted += o.Steady
	d.write("outcome steady %d scheduled %d running %d waiting %d usage %v preempted %v hits %+v\n",
		o.Steady, o.Scheduled, o.Running, o.Waiting, o.KVUsage, o.Preempted, o.PrefixHits)
	for i := range o.Events {
		if err := d.event(&o.Events[i]); err != nil {
			return err
		}
	}
	return d.sane(o, empty)
}

func (d *drive) event(ev *engines.Event) error {
	d.write("event %d tokens %d first %v finish %d gap %v record %+v\n", ev.Request.ID, ev.Tokens, ev.First, ev.Finish, ev.Gap, ev.Request.Token)
	d.result.Emitted += ev.Tokens
	id := ev.Request.ID
	if _, ended := d.result.Ended[id]; ended {
		return fmt.Errorf("request %d reported after its end", id)
	}
	if ev.Finish == engines.NotFinished {
		return nil
	}
	d.result.Ended[id] = ev.Finish
	return nil
}

func (d *drive) sane(o *engines.Outcome, announced bool) error {
	d.quiet++
	if o.Steady > 0 || len(o.Events) > 0 || o.Scheduled > 0 {
		d.quiet = 0
	}
	switch {
	case d.quiet > 0 && !announced:
		return fmt.Errorf("a batch changed no request and was not announced as empty: %+v (DEV-5)", *o)
	case o.Scheduled > 0 && announced:
		return fmt.Errorf("a batch of %d tokens was announced as empty (DEV-5)", o.Scheduled)
	case d.quiet > stall:
		return fmt.Errorf("%d batches without a scheduled token, %d running, %d waiting", d.quiet, o.Running, o.Waiting)
	case o.Steady < 0 || o.Scheduled < 0 || o.Running < 0 || o.Waiting < 0:
		return fmt.Errorf("negative count in %+v", *o)
	case o.KVUsage < 0 || o.KVUsage > 1:
		return fmt.Errorf("KV usage %v", o.KVUsage)
	}
	return d.fault
}

// settled checks the books once every request has ended.
func (d *drive) settled() error {
	if s := d.engine.Stats(); s.Running != 0 || s.Waiting != 0 || s.KVUsage != 0 {
		return fmt.Errorf("after the last request: %+v", s)
	}
	emitted, computed := 0, 0
	for i := range d.arrivals {
		a := &d.arrivals[i]
		t := a.Request.Token
		emitted += t.Emitted
		computed += t.Computed
		if err := lifetime(a, d.result.Ended[a.Request.ID]); err != nil {
			return err
		}
	}
	if emitted != d.result.Emitted {
		return fmt.Errorf("records count %d emitted tokens, outcomes %d", emitted, d.result.Emitted)
	}
	if computed != d.result.Scheduled {
		return fmt.Errorf("records count %d computed tokens, outcomes %d", computed, d.result.Scheduled)
	}
	return nil
}

// lifetime checks one request's record against how it ended.
func lifetime(a *Arrival, end engines.Finish) error {
	r := &a.Request
	t := r.Token
	stop := r.StopAt
	if r.IgnoreEOS || stop < r.MinTokens {
		stop = 0
	}
	switch {
	case end == engines.Stopped && t.Emitted != stop,
		end == engines.Length && r.MaxTokens > 0 && t.Emitted > max(r.MaxTokens, r.MinTokens),
		end == engines.Length && stop > 0 && t.Emitted >= max(stop, 1) && stop < r.MaxTokens:
		return fmt.Errorf("request %d ended %d after %d tokens (stop %d, limit %d)", r.ID, end, t.Emitted, stop, r.MaxTokens)
	case t.Computed < 0 || t.CachedLocal < 0 || t.CachedLocal >= max(t.Prompt, 1):
		return fmt.Errorf("request %d: record %+v", r.ID, t)
	}
	return nil
}

func (d *drive) write(format string, args ...any) {
	if d.log != nil {
		fmt.Fprintf(d.log, format, args...)
	}
}
