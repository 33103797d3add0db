package plan

import "github.com/inference-sim/accuracy-dashboard/internal/quantity"

// StepMode is what one step contains (§6.4).
type StepMode uint8

const (
	Mixed StepMode = iota
	ExtendOnly
	DecodeOnly
	Verify
	Prebuilt // KV came from elsewhere: host work, no forward pass
	Idle     // a dummy step an upstream runs to stay in lockstep
)

// Launch is how the step reaches the device.
type Launch uint8

const (
	Eager Launch = iota
	PiecewiseGraph
	FullGraph
)

// StepShape is one engine step, already padded by the engine. Engines reuse one
// value from step to step; a reader must not keep it.
type StepShape struct {
	Mode   StepMode
	Stage  int
	Ranks  []RankStep    // data-parallel ranks in lockstep
	Padded []PaddedShape // same length as Ranks
	Drafts DraftShape
}

// RankStep is the work of one data-parallel rank. Decoding sequences are given as
// sums, because their attention time depends on sums alone; this is what lets an
// engine form a steady step in constant time. (§6.2 lists them one by one.)
type RankStep struct {
	Extend  []Chunk
	Decode  DecodeBatch
	Sampled int // sequences that sample a token in this step
}

// Chunk is one sequence's prompt tokens in this step.
type Chunk struct {
	Query   int // new tokens computed
	Context int // tokens already in the KV cache
}

// DecodeBatch sums the decoding sequences.
type DecodeBatch struct {
	Seqs  int
	Query int // tokens per sequence: 1, or 1 + drafts when verifying
	// Attended[g] is the sum over sequences of tokens attended in KV group g of the
	// plan, after its window; a plan with one group has one value.
	Attended []int64
}

// PaddedShape is what is launched.
type PaddedShape struct {
	Tokens int // rows after padding; 0 when the rank idles
	Seqs   int // decode slots after padding
	Launch Launch
}

// DraftShape is speculative work in this step.
type DraftShape struct {
	Proposed int // draft tokens produced by the drafter in this step
	Verified int // draft tokens checked by the target in this step
}

// Tokens is the unpadded number of tokens of one rank.
func (r *RankStep) Tokens() int {
	n := r.Decode.Seqs * max(1, r.Decode.Query)
	for _, c := range r.Extend {
		n += c.Query
	}
	return n
}

// Method says how a value was obtained, most trusted first (§9.2).
type Method uint8

const (
	NoMethod Method = iota
	Measured
	Calibrated
	Transferred
	Literature
	VendorSpec
	Roofline
	Assumed
)

// methodNames is in rank order; index 0 is unused.
var methodNames = [...]string{"", "measured", "calibrated", "transferred", "literature", "vendor_spec", "roofline", "assumed"}

// String is the method's name in documents.
func (m Method) String() string { return methodNames[m] }

// ParseMethod is the inverse of String; ok is false for an unknown name.
func ParseMethod(s string) (m Method, ok bool) {
	for i, n := range methodNames {
		if i > 0 && n == s {
			return Method(i), true
		}
	}
	return NoMethod, false
}

// StepEstimate is the price of one step of one stage.
type StepEstimate struct {
	Total quantity.Seconds // from launch to result, what the simulator advances by
	// Device and Host are the two sides of Total before they overlap.
	Device, Host quantity.Seconds
	Method       Method // least trusted effective method among the values used (VAL-3)
}

// Part is one line of an explained price.
type Part struct {
	Name      string // the lowered layer's name, or the overhead's
	Primitive Primitive
	Kernel    KernelImpl
	Seconds   quantity.Seconds // all repeats together
	Low, High quantity.Seconds // 95% interval of the factor on Seconds, widened to hold Seconds; equal to it when none is known
	Ideal     quantity.Seconds // at the chip's datasheet peaks; 0 where no peak applies
	Bound     Bound            // which peak
	Flops     quantity.Flops
	Bytes     quantity.Bytes // to and from memory and over links
	Method    Method
	Entries   []string // registry entries used
	Flags     []string // "extrapolated", "unidentified"
}

// Bound is the peak that sets an ideal time.
type Bound string

const (
	NoBound      Bound = ""
	ComputeBound Bound = "compute"
	MemoryBound  Bound = "memory"
	LinkBound    Bound = "link"
)

// MemoryBreakdown is what one rank of one stage holds besides KV.
type MemoryBreakdown struct {
	Stages []StageMemory
}

// StageMemory closes: Device = Weights + Activations + Graphs + Buffers + Context + what is left for KV.
type StageMemory struct {
	Device      quantity.Bytes // the chip's memory as the driver reports it
	Weights     quantity.Bytes
	Activations quantity.Bytes // peak of the profiling step
	Graphs      quantity.Bytes // captured graph pools
	Buffers     quantity.Bytes // engine-chosen workspaces
	Context     quantity.Bytes // driver context, collectives' buffers, allocator slack
	Method      Method
}

// Move is one KV transfer in physical terms.
type Move struct {
	Tokens   int
	Device   string // catalog device of the lower tier, "" for GPU to GPU
	FromNode int
	ToNode   int
	FromRack int
	ToRack   int
	ToGPU    bool
}

// Demand is what a move needs of each link it crosses.
type Demand struct {
	Links   []LinkDemand
	Latency quantity.Seconds
	Method  Method
}

// LinkDemand is bytes over one link, and the most one move may take of it.
type LinkDemand struct {
	Link  string
	Bytes quantity.Bytes
	Rate  quantity.PerSecond
}
