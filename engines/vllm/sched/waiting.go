package sched

import "github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"

// scheduleWaiting admits waiting requests while they fit; the first that does not
// fit ends admission (scheduler.py:748-1166).
func (s *Scheduler) scheduleWaiting(b *Batch, left *budgets) {
	pad := s.padsDecodes(b)
	for left.tokens > 0 && left.input > s.slots && len(s.running)+s.sessions < s.config.MaxNumSeqs {
		q := s.head()
		if q == nil {
			break
		}
		r := q.peek()
		if s.passes(r) {
			q.remove(r)
			s.passed = append(s.passed, r)
			continue
		}
		if !s.admit(b, left, q, r, pad) {
			break
		}
	}
	for i := len(s.passed) - 1; i >= 0; i-- {
		s.skipped.pushFront(s.passed[i])
		s.passed[i] = nil
	}
	s.passed = s.passed[:0]
	if !s.deferring {
		s.leftWaiting = s.waiting.len()+s.skipped.len() > 0
	}
}

// head is the queue whose first request is next, nil when both are empty
// (scheduler.py:2156-2166).
func (s *Scheduler) head() queue {
	w, k := s.waiting.peek(), s.skipped.peek()
	switch {
	case k == nil && w == nil:
		return nil
	case k == nil:
		return s.waiting
	case w == nil || s.config.Policy == FCFS || k.before(w):
		return s.skipped
	}
	return s.waiting
}

// padsDecodes reports whether an admitted request with one token to compute is
// given draft placeholders, so that the batch stays uniform (scheduler.py:934-955).
func (s *Scheduler) padsDecodes(b *Batch) bool {
	if s.k == 0 || s.lookup != nil || len(b.Entries) == 0 {
		return false
	}
	for i := range b.Entries {
		if b.Entries[i].Request.chunk {
			return false
		}
	}
	return true
}

// admit moves r to running if this step can take it.
func (s *Scheduler) admit(b *Batch, left *budgets, q queue, r *Request, pad bool) bool {
	var hit *kv.Hit
	computed := r.Computed
	if computed == 0 {
		hit = s.cache.Lookup(&r.Sequence)
		computed = hit.Tokens
	}
	n, drafts := s.share(left, r, computed, pad)
	if n <= 0 || !s.cache.Allocate(&r.Sequence, kv.Grant{New: n, Hit: hit, Lookahead: s.lookahead,
		Whole: s.config.ReserveFullISL, Watermark: len(s.running) > 0}) {
		return false
	}
	q.remove(r)
	e := Entry{Request: r, Origin: FromWaiting, Tokens: n, Computed: computed, Drafts: drafts}
	if r.Status == Preempted {
		e.Origin = FromPreempted
	}
	if hit != nil {
		s.countLookup(r, computed)
	}
	if !r.admitted {
		r.admitted, r.Cached = true, computed
	}
	r.Status, r.Computed = Running, computed
	s.orders++
	r.order = s.orders
	s.running = append(s.running, r)
	if s.cruise.on {
		s.cruise.active = append(s.cruise.active, r)
	}
	left.charge(n, s.slots)
	b.Entries = append(b.Entries, e)
	return true
}

// share is how many tokens this step can give a request being admitted, drafts of
// them placeholders; 0 ends admission (scheduler.py:890-1000).
func (s *Scheduler) share(left *budgets, r *Request, computed int, pad bool) (n, drafts int) {
	n = r.Tokens - computed
	if s.deferring && n > 1 {
		return 0, 0
	}
	room := min(left.tokens, left.input-s.slots)
	if pad && n == 1 {
		n, drafts = 1+s.k, s.k
		if n > room || computed+n > s.config.MaxModelLen {
			return 0, 0
		}
	}
	n = s.clipLong(n)
	if !s.config.ChunkedPrefill && n > room {
		return 0, 0
	}
	n = min(n, room)
	if s.config.AlignedMamba {
		n = s.clipToStates(r, n, computed)
	}
	return s.clipToModules(r, n, computed), drafts
}

// countLookup counts the look-up of an admitted request (scheduler.py:1077-1081).
func (s *Scheduler) countLookup(r *Request, hit int) {
	if !s.config.PrefixCaching {
		return
	}
	p := &s.prefix
	if r.Preemptions > 0 {
		p.PreemptedRequests++
		p.PreemptedQueried += r.Tokens
		p.PreemptedHit += hit
		return
	}
	p.Requests++
	p.Queried += r.Tokens
	p.Hit += hit
}
