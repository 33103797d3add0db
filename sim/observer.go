package sim

import "github.com/inference-sim/accuracy-dashboard/sim/des"

// Observer watches a run without taking part in it: a timeline, a plot, a
// progress line. Times are microseconds of simulated time. A Result is the same
// with or without one.
type Observer interface {
	// Batch is called when a batch ends.
	Batch(b BatchRecord)
	// Request is called when a request gets its fate.
	Request(r RequestRecord)
	// Instant is called after every round of an instant.
	Instant(now des.Time, load Load)
}

// BatchRecord is one ended batch.
type BatchRecord struct {
	Instance         int
	Launched, End    des.Time
	Mode             string // of its first stage
	Tokens           int    // scheduled
	Running, Waiting int    // after it
	KVUsage          float64
}

// RequestRecord is one ended request.
type RequestRecord struct {
	Serial                  uint64
	Client, Instance        int
	Index                   int64 // number among its client's requests
	Session                 int64
	Measured                bool
	Fate                    string
	Reason                  string
	Sent, Arrived, Launched des.Time // the last two are -1 when they never were
	First, Last             des.Time // of its tokens; 0 when it got none
	Ended                   des.Time // when it got its fate: the client gave up, or the run ended
	Prompt, Cached, Output  int
	Preemptions             int
}

// Load is what is going on at one moment.
type Load struct {
	Outstanding int64 // sent and not ended
	Created     int64
	Completed   int64
}
