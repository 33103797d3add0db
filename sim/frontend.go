package sim

import (
	"cmp"
	"slices"

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
	ready  []pending // ascending by time, then by order of arrival; from first on
	first  int
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
	case f.first < len(f.ready):
		return f.ready[f.first].at
	}
	return des.Never
}

// Output hands over what is ready.
func (f *frontEnd) Output(now des.Time, out *outbox) {
	for _, m := range f.aborts {
		out.Send(f.target, classAbort, m)
	}
	for i := f.first; i < len(f.ready) && f.ready[i].at <= now; i++ {
		out.Send(f.target, classRequest, f.ready[i].body)
	}
}

// Internal forgets what was handed over.
func (f *frontEnd) Internal(now des.Time) {
	f.aborts = f.aborts[:0]
	for f.first < len(f.ready) && f.ready[f.first].at <= now {
		f.ready[f.first] = pending{}
		f.first++
	}
	if 2*f.first >= len(f.ready) { // a request is moved once, however long the queue
		n := copy(f.ready, f.ready[f.first:])
		clear(f.ready[n:])
		f.ready, f.first = f.ready[:n], 0
	}
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
		m.request.enters = f.free + ticks(quantity.Seconds(own))
		f.insert(pending{m.request.enters, m})
	}
}

// Confluent hands over first.
func (f *frontEnd) Confluent(now des.Time, b bag) {
	f.Internal(now)
	f.External(now, b)
}

func (f *frontEnd) insert(p pending) {
	f.ready = append(f.ready, p)
	for j := len(f.ready) - 1; j > f.first && f.ready[j-1].at > p.at; j-- {
		f.ready[j], f.ready[j-1] = f.ready[j-1], p
	}
}

// abort drops a request that the engine has not seen, or passes the abort on.
func (f *frontEnd) abort(m message) {
	waiting := f.ready[f.first:]
	i, _ := slices.BinarySearchFunc(waiting, m.request.enters, func(p pending, t des.Time) int { return cmp.Compare(p.at, t) })
	for ; i < len(waiting) && waiting[i].at == m.request.enters; i++ {
		if waiting[i].body.request == m.request {
			copy(waiting[1:i+1], waiting[:i]) // the oldest give up first: little moves
			waiting[0] = pending{}
			f.first++
			return
		}
	}
	f.aborts = append(f.aborts, m)
}
