package sched

import "github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"

// scheduleRunning gives every running request, in order, the tokens it still lacks
// (scheduler.py:524-735).
func (s *Scheduler) scheduleRunning(b *Batch, left *budgets) {
	if s.cruise.on {
		s.walkCruising(b, left)
		return
	}
	s.walk(b, left, 0)
}

// walk visits the running requests from one on.
func (s *Scheduler) walk(b *Batch, left *budgets, from int) {
	for i := from; i < len(s.running) && left.tokens > 0; i++ {
		if left.input <= s.slots {
			return
		}
		r := s.running[i]
		if s.awaitsOutput(r) || s.deferring && r.chunk {
			continue
		}
		want := s.want(r, left)
		if want <= 0 {
			continue
		}
		for !s.schedule(b, left, r, want) {
			victim, at := s.victim()
			s.preempt(b, left, victim, at)
			if at <= i {
				i--
			}
			if victim == r {
				return
			}
		}
	}
}

// schedule takes r into the batch with want tokens if its blocks can be had.
func (s *Scheduler) schedule(b *Batch, left *budgets, r *Request, want int) bool {
	if !s.cache.Allocate(&r.Sequence, kv.Grant{New: want, Lookahead: s.lookahead}) {
		return false
	}
	left.charge(want, s.slots)
	e := Entry{Request: r, Tokens: want, Computed: r.Computed}
	if r.drafts > 0 {
		e.Drafts = min(max(want+r.Computed-r.Tokens-r.placeholders, 0), r.drafts)
		r.drafts = 0
	}
	b.Entries = append(b.Entries, e)
	return true
}

// awaitsOutput reports whether an asynchronous request has nothing to compute until
// an output in flight returns (scheduler.py:531-552).
func (s *Scheduler) awaitsOutput(r *Request) bool {
	if r.placeholders > 0 && r.Computed+2-r.placeholders >= r.limit() {
		return true
	}
	return s.config.Async && s.config.Runner == RunnerV2 && r.eligible > s.step
}

// want is how many tokens a running request takes in this step (scheduler.py:560-607).
func (s *Scheduler) want(r *Request, left *budgets) int {
	n := r.Tokens + r.drafts + r.placeholders - r.Computed
	n = s.clipLong(n)
	n = min(n, left.tokens, left.input-s.slots, s.config.MaxModelLen-r.Computed-1)
	if s.config.AlignedMamba {
		n = s.clipToStates(r, n, r.Computed)
	}
	return s.clipToModules(r, n, r.Computed)
}

// clipToModules keeps a prefill chunk from leaving fewer tokens than the drafter's
// modules need to look ahead (scheduler.py:456-475).
func (s *Scheduler) clipToModules(r *Request, n, computed int) int {
	left := r.Tokens - computed - n
	if ahead := s.config.Speculative.PrefillLookahead(); ahead > 1 && left > 0 && left < ahead {
		return max(n-(ahead-left), 0)
	}
	return n
}

func (s *Scheduler) clipLong(n int) int {
	if t := s.config.LongPrefillTokenThreshold; t > 0 && n > t {
		return t
	}
	return n
}

// clipToStates ends a prefill chunk where a mamba state can be kept: on a block
// boundary, on the last one before the prompt's end, or where another cached
// sequence parts from this one (scheduler.py:367-442).
func (s *Scheduler) clipToStates(r *Request, n, computed int) int {
	if computed >= max(r.Prompt, r.Tokens-1) {
		return n
	}
	size := s.config.BlockSize
	last := r.Tokens / size * size
	if s.config.Speculative.Eagle() {
		last = max(last-size, 0)
	}
	end := computed + n
	switch {
	case end < last:
		end = max(end/size*size, computed)
	case computed < last:
		end = last
	}
	if j := r.Junction(); computed < j && j < end {
		end = j
	}
	return end - computed
}

// victim picks the request to preempt and its place in running
// (scheduler.py:643-648). Equal keys leave the first in the list.
func (s *Scheduler) victim() (*Request, int) {
	last := len(s.running) - 1
	if s.config.Policy == FCFS {
		return s.running[last], last
	}
	at := 0
	for i, r := range s.running {
		v := s.running[at]
		if r.Priority > v.Priority || r.Priority == v.Priority && r.Arrival > v.Arrival {
			at = i
		}
	}
	return s.running[at], at
}

// preempt takes a victim out of running and, if this step had already scheduled
// it, out of the batch (scheduler.py:649-690, 1340-1381).
func (s *Scheduler) preempt(b *Batch, left *budgets, r *Request, at int) {
	for i := range b.Entries {
		if b.Entries[i].Request == r {
			left.charge(-b.Entries[i].Tokens, -s.slots)
			b.Entries = append(b.Entries[:i], b.Entries[i+1:]...)
			break
		}
	}
	copy(s.running[at:], s.running[at+1:])
	s.running[len(s.running)-1] = nil
	s.running = s.running[:len(s.running)-1]

	b.Preempted = append(b.Preempted, Victim{r, r.Computed})
	s.evictRunning(r)
}

// evictRunning returns a request that left running to the front of the waiting
// queue, without blocks and with its outputs.
func (s *Scheduler) evictRunning(r *Request) {
	s.cache.Free(&r.Sequence)
	r.stale = r.outputs
	r.Status = Preempted
	r.Computed, r.InFlight = 0, 0
	r.drafts, r.placeholders = 0, 0
	r.Preemptions++
	s.waiting.pushFront(r)
}
