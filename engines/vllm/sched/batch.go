package sched

// Origin is where a scheduled request came from.
type Origin uint8

const (
	FromRunning Origin = iota
	FromWaiting
	FromPreempted
)

// Entry is one request's part in a batch.
type Entry struct {
	Request  *Request
	Origin   Origin
	Tokens   int  // scheduled
	Computed int  // computed before
	Drafts   int  // of Tokens, drafts to verify
	Samples  bool // the step computes the last known token, so a token is sampled
	// Accepted is how many of Drafts the target model accepts; whoever runs the batch
	// sets it before Update.
	Accepted int
	epoch    int // the request's preemptions when scheduled
}

// Batch is the answer of one Schedule call.
type Batch struct {
	Step    int // number of the call, from 1
	Tokens  int // scheduled in all
	Entries []Entry
	// Cruising requests take one token each and have no entry; Attended sums what
	// their queries read in each KV group.
	Cruising int
	Attended []int64
	// Preempted lists the victims in order, with the tokens they had computed.
	Preempted []Victim
	// Finished are the requests whose end is passed on with this batch.
	Finished []*Request
}

// Victim is a preempted request.
type Victim struct {
	Request  *Request
	Computed int
}

func (b *Batch) reset(step int) {
	b.Step, b.Tokens, b.Cruising, b.Attended = step, 0, 0, b.Attended[:0]
	b.Entries, b.Preempted, b.Finished = b.Entries[:0], b.Preempted[:0], b.Finished[:0]
}

// Event is what a batch did to one request.
type Event struct {
	Request *Request
	Tokens  int // emitted
	Finish  Finish
	First   bool // first output of the request
	Gap     bool // the batch before returned a token of the request too
	Written int  // with First: prompt tokens newly made findable
}

// Output is the answer of one Update call. Its slices are reused.
type Output struct {
	// Verbose lists ordinary requests in Events too; the caller sets it.
	Verbose bool
	Events  []Event
	// Steady counts the ordinary requests: one token from this batch, one from the
	// batch before, not ended.
	Steady int
	Prefix PrefixStats // since the last Update
	Drafts DraftStats
}

// PrefixStats count prefix look-ups of admitted requests, apart for requests that
// had been preempted (vllm/v1/core/kv_cache_manager.py:221-230).
type PrefixStats struct {
	Requests, Queried, Hit                            int
	PreemptedRequests, PreemptedQueried, PreemptedHit int
}

// DraftStats count the verification of one batch.
type DraftStats struct {
	Drafts, Tokens, Accepted int
	PerPosition              []int // requests whose draft at this position was accepted
}

func (d *DraftStats) reset(k int) {
	d.Drafts, d.Tokens, d.Accepted = 0, 0, 0
	d.PerPosition = d.PerPosition[:0]
	for range k {
		d.PerPosition = append(d.PerPosition, 0)
	}
}

func (d *DraftStats) observe(drafts, accepted int) {
	d.Drafts++
	d.Tokens += drafts
	d.Accepted += accepted
	for i := range accepted {
		d.PerPosition[i]++
	}
}
