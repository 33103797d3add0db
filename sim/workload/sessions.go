package workload

import "github.com/inference-sim/accuracy-dashboard/sim/spec"

// conversations sends sessions: each round's prompt is everything said so far and
// new tokens, and follows the response to the round before by a time to think. An
// arrival, or a free place of a closed loop, starts a session. A round that did
// not complete ends its session.
type conversations struct {
	*content
	process *process // nil in a closed loop
	rounds  *sampler
	think   *sampler
	between *sampler // closed loop: from a session's end to the next one's start

	sent    int64  // requests
	ended   int64  // sessions
	starts  timers // sessions whose start has a time
	waiting timers // sessions whose next round has a time
	live    map[int64]*conversation

	open, abandoned int64 // rounds planned and not sent, by what became of their session
}

type conversation struct {
	rounds  int
	round   int // of the request that was sent last
	context []Segment
	output  Segment // of the last round
}

// roundsPerSession bounds rounds, so that session and round together name an entity.
const roundsPerSession = spec.MaxRounds

func newConversations(c *spec.Client, b *content, seed uint64) *conversations {
	name := component(c)
	s := &conversations{content: b, live: map[int64]*conversation{}, rounds: newSampler(&c.Session.Rounds, seed, name, "rounds"),
		think: newSampler(c.Session.Think, seed, name, "think time")}
	if k := c.Arrivals.Closed; k != nil {
		s.between = newSampler(k.Think, seed, name, "session gap")
		for id := range int64(k.Concurrency) {
			s.starts.push(0, id)
		}
		return s
	}
	s.process = newProcess(&c.Arrivals, seed, name)
	s.starts.push(Microseconds(s.process.next()), 0)
	return s
}

// Due is the next round or the next session, whichever is first.
func (s *conversations) Due() int64 {
	if s.Left() == 0 {
		return Never
	}
	return min(s.waiting.first(), s.starts.first())
}

// Take sends a round; of two due at once, the one of an open session first.
func (s *conversations) Take(_ int64, r *Request) {
	var id int64
	var v *conversation
	var cause Cause
	if s.waiting.first() <= s.starts.first() {
		id = s.waiting.pop()
		v = s.live[id]
		cause = s.pause(id, v.round)
		v.round++
		s.open--
	} else {
		id, v, cause = s.start()
	}
	entity := id*roundsPerSession + int64(v.round)
	prompt, output := s.lengths(entity, s.shared(id))
	v.context = append(v.context, Segment{Stream: PromptStream(s.index, entity), Count: prompt})
	s.state(r, s.sent, output)
	r.Output.Stream = OutputStream(s.index, entity)
	r.Session, r.Round, r.Rounds, r.Prompt, r.Cause = id, v.round, v.rounds, v.context, cause
	v.output = r.Output
	s.sent++
}

// pause is the cause of the round after the given one.
func (s *conversations) pause(id int64, round int) Cause {
	c := Cause{Kind: AfterRound}
	if s.think != nil {
		c.Wait = s.think.wait(id*roundsPerSession + int64(round))
	}
	return c
}

func (s *conversations) start() (int64, *conversation, Cause) {
	cause := Cause{Kind: AtTime, Wait: s.starts.first()}
	id := s.starts.pop()
	if s.process != nil {
		s.starts.push(Microseconds(s.process.next()), id+1)
	} else {
		cause = follows(id, s.client.Arrivals.Closed.Concurrency, s.between)
	}
	v := &conversation{rounds: min(s.rounds.tokens(id), roundsPerSession)}
	if p := s.shared(id); p != nil {
		v.context = append(v.context, Segment{Stream: p.stream, Count: p.tokens})
	}
	s.open += int64(v.rounds - 1)
	s.live[id] = v
	return id, v, cause
}

// Ended plans the next round, or ends the session.
func (s *conversations) Ended(now int64, e End) {
	v := s.live[e.Session]
	if e.Completed && v.round+1 < v.rounds {
		v.output.Count = e.Output
		v.context = append(v.context, v.output)
		s.waiting.push(now+s.pause(e.Session, v.round).Wait, e.Session)
		return
	}
	given := int64(v.rounds - 1 - v.round)
	s.open, s.abandoned = s.open-given, s.abandoned+given
	delete(s.live, e.Session)
	if s.process == nil {
		places := s.client.Arrivals.Closed.Concurrency
		id := s.ended + int64(places)
		s.starts.push(now+follows(id, places, s.between).Wait, id)
	}
	s.ended++
}

// Rounds counts those of open sessions and those given up.
func (s *conversations) Rounds() (open, abandoned int64) { return s.open, s.abandoned }

// Left counts the client's own bound on requests.
func (s *conversations) Left() int64 { return left(s.client.Requests, s.sent) }
