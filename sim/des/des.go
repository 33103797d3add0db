// Package des is a Parallel DEVS kernel (B. Zeigler, A. Chow, 1994): components
// that change state only through their transitions and speak only by messages.
//
// In: components and a bound in time. Out: the same sequence of transitions
// whatever queue is used and in whatever order components of one instant are
// visited. Time is an integer number of ticks; the model states what a tick is.
// The kernel has no clock, no goroutine and no randomness, and allocates nothing
// per event once its buffers have grown.
//
// One instant is processed in rounds of three phases: every component whose
// internal event falls now sends its output; every receiver's messages are sorted
// by (class, sender, sender's count); each of them then makes exactly one
// transition. A component that must answer at once makes its next event fall now
// and answers in the next round. Source: Target Design §8.1 to §8.3. Rules kept:
// DEV-1, DEV-2, DEV-5.
package des

import "math"

// Time is simulated time in ticks since the start.
type Time int64

// Never is later than every event.
const Never Time = math.MaxInt64

// ID names a component: its place in the order of Add.
type ID int32

// Class is the place of a message's kind in the model's fixed order.
type Class uint8

// Message is one message of a bag. Its time is the instant it is received in.
type Message[M any] struct {
	Class  Class
	Sender ID
	Count  uint64 // how many messages the sender had sent before
	Body   M
}

// before orders a bag: the key of §8.2 without its time, which all share.
func (m *Message[M]) before(o *Message[M]) bool {
	if m.Class != o.Class {
		return m.Class < o.Class
	}
	if m.Sender != o.Sender {
		return m.Sender < o.Sender
	}
	return m.Count < o.Count
}

// Component is an atomic model, with its five functions.
type Component[M any] interface {
	// Next is the time advance as an absolute time: when the next internal event
	// falls in the present state, or Never. The kernel asks after every transition.
	Next() Time
	// Output sends the messages of an internal event. A transition of the same
	// component always follows before anything else can observe it, so a component
	// may do here the part of that transition which its messages are made of.
	Output(now Time, out *Outbox[M])
	// Internal is the transition when its own event falls and nothing was received.
	Internal(now Time)
	// External is the transition when only messages were received.
	External(now Time, bag []Message[M])
	// Confluent is the transition when both happen at one instant.
	Confluent(now Time, bag []Message[M])
}

// Outbox is where one component's output goes.
type Outbox[M any] struct {
	kernel *Kernel[M]
	from   ID
}

// Send gives a message to a component at this instant.
func (o *Outbox[M]) Send(to ID, class Class, body M) {
	k := o.kernel
	sender, target := &k.slots[o.from], &k.slots[to]
	if len(target.bag) == 0 {
		k.receivers = append(k.receivers, to)
	}
	target.bag = append(target.bag, Message[M]{Class: class, Sender: o.from, Count: sender.sent, Body: body})
	sender.sent++
	k.messages++
}
