// Package engines is the contract between the simulator and an engine port: what
// an engine is, and what it may ask of its environment.
//
// An engine is a state machine without time. The simulator tells it what arrived,
// asks it to Poll, advances simulated time by the prices of the batches it
// launches, and calls Complete when the oldest batch in flight ends. The engine
// decides everything its upstream decides and nothing else; it has no clock and no
// goroutine, and seeds nothing: a request brings what chance decides of it.
//
// Source: Target Design §6.2 to §6.4, §8.2. Rules kept: X3, SIM-7, SIM-12, DEV-3,
// DEV-6, DEV-13.
package engines

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// Engine is one instance of a serving engine.
//
// A driver's loop at one instant is:
//
//	if the oldest batch ends now { Complete(&out) }
//	for { switch a := e.Poll(); a.Do { case Launch: price is a.Batch.Stages; continue; case Wait, Idle: stop } }
//
// Inputs handed over by Submit and Abort take effect where the upstream's loop
// reads its input queue, which is inside Poll and, for aborts that arrive while a
// batch runs, inside Complete.
type Engine interface {
	// Plan is the resolved pool plan, fixed since New.
	Plan() *plan.PoolPlan
	// Submit queues a request. A request the upstream's front end or admission would
	// reject comes back as a Rejection and is never queued.
	Submit(r *Request) *Rejection
	// Abort cancels a request by id; an unknown or finished id is ignored, as upstream.
	Abort(id RequestID)
	// Poll runs one iteration of the upstream's loop up to where it would wait.
	Poll() Action
	// Complete applies the output of the oldest batch in flight. out is overwritten
	// and valid until the next call; its slices are reused.
	Complete(out *Outcome)
	// Stats reads the engine's published gauges; constant time.
	Stats() Stats
}

// RequestID is unique within a run and never reused (SIM-8).
type RequestID uint64

// Request is what the front end hands the engine. The engine keeps the pointer
// until the request ends and writes only Token. Once the batches in flight at its
// end have completed, the memory may come back as a new request.
type Request struct {
	ID        RequestID
	Prompt    []Segment // token content, for prefix caching; lengths sum to the prompt length
	Output    Segment   // content of generated tokens: token j is Output.Start+j of its stream
	MaxTokens int       // what the client stated; 0 is unset
	MinTokens int
	IgnoreEOS bool
	StopAt    int     // forced end of sequence after this many output tokens; 0 is none (DEV-13: read only by the stop check)
	Priority  int     // larger is less urgent
	Arrival   float64 // seconds; only orders equal priorities
	Salt      string  // cache salt
	// Drafts decides which drafts the target accepts: number i, uniform on [0, 1), is
	// output token i's. Whatever is drafted when, a token's number stays (DEV-6).
	Drafts substream.Stream
	Token  TokenRecord
}

// PromptTokens is the prompt's length.
func (r *Request) PromptTokens() int {
	n := 0
	for _, s := range r.Prompt {
		n += s.Count
	}
	return n
}

// Segment is a run of tokens: token i of the segment is token Start+i of Stream.
// Equal (Stream, index) pairs are equal tokens; different streams share none.
type Segment struct {
	Stream uint64
	Start  int
	Count  int
}

// TokenRecord counts a request's tokens once (SIM-12).
type TokenRecord struct {
	Prompt      int // tokens of the prompt
	CachedLocal int // of them, served from the local prefix cache at first admission
	Computed    int // tokens computed over all admissions, recomputation included
	Emitted     int // output tokens
	Preemptions int
}

// Rejection says why a request was not taken, in the upstream's words.
type Rejection struct{ Reason string }

// Do is what Poll found.
type Do uint8

const (
	Idle   Do = iota // nothing to do until an input arrives
	Wait             // nothing to do until the oldest batch ends
	Launch           // Batch was launched; Poll again at the same instant
)

// Action is Poll's answer. Batch is valid until the next call of any method.
type Action struct {
	Do    Do
	Full  bool // with Launch: Poll would now answer Wait, and need not be asked
	Batch Batch
}

// Batch is one launched step.
type Batch struct {
	// Steps holds one shape a pipeline stage, each with its price. Stage k+1 starts
	// when stage k of this batch and stage k+1 of the batch before have ended.
	Steps []PricedStep
	// Empty marks an upstream idle or dummy step that changes no request (DEV-5).
	Empty     bool
	Transfers []Transfer
	// Admitted are the requests that no batch before held, in scheduling order.
	Admitted []RequestID
}

