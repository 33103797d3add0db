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

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

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
	DecodeCredits int // prefill_decode_interval: decode steps after a prefill step
	Seed          uint32
	Tuning

	Priorities        bool // enable_priority_scheduling
	LowFirst          bool // schedule_low_priority_values_first
	NoPreemption      bool
	PreemptThreshold  int
	DecodeLogInterval int // decode results between two publications of KV events

	Attends  []int // caps of the tokens a decoding request attends, to be summed; 0 is none
	Stepwise bool  // visit every request in every step; decides nothing
}

// Tuning are the constants that environment variables change (environ.py).
type Tuning struct {
	ClipNewTokens   int     // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
	InitRatio       float64 // SGLANG_INIT_NEW_TOKEN_RATIO
	MinRatioFactor  float64 // SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR
	RatioDecaySteps int     // SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS
	RetractSteps    int     // SGLANG_RETRACT_DECODE_STEPS
	InBatchCheck    int     // IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD
	InBatchDefer    int     // IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD
}

// Untuned are the values of an empty environment.
func Untuned() Tuning {
	return Tuning{ClipNewTokens: 4096, InitRatio: 0.7, MinRatioFactor: 0.14, RatioDecaySteps: 600, RetractSteps: 20, InBatchCheck: 32, InBatchDefer: 32}
}

// Set gives a variable its value; known is false when no variable of that name is
// read here.
func (t *Tuning) Set(name, value string) (known bool, err error) {
	switch name {
	case "SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION":
		err = count(&t.ClipNewTokens, value, 0)
	case "SGLANG_INIT_NEW_TOKEN_RATIO":
		err = share(&t.InitRatio, value)
	case "SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR":
		err = share(&t.MinRatioFactor, value)
	case "SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS":
		err = count(&t.RatioDecaySteps, value, 1)
	case "SGLANG_RETRACT_DECODE_STEPS":
		err = count(&t.RetractSteps, value, 0)
	case "IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD":
		err = count(&t.InBatchCheck, value, -1) // -1 turns the check off
	case "IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD":
		err = count(&t.InBatchDefer, value, -1)
	default:
		return false, nil
	}
	return true, err
}

func count(to *int, value string, least int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		return fmt.Errorf("want an integer >= %d", least)
	}
	*to = n
	return nil
}

func share(to *float64, value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= 0 && v <= math.MaxFloat64) {
		return errors.New("want a finite number >= 0")
	}
	*to = v
	return nil
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
	reserveInput  = 5   // max_req_input_len = max_req_len - 5
	lpmQueueLimit = 128 // longer queues are served in arrival order
	noMaxNew      = 1 << 30
)

// MaxReqLen is the longest prompt plus output.
func (c *Config) MaxReqLen() int { return min(c.ContextLen-1, c.TotalTokens-1) }

// MaxReqInputLen is the first prompt length that is refused.
func (c *Config) MaxReqInputLen() int { return c.MaxReqLen() - reserveInput }

// ratio is the share of outstanding output tokens admission reserves
// (scheduler_components/new_token_ratio_tracker.py).
type ratio struct{ init, min, decay, now float64 }

func newRatio(c *Config) ratio {
	r := ratio{init: min(float64(c.InitRatio*c.Conservative), 1)}
	r.min = min(float64(r.init*c.MinRatioFactor), 1)
	r.decay = (r.init - r.min) / float64(c.RatioDecaySteps)
	r.now = r.init
	return r
}

func (r *ratio) step()  { r.now = max(r.now-r.decay, r.min) }
func (r *ratio) reset() { r.now = r.init }
