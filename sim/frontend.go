package sim

import (
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// frontEnd is the path from the client to one engine: requests are taken one
// after the other, and each then needs its own time to be tokenised and carried.
// The way back is charged with the way in. An abort passes at once.
type frontEnd struct {
	price  cost.FrontEnd
	target des.ID
	free   des.Time // when the serial part is free again
	now    des.Time
	ready  []pending // ascending by time, then by order of arrival
	aborts []message
}

type pending struct {
	at   des.Time
	body message
}

// Next is when the first pending request reaches the engine.
func (f *frontEnd) Next() des.Time {
	switch {
	case len(f.aborts) > 0:
		return f.now
	case len(f.ready) > 0:
		return f.ready[0].at
	}
	return des.Never
}

// Output hands over what is ready.
func (f *frontEnd) Output(now des.Time, out *outbox) {
	for _, m := range f.aborts {
		out.Send(f.target, classAbort, m)
	}
	for i := 0; i < len(f.ready) && f.ready[i].at <= now; i++ {
		out.Send(f.target, classRequest, f.ready[i].body)
	}
}

// Internal forgets what was handed over.
func (f *frontEnd) Internal(now des.Time) {
	f.aborts = f.aborts[:0]
	n := 0
	for n < len(f.ready) && f.ready[n].at <= now {
		n++
	}
	f.ready = f.ready[:copy(f.ready, f.ready[n:])]
}

// External takes new requests in.
func (f *frontEnd) External(now des.Time, b bag) {
	f.now = now
	for i := range b {
		m := b[i].Body
		if b[i].Class == classAbort {
			f.abort(m)
			continue
		}
		f.free = max(f.free, now) + ticks(quantity.Seconds(f.price.SerialPerRequest))
		own := f.price.FixedSeconds + float64(f.price.PerPromptToken*float64(m.request.engine.Token.Prompt))
		f.insert(pending{f.free + ticks(quantity.Seconds(own)), m})
	}
}

// Confluent hands over first.
func (f *frontEnd) Confluent(now des.Time, b bag) {
	f.Internal(now)
	f.External(now, b)
}

func (f *frontEnd) insert(p pending) {
	f.ready = append(f.ready, p)
	for j := len(f.ready) - 1; j > 0 && f.ready[j-1].at > p.at; j-- {
		f.ready[j], f.ready[j-1] = f.ready[j-1], p
	}
}

// abort drops a request that the engine has not seen, or passes the abort on.
func (f *frontEnd) abort(m message) {
	for i := range f.ready {
		if f.ready[i].body.request == m.request {
			f.ready = append(f.ready[:i], f.ready[i+1:]...)
			return
		}
	}
	f.aborts = append(f.aborts, m)
}
