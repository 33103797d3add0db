package sched

// Block is why a queued request cannot be admitted yet.
type Block uint8

const (
	Admissible    Block = iota
	AwaitsGrammar       // its grammar is being compiled
	AwaitsChunk         // a streaming session between two chunks; it keeps its blocks
)

// Grammar constrains a structured-output request.
type Grammar struct {
	Ready  bool
	Failed bool // compilation failed; read once Ready
	// RejectAt is the output token the grammar does not accept; 0 is none.
	RejectAt int
	// Drafts is how many drafts of a step the grammar lets through; negative is all.
	Drafts int
}

// cut is how many of n drafts the grammar lets through.
func (g *Grammar) cut(n int) int {
	if g == nil || g.Drafts < 0 {
		return n
	}
	return min(n, g.Drafts)
}

// passes reports whether admission must pass r over in this step
// (scheduler.py:739-803, 2787-2796).
func (s *Scheduler) passes(r *Request) bool {
	switch r.Blocked {
	case AwaitsGrammar:
		if !r.Grammar.Ready {
			return true
		}
		if r.Grammar.Failed {
			s.failed = append(s.failed, r)
			return true
		}
		r.Blocked = Admissible
	case AwaitsChunk:
		return true
	}
	return r.stale > 0 || s.adapterBound(r)
}

// adapterBound reports whether r needs an adapter beyond those max_loras allows.
func (s *Scheduler) adapterBound(r *Request) bool {
	if s.config.MaxLoRAs == 0 || r.Adapter == 0 {
		return false
	}
	s.adapters = s.adapters[:0]
	for _, o := range s.running {
		if o.Adapter == r.Adapter {
			return false
		}
		known := o.Adapter == 0
		for _, a := range s.adapters {
			known = known || a == o.Adapter
		}
		if !known {
			s.adapters = append(s.adapters, o.Adapter)
		}
	}
	return len(s.adapters) >= s.config.MaxLoRAs
}

// failGrammars ends the requests whose grammar did not compile (scheduler.py:2042-2061).
func (s *Scheduler) failGrammars(out *Output) {
	for i, r := range s.failed {
		s.failed[i] = nil
		if r.Status == Finished {
			continue
		}
		r.queue.remove(r)
		s.end(r, Errored)
		out.Events = append(out.Events, Event{Request: r, Finish: Errored})
	}
	s.failed = s.failed[:0]
}

// Chunk is the next input of a streaming session. Its owner extends the session's
// content by Tokens in Extend, which is called when the chunk is taken up; the
// session then has Request.Tokens tokens.
type Chunk struct {
	Tokens int
	Extend func()
	Last   bool // no input: the session ends
}

// Stream hands a session its next chunk: an idle session takes it up at once, a busy
// one when it next stops (scheduler.py:1432-1474, 2302-2326).
func (s *Scheduler) Stream(r *Request, c Chunk) {
	switch {
	case r.Status == Finished:
	case r.Blocked != AwaitsChunk:
		r.chunks = append(r.chunks, c)
	case c.Last:
		s.Abort(r)
	default:
		s.sessions--
		s.takeUp(r, c)
	}
}

// pauseSession keeps a stopped session alive, waiting for input or with its next
// chunk; it reports false for a request that ends.
func (s *Scheduler) pauseSession(r *Request) bool {
	if !r.Resumable {
		return false
	}
	if len(r.chunks) == 0 {
		r.Status, r.Blocked = Waiting, AwaitsChunk
		s.sessions++
		s.skipped.push(r)
		return true
	}
	c := r.chunks[0]
	r.chunks = r.chunks[1:]
	if c.Last {
		return false
	}
	s.takeUp(r, c)
	s.waiting.push(r)
	return true
}

// takeUp drops the last sampled token, which was never computed, turns the outputs
// into prompt and appends the chunk.
func (s *Scheduler) takeUp(r *Request, c Chunk) {
	r.Tokens = min(r.Computed, r.Tokens)
	c.Extend()
	r.Tokens += c.Tokens
	r.Prompt = r.Tokens
	r.Status, r.Blocked = Waiting, Admissible
	r.drafts, r.placeholders = 0, 0
}

// PauseState is how far a paused engine stops.
type PauseState uint8

const (
	Unpaused  PauseState = iota
	PausedNew            // nothing is admitted
	PausedAll            // nothing is scheduled
)

// Pause sets the pause state.
func (s *Scheduler) Pause(p PauseState) { s.pause = p }

// ResetRunning preempts every running request, last first, so that their order is
// kept, drops their outputs in flight, and forgets cached prefixes.
func (s *Scheduler) ResetRunning() bool {
	s.flushActive()
	for n := len(s.running); n > 0; n = len(s.running) {
		r := s.running[n-1]
		s.running[n-1] = nil
		s.running = s.running[:n-1]
		s.evictRunning(r)
		r.dropped, r.stale = r.stale, 0
	}
	s.cruise.active = s.cruise.active[:0]
	return s.cache.Reset()
}

// defers reports whether prefills wait in this step, so that data-parallel ranks
// prefill together (scheduler.py:518-558, vllm/v1/engine/core.py:2160-2168).
func (s *Scheduler) defers() bool {
	n := s.config.PrefillInterval
	if n <= 1 || s.tick%n == 0 || s.leftWaiting {
		return false
	}
	for _, r := range s.running {
		if !r.chunk {
			return true
		}
	}
	return false
}

// SetTick sets the number of the coming step in the count that data-parallel ranks
// share; a scheduler alone counts its own steps.
func (s *Scheduler) SetTick(n int) { s.tick = n }

// LeftWaiting reports whether the last admission that could have taken everyone left
// requests waiting.
func (s *Scheduler) LeftWaiting() bool { return s.leftWaiting }
