// Package oracle replays recorded runs of vLLM's own scheduler through
// engines/vllm/sched and engines/vllm/kv and compares every recorded value.
//
// In: one trace (scenario, resolved start-up facts, one record a loop iteration,
// final state). Out: a Report: how many steps and values were compared, and every
// difference. A value that only one side has, or a field this package does not
// know, is a difference. Rules kept: VLM-1, VLM-7, X9.
package oracle

// This file is the project's own: it reads recordings.

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
)

// scenario is the complete input of a recorded run.
type scenario struct {
	Name       string          `json:"name"`
	Tags       []string        `json:"tags"`
	Seed       int             `json:"seed"`
	Detail     string          `json:"detail"`
	MaxSteps   int             `json:"max_steps"`
	ResetSteps []int           `json:"reset_prefix_cache_steps"`
	Config     json.RawMessage `json:"config"`
	Requests   []request       `json:"requests"`
	Ops        []op            `json:"ops"`
}

type request struct {
	ID          string    `json:"id"`
	ArrivalStep int       `json:"arrival_step"`
	ArrivalTime *float64  `json:"arrival_time"`
	Prompt      []segment `json:"prompt"`
	MaxTokens   int       `json:"max_tokens"`
	MinTokens   int       `json:"min_tokens"`
	OutputLen   int       `json:"output_len"`
	OutStream   *int      `json:"out_stream"`
	Priority    int       `json:"priority"`
	CacheSalt   string    `json:"cache_salt"`
	AbortStep   *int      `json:"abort_step"`
	AbortPhase  string    `json:"abort_phase"`
	LoRA        int       `json:"lora"`
	Resumable   bool      `json:"resumable"`
	Structured  *grammar  `json:"structured"`
}

// grammar says when a structured request's grammar is ready and what it lets through.
type grammar struct {
	ReadyStep   int  `json:"ready_step"`
	Error       bool `json:"error"`
	RejectAt    int  `json:"reject_at"`
	ValidDrafts *int `json:"valid_drafts"`
}

// op is something done to the engine from outside before an iteration.
type op struct {
	at   int
	name string
	args []json.RawMessage
}

func (o *op) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if len(raw) < 2 {
		return fmt.Errorf("an operation has %d values", len(raw))
	}
	o.args = raw[2:]
	return errors.Join(json.Unmarshal(raw[0], &o.at), json.Unmarshal(raw[1], &o.name))
}

// settings are a scenario's configuration; absent keys take the recorder's defaults.
type settings struct {
	MaxNumSeqs                int      `json:"max_num_seqs"`
	MaxNumBatchedTokens       int      `json:"max_num_batched_tokens"`
	MaxModelLen               int      `json:"max_model_len"`
	BlockSize                 int      `json:"block_size"`
	NumGPUBlocks              int      `json:"num_gpu_blocks"`
	EnablePrefixCaching       bool     `json:"enable_prefix_caching"`
	EnableChunkedPrefill      bool     `json:"enable_chunked_prefill"`
	LongPrefillTokenThreshold int      `json:"long_prefill_token_threshold"`
	Policy                    string   `json:"policy"`
	AsyncScheduling           bool     `json:"async_scheduling"`
	Watermark                 float64  `json:"watermark"`
	ReserveFullISL            bool     `json:"scheduler_reserve_full_isl"`
	KVEvents                  bool     `json:"kv_events"`
	HashAlgo                  string   `json:"prefix_caching_hash_algo"`
	PipelineParallelSize      int      `json:"pipeline_parallel_size"`
	ModelRunner               string   `json:"model_runner"`
	Speculative               *drafter `json:"speculative"`
	Layers                    []layer  `json:"layers"`
	RetentionInterval         *int     `json:"prefix_cache_retention_interval"`
	MaxNumScheduledTokens     *int     `json:"max_num_scheduled_tokens"`
	DisableHybrid             bool     `json:"disable_hybrid_kv_cache_manager"`
	UncheckedPool             bool     `json:"unchecked_pool"`
	IntBlockHashes            bool     `json:"int_block_hashes"`
	MambaCacheMode            string   `json:"mamba_cache_mode"`

	LoRA *struct {
		MaxLoRAs int `json:"max_loras"`
	} `json:"lora"`
	PrefillInterval int     `json:"prefill_schedule_interval"`
	Throttle        bool    `json:"dp_throttle"`
	MTPModules      int     `json:"num_mtp_modules"`
	SpecSchedule    [][]int `json:"spec_schedule"`
	DecodeContext   int     `json:"decode_context"`
	KVTransfer      *struct {
		Connector string          `json:"kv_connector"`
		Role      string          `json:"kv_role"`
		Extra     json.RawMessage `json:"kv_connector_extra_config"`
		Engine    string          `json:"engine_id"`
		Failure   string          `json:"kv_load_failure_policy"`
		Module    *string         `json:"kv_connector_module_path"`
	} `json:"kv_transfer"`
}

// drafter is a speculative method with the acceptance the recorder played.
type drafter struct {
	Method   string `json:"method"`
	Tokens   int    `json:"num_speculative_tokens"`
	Accept   []int  `json:"accept"`
	DraftLen []int  `json:"draft_len"`
	Parallel bool   `json:"parallel_drafting"`
}

// layer is [kind, count, window] or [kind, count, window, head size].
type layer struct {
	kind     string
	count    int
	window   int
	headSize int
}

