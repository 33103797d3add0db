package sched

import "slices"

// prefillUnlessOwed is prefill, deferred while decode steps are owed
// (prefill_decode_interval; inferred beyond its being a count of credits).
func (s *Scheduler) prefillUnlessOwed() *Batch {
	if s.owed > 0 && len(s.running.Reqs) > 0 {
		s.owed--
		return nil
	}
	b := s.prefill()
	if b != nil {
		s.owed = s.c.DecodeCredits
	}
	return b
}

// prefill forms a batch that computes prompt tokens, nil when none can be formed
// (scheduler.py _get_new_batch_prefill_raw).
func (s *Scheduler) prefill() *Batch {
	preempting := s.c.Priorities && !s.c.NoPreemption
	if preempting {
		s.running.Full = false
	}
	if (s.running.Full || len(s.waiting) == 0) && s.chunked == nil {
		return nil
	}
	if s.allocatable() <= 0 && s.chunked == nil && !preempting {
		s.running.Full = true
		return nil
	}
	s.order()
	a := s.newAdder()
	s.watch.Filling(a)
	if c := s.chunked; c != nil {
		s.chunked = a.addChunked(c)
		s.watch.Tried(a, c, Continue, true, true)
	}
	s.admit(a, preempting)
	if len(a.preempted) > 0 {
		s.watch.Preempted(a.preempted)
	}
	for _, r := range a.preempted { // also when who they made room for did not fit
		s.enqueue(r)
	}
	if len(a.run) == 0 {
		return nil
	}
	return s.launch(a)
}

// allocatable is how many requests may still be admitted: finished ones count until
// they are filtered, but their slots are free.
func (s *Scheduler) allocatable() int { return min(s.c.MaxRunning-len(s.running.Reqs), s.slots) }

// admit walks the waiting queue until a request does not fit, and takes those that
// do out of it: they are its head.
func (s *Scheduler) admit(a *Adder, preempting bool) {
	running, before := len(s.running.Reqs), len(a.run)
	defer func() { s.waiting = slices.Delete(s.waiting, 0, len(a.run)-before) }()
	for _, r := range s.waiting {
		if len(a.run) >= min(s.c.MaxRunning-running, s.slots) {
			s.running.Full = true
		}
		if s.running.Full && (!preempting || !a.preemptFor(r)) {
			return
		}
		s.cache.Match(&r.hold, r.key(r.length()-1))
		r.cached = r.hold.Prefix
		r.extend = r.length() - r.hold.Prefix
		admitted := len(a.run)
		v := a.add(r)
		s.watch.Tried(a, r, v, false, len(a.run) > admitted)
		if v != Continue {
			if v == NoToken {
				s.running.Full = true
			}
			return
		}
	}
}

// launch gives the admitted memory and, with mixed chunks, lets the running requests
// decode in the same step.
func (s *Scheduler) launch(a *Adder) *Batch {
	if a.newChunked != nil {
		s.chunked = a.newChunked
	}
	if s.chunked != nil {
		s.chunked.chunks++
	}
	b := &Batch{Reqs: a.run, Mode: Extend}
	s.allocate(b)
	if s.c.MixedChunk && len(s.running.Reqs) > 0 {
		s.mix(b)
	}
	return b
}

// allocate evicts for and takes the slots of a prefill (mem_cache/allocation.py).
func (s *Scheduler) allocate(b *Batch) {
	need := 0
	for _, r := range b.Reqs {
		need += r.extend
	}
	if s.c.PageSize > 1 {
		need += len(b.Reqs) * s.c.PageSize
	}
	s.cache.Reserve(need)
	for _, r := range b.Reqs {
		if !r.slot {
			r.slot = true
			s.slots--
		}
		r.retracted = false
		b.Prefix, b.Tokens = append(b.Prefix, r.hold.Prefix), append(b.Tokens, r.extend)
		s.cache.Extend(&r.hold, r.filled())
	}
}

// mix appends the running requests to a prefill batch, one token each. The running
// batch is left empty with its flag, and nothing is checked or retracted: admission
// kept a token for each. With larger pages that can be too little; upstream then
// dies ("out of memory"), the port lets them sit out the step.
func (s *Scheduler) mix(b *Batch) {
	s.running.filter(nil)
	for _, r := range s.running.Reqs {
		s.leave(r)
	}
	s.cache.Reserve(len(s.running.Reqs) * s.c.PageSize)
	if s.cache.Free() < s.needed(s.running.Reqs) {
		return
	}
	s.grow(s.running)
	for _, r := range s.running.Reqs {
		b.Reqs = append(b.Reqs, r)
		b.Prefix, b.Tokens = append(b.Prefix, r.hold.Committed-1), append(b.Tokens, 1)
		b.Decoding++
	}
	if b.Decoding > 0 {
		b.Mode = Mixed
	}
	s.running = &Batch{Mode: Decode, Full: s.running.Full}
}
