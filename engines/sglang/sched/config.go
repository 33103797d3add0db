// Package sched makes the decisions of SGLang's scheduler for one data-parallel rank
// of a dense or MoE decoder without speculation: which requests enter a step, how
// many of their tokens, who is retracted, what is evicted.
//
// In: requests, aborts, and the fact that a launched batch's tokens are there. Out:
// batches. It has no time, no randomness of its own and no I/O: a caller drives
// Next and Process in the order of the upstream's normal or overlap loop (Loop
// does). Invariants: a request is in exactly one of waiting, chunked, a batch, done;
// every slot and lock a request takes is returned when it ends (SIM-8).
//
// Source: sgl-project/sglang@0bda0b168ad5bf7311ae639904489a4698a05546, python/sglang/srt:
// managers/scheduler.py, managers/schedule_policy.py, managers/schedule_batch.py,
// managers/scheduler_components/. Rules kept: SGL-1, SGL-2, SIM-7, DEV-13.
package sched

// Config is what the scheduler reads of the resolved server arguments.
type Config struct {
	TotalTokens   int // max_total_num_tokens
	MaxRunning    int // max_running_requests
	ContextLen    int
	ChunkSize     int // chunked_prefill_size; <= 0 is off
	MaxPrefill    int // max_prefill_tokens
	PageSize      int
	Policy        Policy
	Conservative  float64 // schedule_conservativeness
	MixedChunk    bool
	Overlap       bool
	MaxQueued     int // max_queued_requests; 0 is no limit
	PrefillMax    int // prefill_max_requests; 0 is no limit
	ClipNewTokens int // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
	Seed          uint32

	Priorities        bool // enable_priority_scheduling
	LowFirst          bool // schedule_low_priority_values_first
	NoPreemption      bool
	PreemptThreshold  int
	DecodeLogInterval int // decode results between two publications of KV events
}

// Policy orders the waiting queue.
type Policy string

const (
	FCFS      Policy = "fcfs"
	LPM       Policy = "lpm"
	DFSWeight Policy = "dfs-weight"
	LOF       Policy = "lof"
	Random    Policy = "random"
)

// Policies lists them, the default first.
func Policies() []Policy { return []Policy{FCFS, LPM, DFSWeight, LOF, Random} }

// Constants of the modelled commit.
const (
	retractDecodeSteps = 20   // RETRACT_DECODE_STEPS
	reserveInput       = 5    // max_req_input_len = max_req_len - 5
	lpmQueueLimit      = 128  // longer queues are served in arrival order
	inBatchThreshold   = 32   // tokens of a prefix shared inside the queue
	DefaultClip        = 4096 // ClipNewTokens
	noMaxNew           = 1 << 30
)

// MaxReqLen is the longest prompt plus output.
func (c *Config) MaxReqLen() int { return min(c.ContextLen-1, c.TotalTokens-1) }

// MaxReqInputLen is the first prompt length that is refused.
func (c *Config) MaxReqInputLen() int { return c.MaxReqLen() - reserveInput }

// ratio is the share of outstanding output tokens admission reserves
// (scheduler_components/new_token_ratio_tracker.py).
type ratio struct{ init, min, decay, now float64 }

func newRatio(conservative float64) ratio {
	r := ratio{init: min(float64(0.7*conservative), 1)}
	r.min = min(float64(r.init*0.14), 1)
	r.decay = (r.init - r.min) / 600
	r.now = r.init
	return r
}

func (r *ratio) step()  { r.now = max(r.now-r.decay, r.min) }
func (r *ratio) reset() { r.now = r.init }