// PricedStep is a step and what the environment said it costs.
type PricedStep struct {
	Shape *plan.StepShape
	Price plan.StepEstimate
}

// Transfer is a KV move the engine starts with a batch.
type Transfer struct {
	Request RequestID
	Move    plan.Move
}

// Outcome is what a completed batch did. Requests that did the ordinary thing
// (emitted exactly one token in this batch and exactly one in the batch completed
// before it, and did not end) are only counted in Steady; every other request
// that emitted or ended has an entry in Events, in the order the upstream
// processes them.
type Outcome struct {
	Steady     int
	Events     []Event
	Preempted  []RequestID
	Scheduled  int // tokens the batch had scheduled
	Waiting    int // requests waiting after the update
	Running    int // requests running after the update
	KVUsage    float64
	PrefixHits PrefixCounters // since the last Outcome
}

// Event is one request's part in a batch.
type Event struct {
	Request *Request
	Tokens  int // tokens emitted in this batch; 0 for an abort
	First   bool
	Finish  Finish // why it ended, NotFinished while it runs
	// Gap is true when the request's previous token came from the batch completed
	// just before, so its inter-token gap is the driver's gap between the two.
	Gap bool
}

// Finish is why a request ended.
type Finish uint8

const (
	NotFinished Finish = iota
	Stopped
	Length
	Aborted
	Repetition
)

// PrefixCounters counts prefix-cache queries in tokens.
type PrefixCounters struct{ Queried, Hit int64 }

// Stats are the gauges an engine publishes.
type Stats struct {
	Running, Waiting int
	KVUsage          float64 // share of usable blocks, 0 to 1
	KVBlocks         int     // usable blocks
}

// Pricer prices steps of one plan. It may memoise; it must not keep step.
type Pricer interface {
	Price(step *plan.StepShape) plan.StepEstimate
}

// Environment is all an engine may ask for.
type Environment interface {
	Model(name string) (*catalog.Model, error)
	Chip(name string) (*catalog.Chip, error)
	Memory(partial *plan.PoolPlan) (plan.MemoryBreakdown, error)
	Pricer(p *plan.PoolPlan) (Pricer, error)
	Transfer(p *plan.PoolPlan, m plan.Move) (plan.Demand, error)
	// Acceptance is of the workload that the run serves, which no engine is told (D8).
	Acceptance(model, drafter string, k int) (Acceptance, error)
}

// Acceptance is how the run's workload accepts drafts (D8).
type Acceptance struct {
	PerPosition []float64 // probability that position i is accepted given all before it were
	Source      string
	Step        string // "stated", "exact", or which borrowing step of D8 found it
}

// Spec is what a scenario says of one engine instance.
type Spec struct {
	Model      string         // catalog model name
	Checkpoint string         // catalog checkpoint name; "" is the entry's first
	Hardware   string         // catalog chip name
	Nodes      int            // nodes of the pool; 1 unless stated
	Fabric     string         // catalog network between nodes; "" is the chip's own
	Args       map[string]any // the upstream's own long argument names, values as recorded
	Env        map[string]string
	// EveryToken asks for an Event of every token, Outcome.Steady being 0: a step then
	// costs O(batch). No decision depends on it.
	EveryToken bool
}

// Resolved is one setting with where its value came from.
type Resolved struct {
	Name   string
	Value  string
	Source string // "stated", "recorded", "default", "rule"
	Why    string // for a rule: which
}

// Kind is one engine port in this binary.
type Kind interface {
	Name() string // "vllm", "sglang"
	Upstream() Upstream
	// New resolves spec, sizes the KV cache and returns an engine, or refuses with
	// the upstream's own words.
	New(spec Spec, env Environment) (Engine, error)
	// Explain resolves without building: every setting with its source.
	Explain(spec Spec, env Environment) ([]Resolved, *plan.PoolPlan, error)
	// Fields is the port's field list: status and estimation rule of every setting.
	Fields() *fields.List
}

// Upstream names the one release a port models (LIF-5).
type Upstream struct {
	Repository string
	Commit     string
	Date       string
	Version    string // what a scenario's engine.version must say, e.g. "main-2f41c894"
	Note       string // what the design asked for and why this is what could be had
}
