// Package plan is what an engine tells the cost model and what a price is: a
// PoolPlan fixed for the life of a pool, a StepShape for each step, a Move for
// each KV transfer, and the answers. Physical units only: bytes, tokens, ranks,
// seconds. No engine name, setting or default ever appears here, and a zero value
// means "absent". The package computes nothing.
//
// Source: Target Design §6.2. Rules kept: X2, SUB-1, SUB-6, SUB-16.
package plan

import "github.com/inference-sim/accuracy-dashboard/internal/quantity"

// PoolPlan describes one engine pool: what is resident, what runs in a step, and
// how it is spread over ranks.
type PoolPlan struct {
	Hardware string // catalog chip name
	Fabric   string // catalog network name; "" on one node
	Layout   Layout

	Layers []LoweredLayer // in execution order; Repeat folds identical consecutive layers
	KV     []KVGroup
	Graphs GraphPolicy
	Host   HostPlan

	Drafts      DraftPolicy
	DraftLayers []LoweredLayer

	Weights []ResidentTensor
	Buffers []Buffer
	Profile StepShape // the engine's own memory-profiling step

	KVBudget []quantity.Bytes // per rank, one value per pipeline stage; nil in a partial plan
	Tiers    []KVTier
	InFlight int // most steps in flight at once
}

// Layout gives the parallel widths. One rank is one GPU.
type Layout struct {
	Tensor, Pipeline, Data, Expert, Context int // 1 when not used
	// RanksPerNode is how many of the pool's ranks share a node.
	RanksPerNode int
}

// Ranks is the number of GPUs of the pool.
func (l Layout) Ranks() int {
	return max(1, l.Tensor) * max(1, l.Pipeline) * max(1, l.Data) * max(1, l.Context)
}

// LoweredLayer is one primitive of one model layer as one rank runs it.
type LoweredLayer struct {
	Layer      int // index of the first model layer in the graph; -1 before and after the layers
	Repeat     int // how many model layers of the stage run exactly this; 1 or more
	Stage      int // pipeline stage
	Primitive  Primitive
	Name       string // role in the model, for people: "qkv_proj", "experts", "attn"
	Kernel     KernelImpl
	Shape      Shape
	Collective *Collective
	Captured   bool // part of a captured graph when the step launches piecewise
}

// Primitive is a member of the closed list below.
type Primitive string

const (
	GEMM            Primitive = "gemm"
	AttentionExtend Primitive = "attention.extend" // prompt tokens, with or without cached context
	AttentionDecode Primitive = "attention.decode"
	MLAExtend       Primitive = "mla.extend"
	MLADecode       Primitive = "mla.decode"
	SparseIndex     Primitive = "attention.index" // sparse attention's token selector
	RecurrentExtend Primitive = "recurrent.extend"
	RecurrentDecode Primitive = "recurrent.decode"
	GroupedGEMM     Primitive = "moe.grouped_gemm"
	AllReduce       Primitive = "all_reduce"
	AllGather       Primitive = "all_gather"
	ReduceScatter   Primitive = "reduce_scatter"
	AllToAll        Primitive = "all_to_all"
	SendRecv        Primitive = "send_recv"
	Elementwise     Primitive = "elementwise"
	Quantize        Primitive = "quantize"
	Sampling        Primitive = "sampling"
)

// Primitives lists the closed set in a fixed order.
func Primitives() []Primitive {
	return []Primitive{GEMM, AttentionExtend, AttentionDecode, MLAExtend, MLADecode, SparseIndex, RecurrentExtend,
		RecurrentDecode, GroupedGEMM, AllReduce, AllGather, ReduceScatter, AllToAll, SendRecv, Elementwise, Quantize, Sampling}
}

// KernelImpl names what executes a primitive (§6.2).
type KernelImpl struct {
	Library  string // "cublas", "flash-attn", "flashinfer", "vllm-csrc", ...
	Variant  string // the library's kernel name
	CodeHash string // "" where the source does not record one
}

