package sim

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// The tick of this model is one microsecond.
const second des.Time = 1_000_000

// ticks turns a price into simulated time: to the nearest microsecond, halves away
// from zero, and never from something to nothing. It is the only such conversion
// (Target Design §8.3).
func ticks(s quantity.Seconds) des.Time {
	t := des.Time(math.Round(float64(s) * 1e6))
	if t == 0 && s > 0 {
		return 1
	}
	return t
}

// seconds is the inverse, for documents.
func seconds(t des.Time) float64 { return float64(t) / float64(second) }

// The classes of messages, in the order a bag is read (§8.2).
const (
	// classEnd first: a place a request frees is free before anything asks for it.
	classEnd des.Class = iota
	// classAbort before classRequest: a client gives up on what it sent before it
	// sends anew, over one connection.
	classAbort
	// classRequest last: what is new sees the instant's other changes.
	classRequest
)

// message is what components say to each other: the class says what about request.
type message struct {
	request *request
	outcome fate // of classEnd
}

type (
	bag    = []des.Message[message]
	outbox = des.Outbox[message]
)

// modeNames are the parts of engine time in a Result, by plan.StepMode.
var modeNames = [...]string{plan.Mixed: "mixed", plan.ExtendOnly: "extend", plan.DecodeOnly: "decode", plan.Verify: "verify", plan.Prebuilt: "prebuilt", plan.Idle: "idle_step"}
