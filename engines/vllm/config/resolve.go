package config

import (
	"fmt"
	"slices"
)

// Input is a launch as stated.
type Input struct {
	Args        map[string]any // upstream long names, dashes or underscores
	Env         map[string]string
	Model       Model
	Chip        Chip
	Usage       Usage
	GPUsPerNode int // 0 is 8
}

// Resolve runs start-up resolution in upstream's order: model, cache, launch
// checks, parallel, speculative, scheduler, LoRA, compilation. The first class
// that refuses ends it, with an *Upstream.
func Resolve(in Input) (*Config, error) {
	args, err := Normal(in.Args)
	if err != nil {
		return nil, err
	}
	c := &Config{Model: in.Model, Chip: in.Chip, Usage: in.Usage, GPUsPerNode: in.GPUsPerNode, Sources: map[string]Source{}}
	if c.GPUsPerNode == 0 {
		c.GPUsPerNode = 8
	}
	r := &reader{c: c, args: args}
	env := environment{in.Env}
	for _, stage := range []func(*reader, environment) error{
		modelConfig, cacheConfig, launchChecks, parallelConfig, speculativeConfig, schedulerConfig, loraConfig,
		transferConfig, kernelConfig, compilationConfig, finish,
	} {
		if err := stage(r, env); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func modelConfig(r *reader, env environment) error {
	c := r.c
	c.Dtype, c.Runner = "auto", "auto"
	r.literal("runner", &c.Runner, "auto", "generate", "pooling", "draft")
	r.literal("dtype", &c.Dtype, "auto", "half", "float16", "bfloat16", "float", "float32")
	r.boolean("enforce_eager", &c.EnforceEager)
	r.boolean("disable_sliding_window", &c.WindowOff)
	length := r.optional("max_model_len", bound{"ge", -1})
	logprobs := 20
	r.integer("max_logprobs", &logprobs, bound{"ge", -1})
	r.text("quantization", &c.Quantization)
	if moe, ok := r.object("quantization_config")["moe"].(map[string]any); ok {
		c.MoEActivation, _ = moe["activation"].(string)
	}
	if err := r.done(); err != nil {
		return err
	}
	if full, ok := map[string]string{"auto": "bfloat16", "half": "float16", "float": "float32"}[c.Dtype]; ok {
		c.Dtype = full
	}
	if c.Runner == "auto" {
		c.Runner = "generate"
		if c.Model.Pooling {
			c.Runner = "pooling"
		}
	}
	if !c.WindowOff && !c.Model.Interleaved {
		c.SlidingWindow = c.Model.Window
	}
	return maxModelLen(c, length, env)
}

// maxModelLen is get_and_verify_max_len.
func maxModelLen(c *Config, stated *int, env environment) error {
	derived, key := c.Model.MaxLen, fmt.Sprintf("max_position_embeddings=%s", pythonFloat(c.Model.MaxLen))
	if c.WindowOff && c.Model.Window > 0 && c.Model.Window < derived {
		derived, key = c.Model.Window, fmt.Sprintf("sliding_window=%d", c.Model.Window)
	}
	switch {
	case stated == nil || *stated == -1:
		c.MaxModelLen = derived
		return nil
	case *stated == 0:
		return reject("max_model_len must be a positive integer, got int: 0. Example: max_model_len=2048")
	case *stated <= derived || env.flag("VLLM_ALLOW_LONG_MAX_MODEL_LEN", false):
		c.MaxModelLen = *stated
		return nil
	}
	return reject("User-specified max_model_len (%d) is greater than the derived max_model_len (%s or model_max_length=None in model's config.json). "+
		"To allow overriding this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1. VLLM_ALLOW_LONG_MAX_MODEL_LEN must be used with extreme caution. "+
		"If the model uses relative position encoding (RoPE), positions exceeding derived_max_model_len lead to nan. "+
		"If the model uses absolute position encoding, positions exceeding derived_max_model_len will cause a CUDA array out-of-bounds error.", *stated, key)
}

func pythonFloat(n int) string { return fmt.Sprintf("%d.0", n) }

var cacheDtypes = []string{"auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla",
	"turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc",
	"int4_per_token_head", "int8_per_token_head", "fp8_per_token_head", "nvfp4", "nvfp4_4over6"}

var mambaDtypes = []string{"auto", "float32", "float16", "bfloat16"}

func cacheConfig(r *reader, env environment) error {
	c := r.c
	c.GPUMemory, c.CacheDtype, c.HashAlgo, c.MambaCacheMode, c.KVOffloadingBackend = 0.92, "auto", "sha256", "none", "native"
	block := r.optional("block_size", bound{"gt", 0})
	r.optional("prefix_match_unit", bound{"gt", 0})
	r.number("gpu_memory_utilization", &c.GPUMemory, bound{"gt", 0}, bound{"le", 1})
	r.literal("kv_cache_dtype", &c.CacheDtype, cacheDtypes...)
	c.BlocksOverride = r.optional("num_gpu_blocks_override")
	prefix := r.optionalBool("enable_prefix_caching")
	r.literal("prefix_caching_hash_algo", &c.HashAlgo, "sha256", "sha256_cbor", "xxhash", "xxhash_cbor")
	retention, err := env.integer("VLLM_PREFIX_CACHE_RETENTION_INTERVAL", 0)
	if err != nil {
		return err
	}
	c.Retention = &retention
	if v, given := r.args["prefix_cache_retention_interval"]; given && v == nil {
		c.Retention = nil
	} else {
		r.integer("prefix_cache_retention_interval", c.Retention, bound{"ge", 0})
	}
	r.optional("mamba_block_size", bound{"gt", 0})
	r.literal("mamba_cache_mode", &c.MambaCacheMode, "all", "align", "none")
	c.MambaDtype, c.MambaStateDtype = "auto", "auto"
	r.literal("mamba_cache_dtype", &c.MambaDtype, mambaDtypes...)
	r.literal("mamba_ssm_cache_dtype", &c.MambaStateDtype, mambaDtypes...)
	c.KVCacheMemoryBytes = r.optional("kv_cache_memory_bytes")
	r.number("kv_offloading_size", &c.KVOffloadingGiB)
	r.literal("kv_offloading_backend", &c.KVOffloadingBackend, "native", "lmcache")
	if err := r.done(); err != nil {
		return err
	}
	c.BlockSize = 16
	if block != nil {
		c.BlockSize, c.UserBlockSize = *block, true
	}
	c.PrefixCaching = !c.Model.Pooling
	if prefix != nil {
		c.PrefixCaching = *prefix
	}
	return nil
}

func schedulerConfig(r *reader, _ environment) error {
	c := r.c
	chunked := r.optionalBool("enable_chunked_prefill")
	c.ChunkedPrefill = !c.Model.Pooling
	if chunked != nil {
		c.ChunkedPrefill = *chunked
	}
	c.Mode, c.Policy, c.ReserveFullISL, c.StreamInterval, c.PrefillInterval = "balanced", "fcfs", true, 1, 1
	r.literal("performance_mode", &c.Mode, "balanced", "interactivity", "throughput")
	tokens, seqs := r.optional("max_num_batched_tokens"), r.optional("max_num_seqs")
	c.batchLimits(tokens, seqs)
	r.limits("max_num_batched_tokens", float64(c.MaxBatchedTokens), []bound{{"ge", 1}})
	c.MaxScheduledTokens = r.optional("max_num_scheduled_tokens", bound{"ge", 0})
	r.limits("max_num_seqs", float64(c.MaxSeqs), []bound{{"ge", 1}})
	r.integer("long_prefill_token_threshold", &c.LongPrefill, bound{"ge", 0})
	r.literal("scheduling_policy", &c.Policy, "fcfs", "priority")
	r.boolean("scheduler_reserve_full_isl", &c.ReserveFullISL)
	r.number("watermark", &c.Watermark, bound{"ge", 0}, bound{"lt", 1})
	r.integer("prefill_schedule_interval", &c.PrefillInterval, bound{"ge", 1})
	r.integer("stream_interval", &c.StreamInterval, bound{"ge", 1})
	if err := r.done(); err != nil {
		return err
	}
	switch {
	case c.MaxBatchedTokens < c.MaxModelLen && !c.ChunkedPrefill:
		return reject("max_num_batched_tokens (%d) is smaller than max_model_len (%d). This effectively limits the maximum sequence length to "+
			"max_num_batched_tokens and makes vLLM reject longer sequences. Please increase max_num_batched_tokens or decrease max_model_len.", c.MaxBatchedTokens, c.MaxModelLen)
	case c.MaxBatchedTokens < c.MaxSeqs:
		return reject("max_num_batched_tokens (%d) must be greater than or equal to max_num_seqs (%d).", c.MaxBatchedTokens, c.MaxSeqs)
	case c.LongPrefill > c.MaxModelLen:
		return reject("long_prefill_token_threshold (%d) cannot be greater than the max_model_len (%d).", c.LongPrefill, c.MaxModelLen)
	}
	return nil
}

// batchLimits sets the two limits (arg_utils.py:2769-2860).
func (c *Config) batchLimits(tokens, seqs *int) {
	c.MaxBatchedTokens, c.MaxSeqs = batchDefaults(c.Chip, c.Usage)
	if c.Mode == "throughput" {
		c.MaxBatchedTokens, c.MaxSeqs = 2*c.MaxBatchedTokens, 2*c.MaxSeqs
	}
	why := fmt.Sprintf("%s with %.1f GiB, started as %q", c.Chip.Name, c.Chip.GiB, string(c.Usage))
	if seqs != nil {
		c.MaxSeqs = *seqs
	} else {
		c.note("max_num_seqs", Rule, why)
	}
	if tokens != nil {
		c.MaxBatchedTokens = *tokens
	} else {
		if !c.ChunkedPrefill {
			c.MaxBatchedTokens = max(c.MaxBatchedTokens, c.MaxModelLen)
		}
		c.MaxBatchedTokens = min(c.MaxBatchedTokens, c.MaxSeqs*c.MaxModelLen)
		c.note("max_num_batched_tokens", Rule, why)
	}
	if seqs == nil {
		c.MaxSeqs = min(c.MaxSeqs, c.MaxBatchedTokens)
	}
}

func loraConfig(r *reader, _ environment) error {
	on, n, rank := false, 1, "16"
	r.boolean("enable_lora", &on)
	if !on {
		return r.done()
	}
	r.literal("max_lora_rank", &rank, "1", "8", "16", "32", "64", "128", "256", "320", "512")
	r.integer("max_loras", &n, bound{"ge", 1})
	cpu := r.optional("max_cpu_loras")
	if err := r.done(); err != nil {
		return err
	}
	if cpu != nil && *cpu < n {
		return reject("max_cpu_loras (%d) must be >= max_loras (%d).", *cpu, n)
	}
	size, _ := integer(rank)
	r.c.LoRA = &LoRA{MaxLoRAs: n, MaxRank: size}
	return nil
}

// supportsHMA says whether a connector runs with hybrid allocation; with the setting
// left open, start-up turns it off for the others (vllm.py, end of __post_init__;
// ExampleConnector and OffloadingConnector are on record, the rest inferred from
// their classes).
func supportsHMA(connector string) bool {
	return slices.Contains([]string{"NixlConnector", "OffloadingConnector", "SimpleCPUOffloadConnector", "MultiConnector", "DecodeBenchConnector", "MooncakeConnector", "LMCacheMPConnector"}, connector)
}

func transferConfig(r *reader, _ environment) error {
	off := r.optionalBool("disable_hybrid_kv_cache_manager")
	transfer := r.object("kv_transfer_config")
	events := r.object("kv_events_config")
	if err := r.done(); err != nil {
		return err
	}
	c := r.c
	c.Connector, _ = transfer["kv_connector"].(string)
	c.KVEvents, _ = events["enable_kv_cache_events"].(bool)
	switch {
	case off != nil:
		c.DisableHMA = *off
	case c.Connector != "" && !supportsHMA(c.Connector):
		c.DisableHMA = true
		c.note("disable_hybrid_kv_cache_manager", Rule, c.Connector+" does not support hybrid allocation")
	}
	return nil
}
