package sched

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// Req is one request in the scheduler.
type Req struct {
	Name      string // rid
	Owner     any    // the caller's
	Prompt    []engines.Segment
	Input     int // prompt tokens
	MaxNew    int // max_new_tokens; 0 is unset
	IgnoreEOS bool
	StopAt    int // a stop token is output number StopAt, counted from 1; 0 is never
	Priority  int
	Ns        kv.Namespace
	// Next gives the content of the outputs from j (0-based) on, as many as are of one
	// run; those not emitted yet are left out.
	Next   func(j int) engines.Segment
	Finish engines.Finish

	hold      kv.Hold
	content   []engines.Segment // prompt, then outputs
	extend    int               // tokens computed by the step being formed
	entered   uint64            // order of entry into the waiting queue
	chunks    int               // launched chunks whose results are open and not the last
	retracted bool
	ending    engines.Finish // to_finish: the reason it ends at its next result
	slot      bool
	matched   int // tokens the queue policy found cached
	cached    int // hit of the last admission
	lost      int // prompt tokens that no step will compute
	outputs   int
	stint     stint
	newest    uint64 // the result, of any batch, with its newest token; 0 is none
	gap       bool   // and the one before had a token too
}

// Prefix is the tokens before the step's, Extend the tokens it computes.
func (r *Req) Prefix() int { return r.hold.Prefix }
func (r *Req) Extend() int { return r.extend }

// Hit is the tokens served from the cache at the last admission.
func (r *Req) Hit() int { return r.cached }

// length is prompt and outputs.
func (r *Req) length() int { return r.Input + r.Outputs() }

// key is the first n tokens of prompt and outputs.
func (r *Req) key(n int) kv.Key { return kv.View(r.Ns, r.content, n) }

// filled is the end of what has been or is being computed: extend_range.end.
func (r *Req) filled() int { return r.hold.Prefix + r.extend }

// Consecutive says whether the newest two tokens came from consecutive results.
func (r *Req) Consecutive() bool { return r.gap }

// append adds the content of the outputs up to number n.
func (r *Req) append(n int) {
	for r.outputs < n {
		run := r.Next(r.outputs)
		run.Count = min(run.Count, n-r.outputs)
		r.content = kv.AppendRun(r.content, run)
		r.outputs += run.Count
	}
}

// check ends r in upstream's order of reasons (schedule_batch.py Req.check_finished).
func (r *Req) check() {
	switch {
	case r.ending != engines.NotFinished:
		r.Finish = r.ending
	case !r.IgnoreEOS && r.StopAt > 0 && r.outputs == r.StopAt:
		r.Finish = engines.Stopped
	case r.outputs >= r.MaxNew:
		r.Finish = engines.Length
	}
}

func (r *Req) done() bool { return r.Finish != engines.NotFinished }

// Mode is what a batch computes (§6.4).
type Mode uint8

const (
	Extend Mode = iota
	Decode
	Mixed
	None // no batch
)

// Batch is requests that run together. Full, upstream's batch_is_full, belongs to
// the object: a running batch that is replaced takes its flag away with it.
type Batch struct {
	Reqs     []*Req
	Mode     Mode
	Full     bool
	Decoding int // of a mixed batch, the requests at its end that decode
	// Grew[i] is Reqs[i]'s tokens before and in this step, for batches that extend.
	Prefix, Tokens []int
}

// filter drops finished requests and except; it says whether any left. A batch that
// keeps all is not written to.
func (b *Batch) filter(except *Req) bool {
	leaves := func(r *Req) bool { return r.done() || r == except }
	first := slices.IndexFunc(b.Reqs, leaves)
	if first < 0 {
		return false
	}
	b.Reqs = b.Reqs[:first+len(slices.DeleteFunc(b.Reqs[first:], leaves))]
	return true
}