func (l *layer) UnmarshalJSON(data []byte) error {
	var window *int
	l.headSize = 8
	parts := []any{&l.kind, &l.count, &window, &l.headSize}
	if err := tuple(data, "a layer", 3, parts); err != nil {
		return err
	}
	if window != nil {
		l.window = *window
	}
	return nil
}

// segment is [stream, start, count] or ["lit", [tokens]].
type segment struct {
	stream, start, count int
	literal              []int32
}

func (s *segment) UnmarshalJSON(data []byte) error {
	var word string
	if err := tuple(data, "a literal", 2, []any{&word, &s.literal}); err == nil && word == "lit" {
		s.count = len(s.literal)
		return nil
	}
	return tuple(data, "a segment", 3, []any{&s.stream, &s.start, &s.count})
}

// tuple decodes a JSON array of at least least values into parts.
func tuple(data []byte, what string, least int, parts []any) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if len(raw) < least || len(raw) > len(parts) {
		return fmt.Errorf("%s has %d values", what, len(raw))
	}
	for i, r := range raw {
		if err := json.Unmarshal(r, parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// defaults are what the recorder took for absent keys.
func defaults() settings {
	zero := 0
	return settings{MaxNumSeqs: 16, MaxNumBatchedTokens: 8192, MaxModelLen: 2048, BlockSize: 16, NumGPUBlocks: 1000,
		EnablePrefixCaching: true, EnableChunkedPrefill: true, Policy: "fcfs", ReserveFullISL: true, HashAlgo: "sha256",
		PipelineParallelSize: 1, ModelRunner: "v2", RetentionInterval: &zero, IntBlockHashes: true, MambaCacheMode: "none"}
}

func parseConfig(name string, raw json.RawMessage) (*settings, error) {
	c := defaults()
	if len(raw) == 0 {
		return nil, &diag.Refusal{File: name, Field: "scenario.config", Problem: "is missing", Accept: "an object, {} for the recorder's defaults"}
	}
	if err := replay.Input(name, "scenario.config", raw, &c); err != nil {
		return nil, err
	}
	return &c, diag.In(name, c.check())
}

// lower turns the recorded configuration into the scheduler's.
func (c *settings) lower() (*sched.Config, error) {
	out := &sched.Config{
		MaxNumSeqs: c.MaxNumSeqs, MaxNumBatchedTokens: c.MaxNumBatchedTokens, MaxModelLen: c.MaxModelLen,
		ChunkedPrefill: c.EnableChunkedPrefill, LongPrefillTokenThreshold: c.LongPrefillTokenThreshold,
		Async: c.AsyncScheduling, PipelineParallel: c.PipelineParallelSize, Watermark: c.Watermark,
		ReserveFullISL: c.ReserveFullISL, BlockSize: c.BlockSize, NumBlocks: c.NumGPUBlocks,
		PrefixCaching: c.EnablePrefixCaching, Retention: kv.Dense, DisableHybrid: c.DisableHybrid, UncheckedPool: c.UncheckedPool,
	}
	if c.RetentionInterval != nil {
		out.Retention = *c.RetentionInterval
	}
	if c.MaxNumScheduledTokens != nil {
		out.MaxNumScheduledTokens = *c.MaxNumScheduledTokens
	}
	if d := c.Speculative; d != nil {
		out.Speculative = &sched.Speculative{Method: d.Method, Tokens: d.Tokens, Parallel: d.Parallel, Modules: c.MTPModules, Schedule: c.SpecSchedule}
	}
	if c.LoRA != nil {
		out.MaxLoRAs = c.LoRA.MaxLoRAs
	}
	if c.Throttle {
		out.PrefillInterval = c.PrefillInterval
	}
	if c.KVTransfer != nil {
		out.Connector = c.KVTransfer.Connector
	}
	if c.DecodeContext > 1 {
		return nil, &diag.Refusal{Field: "decode_context", Value: fmt.Sprint(c.DecodeContext), Problem: "context parallelism is not modelled", Accept: "1"}
	}
	for _, word := range []struct {
		field, value string
		accept       []string
		set          func(i int)
	}{
		{"policy", c.Policy, []string{"fcfs", "priority"}, func(i int) { out.Policy = sched.Policy(i) }},
		{"model_runner", c.ModelRunner, []string{"v2", "v1"}, func(i int) { out.Runner = sched.Runner(i) }},
		{"mamba_cache_mode", c.MambaCacheMode, []string{"none", "align"}, func(i int) { out.AlignedMamba = i == 1 }},
	} {
		i, err := replay.Choice(word.field, word.value, word.accept...)
		if err != nil {
			return nil, err
		}
		word.set(i)
	}
	return out, c.lowerLayers(out)
}

func (c *settings) lowerLayers(out *sched.Config) error {
	layers := c.Layers
	if layers == nil {
		layers = []layer{{kind: "full", count: 2, headSize: 8}}
	}
	for _, l := range layers {
		i, err := replay.Choice("layers", l.kind, layerKinds...)
		if err != nil {
			return err
		}
		out.Layers = append(out.Layers, kv.Layer{Count: l.count, Spec: kv.GroupSpec{
			Kind: kv.Kind(i), BlockSize: c.BlockSize, Window: l.window, PageBytes: int64(2 * 2 * c.BlockSize * l.headSize)}})
	}
	return nil
}
