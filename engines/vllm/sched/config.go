// Package sched is vLLM's V1 scheduler and engine loop: which requests a step
// computes, who is preempted, when a request ends, and how many batches are in
// flight.
//
// In: a Config, requests (Add, Abort) and, for each batch, how many drafts were
// accepted. Out: Batches, in the order upstream schedules them, and the Output of
// each when it completes. It has no clock, prices nothing, draws nothing and never
// reads a token: a request knows how many tokens it will emit before its end of
// sequence and the stop check alone looks at that (DEV-13).
//
// Invariants: a request is in exactly one of waiting, skipped, running or
// finished; running holds at most MaxNumSeqs; a batch holds at most the token
// budget; every count stays at or above zero. Rules kept: VLM-1, VLM-2, VLM-4,
// VLM-5, SIM-8.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec
// vllm/v1/core/sched, vllm/v1/engine/core.py.
package sched

import (
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

// Policy orders the waiting requests.
type Policy uint8

const (
	FCFS Policy = iota
	Priority
)

// Runner is the model runner's version; it decides pipeline depth and when a
// decode may follow its predecessor.
type Runner uint8

const (
	RunnerV2 Runner = iota
	RunnerV1
)

// Config is what start-up resolved for one engine.
type Config struct {
	MaxNumSeqs                int
	MaxNumBatchedTokens       int
	MaxNumScheduledTokens     int // 0 is MaxNumBatchedTokens
	MaxModelLen               int
	ChunkedPrefill            bool
	LongPrefillTokenThreshold int // 0 is off
	Policy                    Policy
	Async                     bool
	PipelineParallel          int
	Runner                    Runner
	Watermark                 float64 // share of the pool admission keeps free
	ReserveFullISL            bool    // scheduler_reserve_full_isl
	Speculative               *Speculative
	MaxLoRAs                  int // adapters in one step; 0 is no limit
	PrefillInterval           int // prefills start in every n-th step only; 0 and 1 are off

	Layers        []kv.Layer
	BlockSize     int
	NumBlocks     int // the null block included
	PrefixCaching bool
	Retention     int  // prefix_cache_retention_interval; kv.Dense is None
	DisableHybrid bool // disable_hybrid_kv_cache_manager
	AlignedMamba  bool // mamba_cache_mode is align
	Sink          kv.Sink
	// Connector is kv_transfer_config.kv_connector; "" is none.
	Connector string
	// Stepwise visits every running request in every step. Decisions are the same
	// either way.
	Stepwise bool
	// UncheckedPool skips the start-up test that one request of MaxModelLen fits.
	UncheckedPool bool
}

// Speculative is a drafter.
type Speculative struct {
	Method string
	Tokens int // drafts a step, K
	// Parallel marks a drafter that proposes all its tokens in one pass.
	Parallel bool
	// Modules is the number of multi-token-prediction modules; 0 is one.
	Modules int
	// Schedule lists [first, last, drafts]: the drafts made after a step of so many
	// requests. nil is always Tokens.
	Schedule [][]int
}

// MaxConcurrentBatches is how many batches the engine keeps in flight
// (vllm/config/vllm.py:584-594).
func (c *Config) MaxConcurrentBatches() int {
	p := max(c.PipelineParallel, 1)
	switch {
	case !c.Async:
		return p
	case c.Runner == RunnerV2:
		return p + 1
	case p == 1:
		return 2
	}
	return p
}

// MaxInFlightTokens is the most tokens whose output can be outstanding
// (vllm/config/vllm.py:597-605).
func (c *Config) MaxInFlightTokens() int {
	return c.MaxConcurrentBatches() * c.MaxNumBatchedTokens
}

// budget is the token budget of a step (vllm/v1/core/sched/scheduler.py:112-116).
func (c *Config) budget() int {
	if c.MaxNumScheduledTokens > 0 {
		return c.MaxNumScheduledTokens
	}
	return c.MaxNumBatchedTokens
}
