package config

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// kernels chooses attention, experts and all-reduce (server_args.py:5903; the
// experts' choice by quantisation is inferred).
func (c *Config) kernels(r *reader) {
	c.KV = c.cacheFormat(r)
	c.Attention = c.attention(r, "attention-backend")
	c.Prefill = c.Attention
	if r.has("prefill-attention-backend") {
		c.Prefill = c.attention(r, "prefill-attention-backend")
	}
	if r.has("decode-attention-backend") {
		c.Attention = c.attention(r, "decode-attention-backend")
	}
	c.MoERunner = c.moeRunner(r)
	c.FusedReduce = r.flag("enable-flashinfer-allreduce-fusion") && (c.hopper() || c.blackwell()) && c.Tensor > 1
	c.StateDtype = quantity.FP32
	if r.choice("mamba-ssm-dtype", "float32", "float32", "bfloat16") == "bfloat16" {
		c.StateDtype = quantity.BF16
	}
}

// backends are the attention backends with a lowering.
var backends = []string{"fa3", "fa4", "flashinfer", "triton", "trtllm_mha", "trtllm_mla", "cutlass_mla", "flashmla", "aiter", "nsa"}

func (c *Config) attention(r *reader, name string) string {
	def, why := c.defaultAttention()
	out := r.choice(name, def, backends...)
	if !r.has(name) {
		r.note(name, "rule", why, out)
	}
	mla := map[string]bool{"trtllm_mla": true, "cutlass_mla": true, "flashmla": true, "nsa": true}
	mha := map[string]bool{"trtllm_mha": true}
	switch {
	case mla[out] && !c.latent(), out == "nsa" && !c.Sparse():
		r.fail(name, out, "does not run this model's attention", def)
	case mha[out] && c.latent():
		r.fail(name, out, "does not run latent attention", def)
	case (out == "trtllm_mla" || out == "trtllm_mha") && !c.blackwell():
		r.fail(name, out, "TRTLLM backends are only supported on Blackwell GPUs (SM100)", def)
	case out == "fa3" && !c.hopper() && c.Chip.Architecture != "ampere":
		r.fail(name, out, "FlashAttention v3 needs SM 8.0 to 9.0", def)
	}
	return out
}

func (c *Config) defaultAttention() (name, why string) {
	sinks := c.has(func(a *catalog.Attention) bool { return a.Sinks })
	uneven := c.has(func(a *catalog.Attention) bool { return a.Latent == nil && a.ValueHeadDim != a.HeadDim })
	switch {
	case c.Sparse():
		return "nsa", "the model has an indexer"
	case c.latent() && c.hopper():
		return "fa3", "latent attention on SM 9.0"
	case c.latent() && c.blackwell():
		return "flashinfer", "latent attention on SM 10.x"
	case c.amd():
		return "aiter", "AMD"
	case c.latent():
		return "triton", "latent attention elsewhere"
	case c.hopper():
		return "fa3", "SM 9.0"
	case c.blackwell() && uneven:
		return "fa4", "keys and values of different widths on SM 10.x"
	case c.blackwell():
		return "trtllm_mha", "SM 10.x"
	case sinks:
		return "triton", "attention sinks"
	}
	return "flashinfer", "no better backend"
}

// moeRunner: auto takes TensorRT-LLM's kernel for FP8 and FP4 experts on SM 10.x
// and Triton elsewhere.
func (c *Config) moeRunner(r *reader) string {
	const name = "moe-runner-backend"
	out := r.choice(name, "auto", "auto", "triton", "flashinfer_trtllm", "flashinfer_cutlass", "deep_gemm", "marlin")
	if out != "auto" || c.experts() == nil {
		return out
	}
	out = "triton"
	switch c.Storage.Tensors[catalog.Expert] {
	case quantity.FP8Block, quantity.NVFP4:
		if c.blackwell() {
			out = "flashinfer_trtllm"
		}
	case quantity.INT4Group:
		out = "marlin"
	}
	r.note(name, "rule", "inferred: by expert format and chip", out)
	return out
}
