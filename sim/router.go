package sim

import "github.com/inference-sim/accuracy-dashboard/sim/des"

// roundRobin sends each request to the next instance in turn, and an abort where
// its request went. It answers in a round of its own at the same instant.
type roundRobin struct {
	targets []des.ID // one an instance
	turn    int
	now     des.Time
	held    []des.Message[message]
}

// Next is now while it holds messages.
func (r *roundRobin) Next() des.Time {
	if len(r.held) > 0 {
		return r.now
	}
	return des.Never
}

// Output passes on what it holds.
func (r *roundRobin) Output(_ des.Time, out *outbox) {
	for i := range r.held {
		m := &r.held[i]
		out.Send(r.targets[m.Body.request.instance], m.Class, m.Body)
	}
}

// Internal forgets what was passed on.
func (r *roundRobin) Internal(des.Time) {
	clear(r.held)
	r.held = r.held[:0]
}

// External chooses an instance for each new request.
func (r *roundRobin) External(now des.Time, b bag) {
	r.now = now
	for i := range b {
		if b[i].Class == classRequest {
			b[i].Body.request.instance = int32(r.turn)
			r.turn = (r.turn + 1) % len(r.targets)
		}
		r.held = append(r.held, b[i])
	}
}

// Confluent passes on the old and then takes the new.
func (r *roundRobin) Confluent(now des.Time, b bag) {
	r.Internal(now)
	r.External(now, b)
}
