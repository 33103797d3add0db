package sim

import (
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// generator is the workload: every client of the scenario as one component. It
// counts what it creates apart from the fates (DEV-9), and it alone writes fates,
// as the client sees them (fates.go).
type generator struct {
	sources []workload.Source
	next    *des.Tournament // when each source's next request is due
	open    []bool          // by source: it has requests left
	opened  int             // of them
	target  des.ID          // the router, or the front end or engine of the only instance
	frame   *spec.Frame
	record  *recorder
	trace   *workload.TraceWriter // nil writes none
	drafts  *substream.Family     // of requests, by their output; nil where no engine drafts

	now      des.Time
	created  int64
	sent     int64      // the clients' own warm-ups left out
	patience []*request // with a deadline, in its order; some have ended
	expired  []*request
	scratch  workload.Request
	pool     *pool
}

func newGenerator(sources []workload.Source, frame *spec.Frame, record *recorder, p *pool) *generator {
	g := &generator{sources: sources, next: des.NewTournament(), open: make([]bool, len(sources)), frame: frame, record: record, pool: p}
	for i := range sources {
		g.ask(i)
	}
	return g
}

// ask looks again at source i, after anything that may change what it answers: its
// own requests' sending and ending.
func (g *generator) ask(i int) {
	s, at := g.sources[i], des.Never
	if d := s.Due(); d != workload.Never {
		at = max(g.now, des.Time(d))
	}
	g.next.Set(des.ID(i), at)
	if open := s.Left() != 0; open != g.open[i] {
		g.open[i] = open
		if open {
			g.opened++
		} else {
			g.opened--
		}
	}
}

// Next is the earliest request due or deadline reached.
func (g *generator) Next() des.Time {
	_, t := g.due()
	for len(g.patience) > 0 && g.patience[0].fate != unended {
		g.patience = g.patience[1:]
	}
	if len(g.patience) > 0 {
		t = min(t, g.patience[0].deadline)
	}
	return t
}

// due is the source whose request is due first; equal times go to the first source.
func (g *generator) due() (source int, at des.Time) {
	if g.stopped() {
		return 0, des.Never
	}
	at, first := g.next.Min()
	return int(first), at
}

func (g *generator) stopped() bool {
	n := g.frame.Stop.Requests
	return n > 0 && g.sent >= int64(n)
}

// spent is whether no request will be sent any more.
func (g *generator) spent() bool { return g.opened == 0 || g.stopped() }

// Output sends what is due and gives up on what is late.
func (g *generator) Output(now des.Time, out *outbox) {
	g.now = now
	for len(g.patience) > 0 && g.patience[0].deadline <= now {
		if r := g.patience[0]; r.fate == unended {
			out.Send(g.target, classAbort, message{request: r})
			g.expired = append(g.expired, r)
		}
		g.patience = g.patience[1:]
	}
	for {
		i, t := g.due()
		if t > now {
			return
		}
		out.Send(g.target, classRequest, message{request: g.take(i, now)})
	}
}

// take makes the request that source i sends now.
func (g *generator) take(i int, now des.Time) *request {
	g.sources[i].Take(int64(now), &g.scratch)
	g.ask(i)
	if g.trace != nil {
		g.trace.Write(i, &g.scratch)
	}
	r := g.pool.get()
	r.fill(&g.scratch, i, now)
	if g.drafts != nil {
		r.engine.Drafts = g.drafts.At(r.engine.Output.Stream)
	}
	r.serial = uint64(g.created)
	g.created++
	if !r.warmup {
		r.measured = g.sent >= int64(g.frame.Warmup.Requests) && seconds(now) >= g.frame.Warmup.Seconds
		g.sent++
	}
	if r.deadline != des.Never {
		g.wait(r)
	}
	g.record.begin(r, now)
	return r
}

// wait keeps patience in order of deadline; one client's are in order already.
func (g *generator) wait(r *request) {
	g.patience = append(g.patience, r)
	for j := len(g.patience) - 1; j > 0 && g.patience[j-1].deadline > r.deadline; j-- {
		g.patience[j], g.patience[j-1] = g.patience[j-1], r
	}
}

// Internal ends the requests whose client gave up.
func (g *generator) Internal(now des.Time) {
	for i, r := range g.expired {
		if r.fate == unended {
			g.end(r, timedOut, now)
		}
		g.expired[i] = nil
	}
	g.expired = g.expired[:0]
}

// External hears of ends.
func (g *generator) External(now des.Time, b bag) {
	g.now = now
	for i := range b {
		if r := b[i].Body.request; r.fate == unended {
			g.end(r, b[i].Body.outcome, now)
		}
	}
}

// Confluent hears first: an answer that arrives at the deadline is in time.
func (g *generator) Confluent(now des.Time, b bag) {
	g.External(now, b)
	g.Internal(now)
}

func (g *generator) end(r *request, f fate, now des.Time) {
	g.record.end(r, f, now)
	g.sources[r.client].Ended(int64(now), workload.End{Session: r.session, Warmup: r.warmup, Completed: f == completed, Output: r.engine.Token.Emitted})
	g.ask(int(r.client))
}

// unsent is how many planned requests were never sent: what is left of a client's bound,
// or without one the rounds of its open sessions, within the run's bound; and the rounds
// that sessions gave up.
func (g *generator) unsent() int64 {
	n, abandoned := int64(0), int64(0)
	for _, s := range g.sources {
		left, open := s.Left(), int64(0)
		if r, ok := s.(workload.Sessions); ok {
			o, a := r.Rounds()
			open, abandoned = o, abandoned+a
		}
		if left < 0 {
			left = open
		}
		n += left
	}
	if stop := int64(g.frame.Stop.Requests); stop > 0 {
		n = min(n, max(0, stop-g.sent))
	}
	return n + abandoned
}
