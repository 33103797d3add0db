package workload

import "fmt"

// replay sends one client's rows of a trace, each when its cause comes about.
type replay struct {
	client   int
	rows     []TraceRow
	timed    timers           // rows whose time is known
	byEnd    map[int64][]int  // rows that wait for an end, by its ordinal
	sessions map[int64]*story // by session
	ends     int64            // of requests, or of sessions, that the rows so far bring about
	sent     int64
	ended    int64 // of those
	planned  int64 // requests; 0 is the rows, -1 without an end

	open, abandoned int64 // rounds planned and not sent, by what became of their session
}

// story is a session under replay.
type story struct {
	rounds  []int // rows, in order
	stated  int   // rounds, of which the trace may hold the first alone; 0 is the rows
	next    int
	context []Segment
	output  Segment
}

func newReplay(client int) *replay {
	return &replay{client: client, byEnd: map[int64][]int{}, sessions: map[int64]*story{}}
}

func (s *story) planned() int { return max(s.stated, len(s.rounds)) }

// follows refuses a row whose cause the rows before it never bring about.
func (p *replay) follows(r *TraceRow) error {
	begun := r.Session != nil && p.sessions[*r.Session] != nil
	switch {
	case r.AfterRound && !begun:
		return refuse("after_round", "true", "comes before its session's first round", "a row of session "+fmt.Sprint(*r.Session)+" with at or after_end above it")
	case begun && p.sessions[*r.Session].stated == len(p.sessions[*r.Session].rounds):
		return refuse("after_round", "true", "comes after the last round of its session", "a row for each of its rounds at most")
	case !r.AfterRound && begun:
		return refuse("session", *r.Session, "has begun above", "after_round, or a session of its own")
	case r.AfterEnd != nil && *r.AfterEnd >= p.ends:
		return refuse("after_end", *r.AfterEnd, "is an end that no row above brings about", fmt.Sprintf("-1 to %d", p.ends-1))
	}
	return nil
}

func (p *replay) add(r *TraceRow, scale float64) {
	scaled := func(t int64) int64 { return bounded(float64(t) * scale) }
	r.Wait = scaled(r.Wait)
	if r.At != nil {
		at := scaled(*r.At)
		r.At = &at
	}
	i := len(p.rows)
	if !r.AfterRound {
		p.ends++
	}
	switch {
	case r.At != nil:
		p.timed.push(*r.At, int64(i))
	case r.AfterEnd != nil:
		p.byEnd[*r.AfterEnd] = append(p.byEnd[*r.AfterEnd], i)
	}
	if r.Session != nil {
		s := p.sessions[*r.Session]
		if s == nil {
			s = &story{stated: r.Rounds}
			p.sessions[*r.Session] = s
		}
		s.rounds = append(s.rounds, i)
	}
	p.rows = append(p.rows, *r)
}

// begin releases the rows that wait for the start.
func (p *replay) begin() { p.release(0, -1) }

func (p *replay) release(now, end int64) {
	for _, i := range p.byEnd[end] {
		p.timed.push(now+p.rows[i].Wait, int64(i))
	}
	delete(p.byEnd, end)
}

// Due is the first row whose time is known.
func (p *replay) Due() int64 { return p.timed.first() }

// Take sends it.
func (p *replay) Take(_ int64, r *Request) {
	row := &p.rows[p.timed.pop()]
	*r = Request{Index: p.sent, Session: -1, Warmup: row.Warmup, Output: Segment{Stream: uint64(row.Stream)}, MaxTokens: row.MaxTokens,
		Length: row.Length, Label: p.client, Priority: row.Priority, Deadline: row.Deadline, Cause: row.cause()}
	p.sent++
	var fresh []Segment
	for _, s := range row.Prompt {
		fresh = append(fresh, Segment{Stream: uint64(s[0]), Start: int(s[1]), Count: int(s[2])})
	}
	r.Prompt = fresh
	if row.Session != nil {
		s := p.sessions[*row.Session]
		s.context = append(s.context, fresh...)
		s.output = r.Output
		r.Session, r.Round, r.Rounds, r.Prompt = *row.Session, s.next, s.planned(), s.context
		if p.open--; s.next == 0 {
			p.open += int64(s.planned())
		}
		s.next++
	}
}

func (r *TraceRow) cause() Cause {
	switch {
	case r.At != nil:
		return Cause{Kind: AtTime, Wait: *r.At}
	case r.AfterEnd != nil:
		return Cause{Kind: AfterEnd, End: *r.AfterEnd, Wait: r.Wait}
	}
	return Cause{Kind: AfterRound, Wait: r.Wait}
}

// Ended releases the rows that wait for it.
func (p *replay) Ended(now int64, e End) {
	if s := p.sessions[e.Session]; s != nil {
		if e.Completed && s.next < s.planned() {
			s.output.Count = e.Output
			s.context = append(s.context, s.output)
			if s.next < len(s.rounds) { // else the session waits for what the trace does not hold
				i := s.rounds[s.next]
				p.timed.push(now+p.rows[i].Wait, int64(i))
			}
			return
		}
		given := int64(s.planned() - s.next)
		p.open, p.abandoned = p.open-given, p.abandoned+given
		delete(p.sessions, e.Session)
	}
	end := p.ended
	p.ended++
	p.release(now, end)
}

// Rounds counts those of open sessions and those given up.
func (p *replay) Rounds() (open, abandoned int64) { return p.open, p.abandoned }

// Left is how many planned requests were not sent yet.
func (p *replay) Left() int64 {
	if p.planned < 0 {
		return -1
	}
	return max(p.planned, int64(len(p.rows))) - p.sent
}
