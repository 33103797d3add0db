package sched

import (
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// Scheduler is the state of one scheduler process.
type Scheduler struct {
	c         Config
	cache     *kv.Cache
	events    *kv.Events
	ratio     ratio
	random    *twister
	waiting   []*Req
	running   *Batch
	last      *Batch // the batch before, as the loop left it
	chunked   *Req
	condemned bool // chunked was aborted
	slots     int  // free request slots
	entries   uint64
	results   uint64 // so far
	owed      int    // decode steps that go before the next prefill step
	steady    steady
	watch     Watcher
}

// Watcher is told what happens inside a pass. The oracle writes it down; an engine
// turns ends into outcomes.
type Watcher interface {
	Filling(a *Adder)                                          // an adder was made
	Tried(a *Adder, r *Req, v Verdict, chunked, admitted bool) // and asked
	Retracted(victims []*Req, ratio float64)
	Preempted(victims []*Req)
	Aborted(r *Req, why string) // left without a result: waiting or unable to fit
	Emitted(r *Req)             // got a token at a result; it may have ended with it
	Steady(n int)               // so many got one at a result and at the one before, and go on
	Published(events []kv.Event)
}

// New returns a scheduler with an empty queue. events may be nil.
func New(c Config, cache *kv.Cache, events *kv.Events, watch Watcher) *Scheduler {
	c.MixedChunk = c.MixedChunk && c.ChunkSize > 0
	return &Scheduler{
		c: c, cache: cache, events: events, ratio: newRatio(&c), random: newTwister(c.Seed),
		running: &Batch{Mode: Decode}, slots: c.MaxRunning, watch: watch,
		steady: newSteady(&c),
	}
}

// Cache, Ratio, Waiting, Running, Chunked and Slots show the state between calls.
func (s *Scheduler) Cache() *kv.Cache { return s.cache }
func (s *Scheduler) Ratio() float64   { return s.ratio.now }
func (s *Scheduler) Waiting() []*Req  { return s.waiting }
func (s *Scheduler) Running() *Batch  { return s.running }
func (s *Scheduler) Chunked() *Req    { return s.chunked }
func (s *Scheduler) Slots() int       { return s.slots }

// LastMode is what the iteration before launched; None when it launched nothing.
func (s *Scheduler) LastMode() Mode {
	if s.last == nil {
		return None
	}
	return s.last.Mode
}

// Live is the requests in the running batch, the batch before it and the one cut
// into chunks, ended ones left out: each has a slot.
func (s *Scheduler) Live() int { return s.c.MaxRunning - s.slots }

// Ratios are the reserve's initial and least value and its decay a step.
func (s *Scheduler) Ratios() (init, least, decay float64) {
	return s.ratio.init, s.ratio.min, s.ratio.decay
}

// Receive queues a request (scheduler.py handle_generate_request). A prompt that is
// too long runs as one token and ends aborted, as upstream. A full queue aborts it,
// or a worse one, through Watcher.Aborted.
func (s *Scheduler) Receive(r *Req) {
	if r.MaxNew == 0 {
		r.MaxNew = noMaxNew
	}
	room := s.c.TotalTokens - s.cache.Ceil(r.Input) - s.c.PageSize - 1
	r.MaxNew = max(0, min(r.MaxNew, s.c.MaxReqLen()-r.Input-1, room))
	if r.Input >= s.c.MaxReqInputLen() {
		r.Prompt, r.Input, r.ending = []engines.Segment{{Count: 1}}, 1, engines.Aborted
	}
	for _, run := range r.Prompt {
		r.content = kv.AppendRun(r.content, run)
	}
	s.enqueue(r)
}

// enqueue puts r at the tail of the queue, new or returning.
func (s *Scheduler) enqueue(r *Req) {
	s.entries++
	if s.c.MaxQueued > 0 && len(s.waiting)+1 > s.c.MaxQueued {
		if !s.replaceWorse(r) {
			s.end(r, "The request queue is full.")
			return
		}
	}
	r.entered = s.entries
	s.waiting = append(s.waiting, r)
}

// replaceWorse drops the least urgent waiting request when it is less urgent than r.
func (s *Scheduler) replaceWorse(r *Req) bool {
	if !s.c.Priorities || len(s.waiting) == 0 {
		return false
	}
	worst := 0
	for i, w := range s.waiting {
		o := s.waiting[worst]
		if d := s.urgency(w) - s.urgency(o); d > 0 || (d == 0 && w.entered > o.entered) {
			worst = i
		}
	}
	if s.urgency(r) >= s.urgency(s.waiting[worst]) {
		return false
	}
	w := s.waiting[worst]
	s.waiting = append(s.waiting[:worst], s.waiting[worst+1:]...)
	s.end(w, "The request is aborted by a higher priority request.")
	return true
}

func (s *Scheduler) end(r *Req, why string) {
	r.Finish = engines.Aborted
	s.watch.Aborted(r, why)
}

// Abort ends every request that match names (scheduler.py abort_request): a waiting
// one at once, the chunked one at the next pass, a running one at its next result.
func (s *Scheduler) Abort(match func(*Req) bool) {
	for i := len(s.waiting) - 1; i >= 0; i-- {
		if r := s.waiting[i]; match(r) {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			s.end(r, "")
		}
	}
	mark := func(b *Batch) {
		if b == nil {
			return
		}
		for _, r := range b.Reqs {
			if !r.done() && match(r) {
				r.ending, r.stint.ends, s.steady.ends = engines.Aborted, 0, 0
			}
		}
	}
	mark(s.running)
	if s.last != s.running {
		mark(s.last)
	}
	if c := s.chunked; c != nil && match(c) {
		c.ending, s.condemned = engines.Aborted, true
	}
}

// Next forms the next batch, nil when nothing can run (scheduler.py
// get_next_batch_to_run). The batch is the scheduler's own: a caller that lets more
// steps form before Process copies its requests.
func (s *Scheduler) Next() *Batch {
	s.endChunked()
	except := s.chunked
	if c := s.chunked; c != nil && c.filled() > c.hold.Prefix {
		s.cache.Store(&c.hold, c.key(c.filled()), c.Priority, true)
		c.extend = 0
	}
	s.mergeLast(except)
	b := s.prefillUnlessOwed()
	if b == nil && len(s.running.Reqs) > 0 {
		if s.update(); len(s.running.Reqs) > 0 {
			b = s.running
			b.Mode = Decode
		}
	}
	s.last = b
	return b
}

// endChunked tears down an aborted chunked request; chunks already stored stay.
func (s *Scheduler) endChunked() {
	c := s.chunked
	if c == nil || !s.condemned {
		return
	}
	s.chunked, s.condemned = nil, false
	s.cache.Release(&c.hold)
	s.freeSlot(c)
	s.end(c, "")
}

// mergeLast moves the prefilled requests of the batch before to the end of the
// running batch.
func (s *Scheduler) mergeLast(except *Req) {
	last := s.last
	if last == nil || last.Mode == Decode {
		return
	}
	if last.filter(except) {
		s.running.Full = false
	}
	s.steady.stale = true
	switch {
	case len(last.Reqs) == 0:
	case len(s.running.Reqs) == 0:
		s.running = last
	default:
		s.running.Reqs = append(s.running.Reqs, last.Reqs...)
	}
}

func (s *Scheduler) freeSlot(r *Req) {
	if r.slot {
		r.slot = false
		s.slots++
	}
}

// Idle is what an iteration without a batch or an open result does.
func (s *Scheduler) Idle() {
	if len(s.waiting) > 0 || len(s.running.Reqs) > 0 || s.chunked != nil {
		return
	}
	s.ratio.reset()
	s.publish()
}

func (s *Scheduler) publish() {
	if events := s.events.Take(); len(events) > 0 {
		s.watch.Published(events)
	}
}