// DType is a number format of the catalog's list: "bf16", "fp8", "fp8_block", "nvfp4", "mxfp4", "int4_w4a16", "fp32".
type DType string

// Rows says how many rows of a token-wise primitive a step launches.
type Rows string

const (
	RowsTokens   Rows = ""         // one row a (padded) token
	RowsSampled  Rows = "sampled"  // one row a sequence that samples
	RowsExpert   Rows = "expert"   // tokens times top-k, spread over experts
	RowsGathered Rows = "gathered" // tokens of every data-parallel rank together
)

// Shape is the geometry of one primitive on one rank. Which fields are read
// depends on the primitive; the rest are zero.
type Shape struct {
	Rows Rows

	// GEMM: [rows,K] x [K,N] in Weight format with activations in Act.
	N, K        int
	Act, Weight DType

	// Attention: heads on this rank. KVGroup indexes PoolPlan.KV.
	Heads, KVHeads, HeadDim, ValueDim int
	KVType                            DType
	Window                            int // tokens; 0 is full attention
	Chunk                             int // chunked-local attention; 0 is none
	KVGroup                           int
	TopTokens                         int // sparse attention: tokens attended at most; 0 is all
	LatentRank, RopeDim               int // MLA: kv_lora_rank and qk_rope_head_dim

	// Grouped GEMM: Experts and Inter are the model's totals.
	Experts, TopK, Hidden, Inter int
	ExpertTensor, ExpertRanks    int // moe_tp, moe_ep

	// Recurrent: state bytes of one sequence on this rank, and its heads' sizes.
	StateBytes quantity.Bytes

	// Elementwise, quantize, sampling: bytes read and written for one row.
	BytesPerRow quantity.Bytes
	// LivePerRow is the most bytes one row holds while the entry runs, where that is
	// not BytesPerRow; only the memory of the profiling step depends on it.
	LivePerRow quantity.Bytes
	// Launches is how many kernels the entry stands for; 0 means 1.
	Launches int
}

// Collective is one exchange among ranks.
type Collective struct {
	Ranks     int
	CrossNode bool
	// BytesPerRow is the payload one rank contributes for one row of its shape.
	BytesPerRow quantity.Bytes
}

// KVGroup is one group of layers that share a block table.
type KVGroup struct {
	Kind         string // "full", "sliding_window", "chunked_local", "mla", "recurrent"
	Window       int    // tokens; 0 where the kind has none
	Layers       int    // layers of the group on one stage
	PageTokens   int
	BytesPerPage quantity.Bytes // one rank, all layers of the group
}

// KVTier is a KV store below GPU memory.
type KVTier struct {
	Device string // catalog device name
	Bytes  quantity.Bytes
	Shared bool // one copy a node rather than one a rank
}

// GraphPolicy lists the captured shapes. ByBatch: sizes count sequences, else tokens.
type GraphPolicy struct {
	Full      []int // full graphs (uniform decode), ascending; nil is none
	Piecewise []int // piecewise graphs, ascending; nil is none
	ByBatch   bool
}

// DraftPolicy is speculative decoding: a chain of Tokens drafts a step.
type DraftPolicy struct {
	Tokens int
	TopK   int // 1 or 0 is a chain
}

// HostPlan scales host work that a price charges.
type HostPlan struct {
	// Overlapped: the host prepares the next step while the device runs this one.
	Overlapped bool
	// StreamInterval is how many tokens one response chunk carries; 0 means 1.
	StreamInterval int
	// Library runs the host's loop; "" asks for no price of its own.
	Library string
}

// ResidentTensor is weight memory on one rank.
type ResidentTensor struct {
	Name  string
	Stage int
	Bytes quantity.Bytes
	DType DType
}

// Buffer is a workspace the engine sizes itself.
type Buffer struct {
	Name  string
	Stage int
	Bytes quantity.Bytes
}
