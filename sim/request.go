package sim

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// fate is how a request ended (§8.7).
type fate uint8

const (
	unended fate = iota
	completed
	dropped
	timedOut
	inFlight // at the horizon
	queued   // at the horizon
)

// request is one request on its way through the model. It travels in messages;
// each field is written by one component, and read by another only after a
// message that follows the write. The recorder, which measures and decides nothing,
// reads every field when it writes the fate.
type request struct {
	// Written by the generator.
	session    int64
	index      int64  // among its client's
	serial     uint64 // order of sending
	client     int32
	label      uint16
	measured   bool // sent after the frame's warm-up
	warmup     bool // sent by the client's own warm-up
	fate       fate
	sent       des.Time
	deadline   des.Time // absolute; des.Never when the client waits forever
	next, prev *request // the generator's list of requests without a fate

	// Written by the front end.
	enters des.Time // when it reaches the engine

	// Written by the router.
	instance int32

	// Written by the instance; Prompt and the client's figures by the generator.
	engine   engines.Request
	reason   string   // why it was dropped
	arrived  des.Time // at the engine; -1 before
	launched des.Time // first batch; -1 before
	first    des.Time // first token
	last     des.Time // last token
	event    int      // the batch of its last event, and the tokens it had emitted
	emitted  int      // after it: tokens since came one a batch (instance.tokenTime)
	// Where tokens are streamed several at once: those sent so far, and when.
	streamed  int
	chunkTime des.Time

	segments [3]engines.Segment // backs engine.Prompt when short
}

// fill makes r from what its client sent.
func (r *request) fill(w *workload.Request, client int, now des.Time) {
	r.index, r.session, r.client, r.label, r.warmup = w.Index, w.Session, int32(client), uint16(w.Label), w.Warmup
	r.sent, r.arrived, r.launched, r.deadline = now, -1, -1, des.Never
	if w.Deadline > 0 {
		r.deadline = now + des.Time(w.Deadline)
	}
	e := &r.engine
	if e.Prompt == nil {
		e.Prompt = r.segments[:0]
	}
	for _, s := range w.Prompt {
		e.Prompt = append(e.Prompt, engines.Segment(s))
		e.Token.Prompt += s.Count
	}
	e.Output = engines.Segment(w.Output)
	e.MaxTokens, e.Priority, e.Arrival = w.MaxTokens, w.Priority, seconds(now)
	if e.IgnoreEOS = w.Length == w.MaxTokens; !e.IgnoreEOS {
		e.StopAt = w.Length
	}
}

// Engine request ids carry the request's place in its instance's table in the low
// bits and its serial number above, so that they are unique in a run (SIM-8) and
// rise in order of sending.
const placeBits = 24

// table is the requests an instance holds.
type table struct {
	live []*request
	free []int32
}

// add gives r an id and a place.
func (t *table) add(r *request) error {
	place := int32(len(t.live))
	if n := len(t.free); n > 0 {
		place, t.free = t.free[n-1], t.free[:n-1]
		t.live[place] = r
	} else {
		t.live = append(t.live, r)
	}
	if place >= 1<<placeBits {
		return fmt.Errorf("sim: an instance holds more than %d requests at once", 1<<placeBits)
	}
	r.engine.ID = engines.RequestID(r.serial<<placeBits | uint64(place))
	return nil
}

// find is the held request with this id, or nil.
func (t *table) find(id engines.RequestID) *request {
	place := int(id & (1<<placeBits - 1))
	if place >= len(t.live) || t.live[place] == nil || t.live[place].engine.ID != id {
		return nil
	}
	return t.live[place]
}

// oldestEvent is the least event of the held requests, none beyond limit.
func (t *table) oldestEvent(limit int) int {
	for _, r := range t.live {
		if r != nil && r.first > 0 {
			limit = min(limit, r.event)
		}
	}
	return limit
}

// remove frees r's place.
func (t *table) remove(r *request) {
	place := int32(r.engine.ID & (1<<placeBits - 1))
	t.live[place] = nil
	t.free = append(t.free, place)
}
