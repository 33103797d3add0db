package config

// This file is the project's own: upstream prints its configuration otherwise.

import (
	"fmt"
	"strconv"
	"strings"
)

// Settings are the resolved values under the arguments' Python names, as text.
func (c *Config) Settings() map[string]string {
	out := map[string]string{
		"dtype": c.Dtype, "runner": c.Runner, "kv_cache_dtype": c.CacheDtype, "scheduling_policy": c.Policy, "performance_mode": c.Mode,
		"distributed_executor_backend": c.Executor, "all2all_backend": c.All2All, "mamba_cache_mode": c.MambaCacheMode,
		"moe_backend": c.Kernels.MoE, "linear_backend": c.Kernels.Linear, "prefix_caching_hash_algo": c.HashAlgo,
		"gpu_memory_utilization": strconv.FormatFloat(c.GPUMemory, 'g', -1, 64), "watermark": strconv.FormatFloat(c.Watermark, 'g', -1, 64),
		"compilation_config.cudagraph_mode": c.Compile.Graphs, "compilation_config.mode": c.Compile.Mode,
		"cudagraph_capture_sizes":    sizesText(c.Compile.Sizes),
		"max_cudagraph_capture_size": strconv.Itoa(c.Compile.MaxSize), "optimization_level": strconv.Itoa(c.Level),
		"max_concurrent_batches": strconv.Itoa(c.InFlight),
	}
	for name, v := range map[string]int{ //determinism:any-order into a map
		"max_model_len": c.MaxModelLen, "block_size": c.BlockSize, "tensor_parallel_size": c.TP, "pipeline_parallel_size": c.PP, "data_parallel_size": c.DP,
		"max_num_batched_tokens": c.MaxBatchedTokens, "max_num_seqs": c.MaxSeqs, "long_prefill_token_threshold": c.LongPrefill, "stream_interval": c.StreamInterval,
	} {
		out[name] = strconv.Itoa(v)
	}
	for name, v := range map[string]bool{ //determinism:any-order into a map
		"enforce_eager": c.EnforceEager, "disable_sliding_window": c.WindowOff, "enable_prefix_caching": c.PrefixCaching, "enable_expert_parallel": c.EP,
		"scheduler_reserve_full_isl": c.ReserveFullISL, "enable_chunked_prefill": c.ChunkedPrefill, "async_scheduling": c.Async,
		"disable_hybrid_kv_cache_manager": c.DisableHMA, "use_v2_model_runner": c.V2Runner,
		"compilation_config.pass_config.fuse_allreduce_rms": c.Compile.Pass.FuseAllReduceRMS,
		"compilation_config.pass_config.fuse_attn_quant":    c.Compile.Pass.FuseAttnQuant,
	} {
		out[name] = strconv.FormatBool(v)
	}
	for name, v := range map[string]*int{ //determinism:any-order into a map
		"max_num_scheduled_tokens": c.MaxScheduledTokens, "num_gpu_blocks_override": c.BlocksOverride, "kv_cache_memory_bytes": c.KVCacheMemoryBytes,
		"prefix_cache_retention_interval": c.Retention,
	} {
		if v != nil {
			out[name] = strconv.Itoa(*v)
		}
	}
	if c.Kernels.Attention != "" {
		out["attention_backend"] = c.Kernels.Attention
	}
	if c.MoEActivation != "" {
		out["quantization_config.moe.activation"] = c.MoEActivation
	}
	if c.Spec != nil {
		out["speculative_config"] = fmt.Sprintf("%s, %d tokens", c.Spec.Method, c.Spec.Tokens)
	}
	return out
}

// sizesText writes a capture list as runs: "1 2 4 8..248/8 256..512/16".
func sizesText(sizes []int) string {
	var parts []string
	for i := 0; i < len(sizes); {
		j := i + 1
		for j < len(sizes) && sizes[j]-sizes[j-1] == sizes[min(i+1, len(sizes)-1)]-sizes[i] {
			j++
		}
		if j-i < 3 {
			parts = append(parts, strconv.Itoa(sizes[i]))
			i++
			continue
		}
		parts = append(parts, fmt.Sprintf("%d..%d/%d", sizes[i], sizes[j-1], sizes[i+1]-sizes[i]))
		i = j
	}
	return strings.Join(parts, " ")
}
