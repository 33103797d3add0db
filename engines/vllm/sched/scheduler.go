package sched

import (
	"sort"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

// Scheduler is the scheduler of one engine.
//
// Source: vllm/v1/core/sched/scheduler.py, async_scheduler.py.
type Scheduler struct {
	config    Config
	cache     *kv.Cache
	budget    int
	slots     int // input slots a request's drafting takes
	lookahead int
	k         int
	step      int

	waiting  queue
	skipped  queue // passed over in an earlier step
	running  []*Request
	passed   []*Request // passed over in this step
	finished []*Request // ended since the last batch
	prefix   PrefixStats
	orders   uint64 // admissions so far
	cruise   cruise

	pause       PauseState
	failed      []*Request // whose grammar did not compile
	adapters    []int
	sessions    int  // streaming sessions that wait for input; each takes a running slot
	tick        int  // of the prefill throttle
	deferring   bool // prefills wait in this step
	leftWaiting bool
	lookup      []int // drafts by requests in the step; nil is always k
}

// New checks a configuration as start-up does and builds its scheduler.
func New(config Config) (*Scheduler, error) {
	cacheConfig, err := config.check()
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		config: config, cache: kv.NewCache(*cacheConfig), budget: config.budget(),
		slots: config.Speculative.Slots(), lookahead: config.Speculative.Lookahead(), k: config.Speculative.K(),
		waiting: newQueue(config.Policy), skipped: newQueue(config.Policy),
	}
	s.lookup, err = config.Speculative.byRequests(config.MaxNumSeqs)
	if err != nil {
		return nil, err
	}
	s.startCruise()
	return s, nil
}

// Cache is the scheduler's KV cache.
func (s *Scheduler) Cache() *kv.Cache { return s.cache }

// Config is what the scheduler was built with.
func (s *Scheduler) Config() *Config { return &s.config }

// Add queues a new request.
func (s *Scheduler) Add(r *Request) {
	if r.Grammar != nil {
		r.Blocked = AwaitsGrammar
		s.skipped.push(r)
		return
	}
	s.waiting.push(r)
}

// Abort ends a request wherever it is; a finished one is left alone.
func (s *Scheduler) Abort(r *Request) {
	if r.Status == Finished {
		return
	}
	if r.Status == Running {
		if r.cruising {
			s.leave(r)
		}
		s.dropRunning(r)
	} else {
		if r.Blocked == AwaitsChunk {
			s.sessions--
		}
		r.queue.remove(r)
	}
	s.end(r, Aborted)
}

// end frees a request that is in no list any more.
func (s *Scheduler) end(r *Request, why Finish) {
	r.Status, r.Finish = Finished, why
	s.finished = append(s.finished, r)
	s.cache.Free(&r.Sequence)
}

// dropRunning takes r out of running.
func (s *Scheduler) dropRunning(r *Request) {
	i := s.indexOf(r)
	copy(s.running[i:], s.running[i+1:])
	s.running[len(s.running)-1] = nil
	s.running = s.running[:len(s.running)-1]
}

// indexOf finds r in running, which admission order sorts.
func (s *Scheduler) indexOf(r *Request) int {
	return sort.Search(len(s.running), func(i int) bool { return s.running[i].order >= r.order })
}

// Unfinished is the number of requests that could go on: idle sessions do not count,
// nor does what a pause holds back (scheduler.py:2474-2486).
func (s *Scheduler) Unfinished() int {
	switch s.pause {
	case PausedAll:
		return 0
	case PausedNew:
		return len(s.running)
	}
	return len(s.running) + s.waiting.len() + s.skipped.len() - s.sessions
}

// HasWork reports whether a Schedule call has anything to do, the passing on of
// ended requests included.
func (s *Scheduler) HasWork() bool { return s.Unfinished() > 0 || len(s.finished) > 0 }

// ResetPrefixCache forgets cached prefixes if no block is in use.
func (s *Scheduler) ResetPrefixCache() bool { return s.cache.Reset() }

// Counts are the lengths of the running, waiting and skipped lists.
func (s *Scheduler) Counts() (running, waiting, skipped int) {
	return len(s.running), s.waiting.len(), s.skipped.len()
}

// Running lists the running requests in order, with exact counts; the slice is the
// scheduler's own.
func (s *Scheduler) Running() []*Request {
	s.flushActive()
	return s.running
}

// Waiting appends the waiting and the skipped requests, each in queue order.
func (s *Scheduler) Waiting(waiting, skipped []*Request) ([]*Request, []*Request) {
	return s.waiting.appendTo(waiting), s.skipped.appendTo(skipped)
}

// Schedule fills b with the next step's work (scheduler.py:480-1240).
func (s *Scheduler) Schedule(b *Batch) {
	s.step++
	b.reset(s.step)
	s.cache.NewStep()
	s.deferring = s.defers()
	s.tick++
	if s.pause != PausedAll {
		left := budgets{tokens: s.budget, input: s.config.MaxNumBatchedTokens}
		s.scheduleRunning(b, &left)
		if len(b.Preempted) == 0 && s.pause == Unpaused {
			s.scheduleWaiting(b, &left)
		}
	} else {
		s.flushActive()
	}
	s.advance(b)
	s.settle(b)
	if len(s.finished) > 0 {
		b.Finished = append(b.Finished, s.finished...)
		clear(s.finished)
		s.finished = s.finished[:0]
	}
}

// budgets are what a step has left: tokens to schedule and input slots.
type budgets struct{ tokens, input int }

func (l *budgets) charge(tokens, slots int) {
	l.tokens -= tokens
	l.input -= tokens + slots
}

// advance counts the scheduled tokens as computed before the model runs
// (scheduler.py:1383-1419, async_scheduler.py:19-53).
func (s *Scheduler) advance(b *Batch) {
	drafts := s.draftsAfter(b)
	for i := range b.Entries {
		e := &b.Entries[i]
		r := e.Request
		b.Tokens += e.Tokens
		r.Computed += e.Tokens
		r.InFlight += e.Tokens
		r.Scheduled += e.Tokens
		r.pending++
		r.chunk = r.Computed < r.Tokens+r.placeholders
		e.Samples, e.epoch, e.Accepted = !r.chunk, r.Preemptions, 0
		if e.Samples {
			r.outputs++
		}
		if s.config.Async && e.Samples {
			r.placeholders += 1 + e.Drafts
			r.drafts = drafts
			r.eligible = s.step + max(s.config.PipelineParallel, 1)
		}
	}
}

// Budget is the token budget of a step.
func (s *Scheduler) Budget() int { return s.budget }
