package sched

import "github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"

// Status is where a request stands.
type Status uint8

const (
	Waiting Status = iota
	Running
	Preempted
	Finished
)

// Finish is why a request ended.
type Finish uint8

const (
	NotFinished Finish = iota
	Stopped
	Length
	Aborted
	Errored
)

// Request is one request in the scheduler. The owner fills the exported fields
// before Add and reads them afterwards; only the scheduler writes them then.
type Request struct {
	kv.Sequence
	course // next to the sequence: a cruising request's visit reads these alone

	Name      string // compared as a string to break ties of the priority policy
	Number    uint64 // breaks ties between equal names
	Priority  int    // larger is less urgent
	Arrival   float64
	MaxTokens int
	MinTokens int
	StopAt    int      // the output token with this number is an end of sequence; 0 is none
	Adapter   int      // LoRA adapter; 0 is none
	Grammar   *Grammar // structured output; nil is free text
	Resumable bool     // a streaming session
	Owner     any      // not read here

	Status      Status
	Blocked     Block
	Finish      Finish
	Preemptions int
	Cached      int // prompt tokens served from the cache at first admission
	Scheduled   int // tokens scheduled over all admissions; see ScheduledTokens

	admitted     bool    // has been admitted at least once
	reported     bool    // its first output has been reported
	chunk        bool    // the last step left prompt tokens to compute
	drafts       int     // draft tokens to verify in the next step
	placeholders int     // output tokens in flight whose number is not known yet
	eligible     int     // earliest step of the next decode, with a pipeline
	outputs      int     // batches in flight that will return a token
	chunks       []Chunk // inputs of a session not taken up yet
	dropped      int     // outputs in flight that a reset discards
	stale        int     // of those, scheduled before a preemption
	pending      int     // batches in flight that hold the request

	heap  int   // position in a heap
	queue queue // the queue it waits in, nil if none
}

// course is where a request stands among the running ones.
type course struct {
	order    uint64 // grows with admission; running is sorted by it
	lastEmit int    // step of the batch that returned its last token
	cruising bool
	joined   int // first step cruised
	leaves   int // step of its next visit
	stops    int // step by which the cruise ends
	armed    bool

	next, prev *Request // queue or wheel links
}

// Outputs is the number of output tokens so far.
func (r *Request) Outputs() int { return r.Tokens - r.Prompt }

// Drafts is the number of draft tokens to be verified next.
func (r *Request) Drafts() int { return r.drafts }

// Pending reports whether a batch in flight or the scheduler still refers to r.
func (r *Request) Pending() bool { return r.pending > 0 }

// limit is the number of tokens after which r ends at the latest.
func (r *Request) limit() int { return r.Prompt + r.MaxTokens }

// before is upstream's order of requests of the priority policy
// (vllm/v1/request.py __lt__).
func (r *Request) before(o *Request) bool {
	if r.Priority != o.Priority {
		return r.Priority < o.Priority
	}
	if r.Arrival != o.Arrival {
		return r.Arrival < o.Arrival
	}
	if r.Name != o.Name {
		return r.Name < o.Name
	}
	return r.Number < o.Number
}
