package sched

// Update applies a completed batch: counts are corrected for rejected drafts,
// tokens appended, ended requests freed in scheduling order (scheduler.py:1737-2138).
func (s *Scheduler) Update(b *Batch, out *Output) {
	out.Events = out.Events[:0]
	out.Steady = b.Cruising
	out.Drafts.reset(s.k)
	for i := range b.Entries {
		e := &b.Entries[i]
		r := e.Request
		r.pending--
		if r.Status == Finished {
			continue
		}
		if e.epoch == r.Preemptions {
			r.InFlight -= e.Tokens
		}
		if e.Samples {
			s.sampled(b, e, out)
		}
	}
	s.failGrammars(out)
	out.Prefix, s.prefix = s.prefix, PrefixStats{}
	s.cruise.land(b)
}

// sampled appends the tokens of one entry and frees a request they end.
func (s *Scheduler) sampled(b *Batch, e *Entry, out *Output) {
	r := e.Request
	fresh := e.epoch == r.Preemptions
	r.outputs--
	if !fresh && r.dropped > 0 {
		r.dropped--
		return
	}
	if e.Drafts > 0 {
		s.verify(e, fresh)
		out.Drafts.observe(r.Grammar.cut(e.Drafts), e.Accepted)
	}
	n, why := s.emit(r, 1+e.Accepted)
	if !fresh {
		r.stale--
	} else if s.config.Async {
		r.placeholders -= n
		if r.Status == Running {
			s.cache.Store(&r.Sequence, r.Computed-r.placeholders)
		}
	}
	ev := Event{Request: r, Tokens: n, Finish: why, First: !r.reported, Gap: r.lastEmit == b.Step-1 && r.reported}
	r.lastEmit = b.Step
	if n == 1 && why == NotFinished && ev.Gap && !out.Verbose {
		out.Steady++
		return
	}
	if !r.reported {
		r.reported = true
		ev.Written = max(s.cache.Kept(&r.Sequence)-r.Cached, 0)
	}
	if why != NotFinished {
		if r.Status == Running {
			s.dropRunning(r)
		} else {
			r.queue.remove(r)
		}
		if why == Errored || !s.pauseSession(r) {
			s.end(r, why)
		}
	}
	out.Events = append(out.Events, ev)
}

// verify takes rejected drafts back out of the counts.
func (s *Scheduler) verify(e *Entry, fresh bool) {
	if !fresh {
		return
	}
	r, rejected := e.Request, e.Drafts-e.Accepted
	r.Computed -= min(rejected, r.Computed)
	r.placeholders -= min(rejected, r.placeholders)
}

// emit appends up to n tokens, ending at the first that stops the request
// (vllm/v1/core/sched/utils.py:94-130), and returns how many were kept.
func (s *Scheduler) emit(r *Request, n int) (int, Finish) {
	before := r.Outputs()
	n, why := s.stopAmong(r, n)
	if g := r.Grammar; g != nil && g.RejectAt > before && g.RejectAt <= r.Outputs() {
		why = Errored
	}
	return n, why
}

func (s *Scheduler) stopAmong(r *Request, n int) (int, Finish) {
	for i := 1; i <= n; i++ {
		r.Tokens++
		made := r.Outputs()
		switch {
		case made < r.MinTokens:
		case made == r.StopAt:
			return i, Stopped
		case r.Tokens >= s.config.MaxModelLen || made >= r.MaxTokens:
			return i, Length
		}
	}
	return n, NotFinished
}

// Propose hands over the drafts made after a batch, in synchronous mode: count says
// how many each of its requests got (vllm/v1/engine/core.py:615-622).
func (s *Scheduler) Propose(b *Batch, count func(*Request) int) {
	drafts := s.draftsAfter(b)
	for i := range b.Entries {
		r := b.Entries[i].Request
		if r.Status != Finished && !r.chunk {
			r.drafts = r.Grammar.cut(min(count(r), drafts))
		}
	}
}
