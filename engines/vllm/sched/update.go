package sched

// Update applies a completed batch: counts are corrected for rejected drafts,
// tokens appended, ended requests freed in scheduling order (scheduler.py:1737-2138).
func (s *Scheduler) Update(b *Batch, out *Output) {
	out.Events = out.Events[:0]
	out.Drafts.reset(s.k)
	ended := false
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
		if !e.Samples {
			continue
		}
		ended = s.sampled(e, out) || ended
	}
	if ended {
		s.dropEnded()
	}
	out.Prefix, s.prefix = s.prefix, PrefixStats{}
}

// sampled appends the tokens of one entry and reports whether r ended while running.
func (s *Scheduler) sampled(e *Entry, out *Output) bool {
	r := e.Request
	fresh := e.epoch == r.Preemptions
	if e.Drafts > 0 {
		rejected := e.Drafts - e.Accepted
		if fresh {
			r.Computed -= min(rejected, r.Computed)
			r.placeholders -= min(rejected, r.placeholders)
		}
		out.Drafts.observe(e.Drafts, e.Accepted)
	}
	n, why := s.emit(r, 1+e.Accepted)
	r.outputs--
	if !fresh {
		r.stale--
	} else if s.config.Async {
		r.placeholders -= n
		if r.Status == Running {
			s.cache.Store(&r.Sequence, r.Computed-r.placeholders)
		}
	}
	ev := Event{Request: r, Tokens: n, Finish: why, First: !r.reported}
	if !r.reported {
		r.reported = true
		ev.Written = max(s.cache.Kept(&r.Sequence)-r.Cached, 0)
	}
	wasRunning := r.Status == Running
	if why != NotFinished {
		if !wasRunning {
			r.queue.remove(r)
		}
		s.end(r, why)
	}
	out.Events = append(out.Events, ev)
	return why != NotFinished && wasRunning
}

// emit appends up to n tokens, ending at the first that stops the request
// (vllm/v1/core/sched/utils.py:94-130), and returns how many were kept.
func (s *Scheduler) emit(r *Request, n int) (int, Finish) {
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

// dropEnded takes finished requests out of running.
func (s *Scheduler) dropEnded() {
	kept := s.running[:0]
	for _, r := range s.running {
		if r.Status != Finished {
			kept = append(kept, r)
		}
	}
	clear(s.running[len(kept):])
	s.running = kept
}

// Propose hands over the drafts made after a batch, in synchronous mode: count says
// how many each of its requests got (vllm/v1/engine/core.py:615-622).
func (s *Scheduler) Propose(b *Batch, count func(*Request) int) {
	for i := range b.Entries {
		r := b.Entries[i].Request
		if r.Status == Finished {
			continue
		}
		r.drafts = 0
		if !r.chunk {
			r.drafts = count(r)
		}
	}
}
