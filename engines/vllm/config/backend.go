package config

import "slices"

// attentionBackends is AttentionBackendEnum in declaration order
// (v1/attention/backends/registry.py).
var attentionBackends = []string{"FLASH_ATTN", "FLASH_ATTN_DIFFKV", "TRITON_ATTN", "TRITON_ATTN_DIFFKV", "ROCM_ATTN", "ROCM_AITER_MLA", "ROCM_AITER_TRITON_MLA",
	"ROCM_AITER_FA", "ROCM_AITER_MLA_SPARSE", "XPU_MLA_SPARSE", "TORCH_SDPA", "FLASHINFER", "FLASHINFER_MLA", "TOKENSPEED_MLA", "FLASHINFER_MLA_SPARSE",
	"FLASHINFER_MLA_SPARSE_SM120", "TRITON_MLA", "CUTLASS_MLA", "FLASHMLA", "FLASHMLA_SPARSE", "FLASHMLA_SPARSE_DSV4", "FLASHINFER_MLA_SPARSE_DSV4",
	"ROCM_FLASHMLA_SPARSE_DSV4", "FLASH_ATTN_MLA", "FLASH_ATTN_MLA_SPARSE", "MINIMAX_M3_SPARSE", "CUTLASS_MSA", "TRITON_MSA", "NO_ATTENTION", "FLEX_ATTENTION",
	"HPC_ATTN", "ROCM_AITER_UNIFIED"}

// Demand is what a layer asks of an attention backend.
type Demand struct {
	Capability     [2]int
	Dtype          string
	HeadSize       int
	CacheDtype     string
	BlockSize      int // 0: not stated
	MLA, Sparse    bool
	Heads          int // per rank; reorders sparse MLA
	Sliding        bool
	Sinks          bool
	NonCausal      bool
	BatchInvariant bool
	AttnType       string // "" is decoder
}

// Order is the backends CUDA tries, first valid wins (platforms/cuda.py:90-165).
func Order(d Demand) []string {
	major := d.Capability[0]
	switch {
	case d.MLA && major == 10:
		sparse := []string{"FLASHMLA_SPARSE", "FLASHINFER_MLA_SPARSE"}
		if d.Heads <= 16 || d.CacheDtype[:min(3, len(d.CacheDtype))] == "fp8" {
			slices.Reverse(sparse)
		}
		return append([]string{"FLASHINFER_MLA", "TOKENSPEED_MLA", "CUTLASS_MLA", "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA"}, sparse...)
	case d.MLA && major == 12:
		return []string{"TRITON_MLA", "FLASHINFER_MLA_SPARSE_SM120"}
	case d.MLA:
		return []string{"FLASH_ATTN_MLA", "FLASHMLA", "FLASHINFER_MLA", "TRITON_MLA", "FLASH_ATTN_MLA_SPARSE", "FLASHMLA_SPARSE"}
	case major == 10 && !d.NonCausal:
		return []string{"FLASHINFER", "FLASH_ATTN", "TRITON_ATTN", "FLEX_ATTENTION", "TURBOQUANT"}
	}
	return []string{"FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLEX_ATTENTION", "TURBOQUANT"}
}
