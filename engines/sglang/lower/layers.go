package lower

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

const half = 2 // bytes of an activation element

// gemm adds a dense product of n outputs and k inputs, after the quantisation of its
// input where the kernel wants it.
func (l *lowering) gemm(name string, class catalog.Class, n, k int, rows plan.Rows) {
	weight := l.c.Storage.Tensors[class]
	kernel, act := linear(weight)
	if act != quantity.BF16 {
		l.quantize(name+".input", k, act, rows)
	}
	l.add(plan.GEMM, name, kernel, plan.Shape{Rows: rows, N: n, K: k, Act: plan.DType(act), Weight: plan.DType(weight)})
}

// linear is the kernel of a weight format and what it reads (the choice by flag and
// chip is inferred from what the operator tables ran).
func linear(weight quantity.Format) (kernel string, act quantity.Format) {
	switch weight {
	case quantity.FP8:
		return "sglang_sgl_kernel_fp8_scaled_mm", quantity.FP8
	case quantity.FP8Block:
		return "sglang_deepgemm_gemm_nt_f8f8bf16", quantity.FP8Block
	case quantity.NVFP4:
		return "sglang_flashinfer_cutedsl_nvfp4", quantity.NVFP4
	case quantity.MXFP4, quantity.INT4Group:
		return "sglang_marlin", quantity.BF16
	}
	return "sglang_torch_linear", quantity.BF16
}

func (l *lowering) quantize(name string, k int, act quantity.Format, rows plan.Rows) {
	l.add(plan.Quantize, name, "sgl_quant_"+string(act), plan.Shape{
		Rows: rows, Act: plan.DType(act), BytesPerRow: quantity.Bytes(half*k) + act.Stored(1, int64(k)),
	})
}

// norm is a fused residual add and RMS norm: two tensors read, two written.
func (l *lowering) norm(name string) { l.elementwise(name, 4*half*l.g.Hidden, plan.RowsTokens) }

// reduce ends a sharded block: an all-reduce, and the norm that follows unless one
// kernel does both.
func (l *lowering) reduce(name string) {
	l.collective(plan.AllReduce, name, half*l.g.Hidden, plan.RowsTokens)
	if !l.c.FusedReduce {
		l.norm(name + ".norm")
	}
}

func (l *lowering) embedding() {
	l.elementwise("embed_tokens", 2*half*l.g.Hidden, plan.RowsTokens)
	l.collective(plan.AllReduce, "embed_tokens.all_reduce", half*l.g.Hidden, plan.RowsTokens)
	l.norm("input_norm")
}

// vocabShare: the vocabulary is padded to 64 and split.
func (l *lowering) vocabShare() int { return ceilDiv(l.g.Vocab, 64) * 64 / l.c.Tensor }

// head projects and samples the last token of each sequence, outside the prefill
// graphs: a greedy step reads the gathered fp32 logits twice.
func (l *lowering) head() {
	l.gemm("lm_head", catalog.LMHead, l.vocabShare(), l.g.Hidden, plan.RowsSampled)
	l.collective(plan.AllGather, "logits.all_gather", half*l.vocabShare(), plan.RowsSampled)
	l.add(plan.Sampling, "sampler", "sampler", plan.Shape{Rows: plan.RowsSampled, BytesPerRow: quantity.Bytes(4 * 4 * l.g.Vocab)})
}

func (l *lowering) attention(a catalog.Attention) {
	switch {
	case a.Latent != nil:
		l.latent(a)
	case a.Recurrent != nil:
		l.recurrent(a)
	default:
		l.softmax(a)
	}
	l.reduce("attention_output")
}

func (l *lowering) softmax(a catalog.Attention) {
	q, kv := a.Heads/l.c.Tensor, max(1, a.KVHeads/l.c.Tensor)
	in := q*a.HeadDim + kv*(a.HeadDim+a.ValueHeadDim)
	if a.OutputGate {
		in += q * a.HeadDim
	}
	l.gemm("qkv_proj", catalog.AttentionIn, in, l.g.Hidden, plan.RowsTokens)
	if a.QKNorm != catalog.NoQKNorm {
		l.elementwise("qk_norm", 2*half*(q+kv)*a.HeadDim, plan.RowsTokens)
	}
	l.elementwise("rope_and_cache", 2*half*(q+kv)*a.HeadDim+2*half*kv*a.ValueHeadDim, plan.RowsTokens)
	s := plan.Shape{Heads: q, KVHeads: kv, HeadDim: a.HeadDim, ValueDim: a.ValueHeadDim, KVType: plan.DType(l.c.KV), Act: plan.DType(quantity.BF16), KVGroup: tokens}
	l.add(plan.AttentionExtend, "attention", l.kernel(l.c.Prefill, false), s).Captured = false
	l.add(plan.AttentionDecode, "attention", l.kernel(l.c.Attention, false), s).Captured = false
	if a.OutputGate {
		l.elementwise("output_gate", 3*half*q*a.ValueHeadDim, plan.RowsTokens)
	}
	l.gemm("o_proj", catalog.AttentionOut, l.g.Hidden, q*a.ValueHeadDim, plan.RowsTokens)
}

// latent is multi-head latent attention. The two steps down run as one product on
// every rank; decoding absorbs the KV up-projection into one product a head before
// attention and one after, prompts expand the latent instead
// (models/deepseek_v2.py, forward_absorb, forward_normal). A step is priced with the
// absorbed products: both forms read the same weights.
func (l *lowering) latent(a catalog.Attention) {
	n, heads, h := *a.Latent, a.Heads/l.c.Tensor, l.g.Hidden
	from := h
	if n.QRank > 0 {
		l.gemm("fused_qkv_a_proj", catalog.AttentionIn, n.QRank+n.KVRank+n.RopeDim, h, plan.RowsTokens)
		l.elementwise("latent_norm", 2*half*(n.QRank+n.KVRank), plan.RowsTokens)
		from = n.QRank
	} else {
		l.gemm("kv_a_proj", catalog.AttentionIn, n.KVRank+n.RopeDim, h, plan.RowsTokens)
	}
	l.gemm("q_b_proj", catalog.AttentionIn, heads*(n.NopeDim+n.RopeDim), from, plan.RowsTokens)
	l.absorb("q_absorb", heads, n.KVRank, n.NopeDim)
	l.elementwise("rope_and_cache", 2*half*(heads+1)*n.RopeDim+2*half*n.KVRank, plan.RowsTokens)
	s := plan.Shape{
		Heads: heads, HeadDim: n.NopeDim + n.RopeDim, ValueDim: a.ValueHeadDim, LatentRank: n.KVRank, RopeDim: n.RopeDim,
		KVType: plan.DType(l.c.KV), Act: plan.DType(quantity.BF16), Weight: plan.DType(l.c.Storage.Tensors[catalog.AttentionIn]), KVGroup: tokens,
	}
	if x := a.Indexer; x != nil {
		s.TopTokens = x.TopK
		l.indexer(*x, from)
	}
	l.add(plan.MLAExtend, "mla", l.kernel(l.c.Prefill, true), s).Captured = false
	l.add(plan.MLADecode, "mla", l.kernel(l.c.Attention, true), s).Captured = false
	l.absorb("v_absorb", heads, a.ValueHeadDim, n.KVRank)
	l.gemm("o_proj", catalog.AttentionOut, h, heads*a.ValueHeadDim, plan.RowsTokens)
}

// absorb is a batched product, one of n outputs and k inputs a head, in bf16.
func (l *lowering) absorb(name string, heads, n, k int) {
	l.add(plan.GEMM, name, "sglang_torch_linear", plan.Shape{Rows: plan.RowsTokens, N: heads * n, K: k, Act: plan.DType(quantity.BF16), Weight: plan.DType(quantity.BF16)})
}

// tabled are the attention kernels the operator tables time on an architecture:
// the first stands in for a backend that is not among them.
var tabled = map[string]struct{ softmax, latent []string }{
	"hopper":    {[]string{"fa3", "triton"}, []string{"flash_attention"}},
	"blackwell": {[]string{"trtllm_mha", "flashinfer", "triton"}, []string{"trtllm_mla"}},
}

// kernel is the backend's kernel as the tables name it, or the chip's stand-in. Only
// prices are another kernel's then; Choices says so.
func (l *lowering) kernel(backend string, latent bool) string {
	t := tabled[l.c.Chip.Architecture]
	names := t.softmax
	if latent {
		names = t.latent
	}
	if len(names) == 0 || slices.Contains(names, backend) {
		return backend
	}
	if latent && backend == "fa3" {
		return names[0] // the tables' name for it
	}
	l.choose("attention kernel", names[0], "no table times "+backend+" on this chip; priced as its nearest there")
	return names[0]
}

// indexer scores every cached key for each new token and picks the best; it runs
// whole on every rank (layers/attention/nsa/nsa_indexer.py; inferred).
func (l *lowering) indexer(x catalog.Indexer, from int) {
	l.gemm("indexer.wq_b", catalog.IndexerLinear, x.Heads*x.HeadDim, from, plan.RowsTokens)
	l.gemm("indexer.wk", catalog.IndexerLinear, x.HeadDim, l.g.Hidden, plan.RowsTokens)
	l.gemm("indexer.weights_proj", catalog.IndexerHead, x.Heads, l.g.Hidden, plan.RowsTokens)
	l.add(plan.SparseIndex, "indexer.logits", "fp8_mqa_logits", plan.Shape{
		Heads: x.Heads, KVHeads: 1, HeadDim: x.HeadDim, KVType: plan.DType(quantity.FP8), Act: plan.DType(quantity.FP8), KVGroup: keys, TopTokens: x.TopK,
	}).Captured = false
}

func (l *lowering) recurrent(a catalog.Attention) {
	r := *a.Recurrent
	heads, keyHeads := ceilDiv(r.ValueHeads, l.c.Tensor), ceilDiv(r.KeyHeads, l.c.Tensor)
	key, value := keyHeads*r.KeyHeadDim, heads*r.ValueHeadDim
	l.gemm("in_proj", catalog.RecurrentPart, 2*key+2*value+2*heads, l.g.Hidden, plan.RowsTokens)
	l.elementwise("causal_conv1d", 2*half*(2*key+value), plan.RowsTokens)
	s := plan.Shape{Heads: heads, HeadDim: r.KeyHeadDim, ValueDim: r.ValueHeadDim, StateBytes: l.stateBytes(a), KVGroup: states}
	l.add(plan.RecurrentExtend, "recurrent", "fla_gated_delta_rule", s).Captured = false
	l.add(plan.RecurrentDecode, "recurrent", "fla_gated_delta_rule", s).Captured = false
	l.elementwise("gated_norm", 3*half*value, plan.RowsTokens)
	l.gemm("out_proj", catalog.RecurrentPart, l.g.Hidden, value, plan.RowsTokens)
}

func (l *lowering) mlp(m catalog.MLP) {
	if m.MoE == nil {
		l.dense("mlp", catalog.DenseMLP, m.Inter/l.c.Tensor)
		l.reduce("mlp_output")
		return
	}
	l.moe(*m.MoE)
	l.reduce("moe_output")
}

func (l *lowering) dense(name string, class catalog.Class, inter int) {
	l.gemm(name+".gate_up_proj", class, 2*inter, l.g.Hidden, plan.RowsTokens)
	l.elementwise(name+".act", 3*half*inter, plan.RowsTokens)
	l.gemm(name+".down_proj", class, l.g.Hidden, inter, plan.RowsTokens)
}

// fusesShared says whether the shared expert runs as one more routed expert that
// every token takes: DeepSeek-V3's class on CUDA, without expert parallelism, with
// another runner than TensorRT-LLM's (models/deepseek_v2.py,
// determine_num_fused_shared_experts; inferred).
func (l *lowering) fusesShared(m catalog.MoE) bool {
	return l.g.Architecture == "DeepseekV3ForCausalLM" && m.SharedInter == m.Inter && l.c.Expert == 1 &&
		l.c.Chip.Vendor == "nvidia" && l.c.MoERunner != "flashinfer_trtllm"
}

// moe: tensor ranks split into expert groups hold whole experts and shards of them.
func (l *lowering) moe(m catalog.MoE) {
	h, routed := l.g.Hidden, m.Experts
	if l.fusesShared(m) {
		m.Experts, m.TopK, m.SharedInter = m.Experts+1, m.TopK+1, 0
		l.choose("shared expert", "fused", "inferred: one more routed expert")
	}
	l.gemm("router", catalog.Router, routed, h, plan.RowsTokens)
	l.elementwise("router.top_k", 4*routed+8*m.TopK, plan.RowsTokens)
	if m.SharedInter > 0 {
		l.dense("shared_expert", catalog.SharedExpert, max(1, m.SharedInter/l.c.Tensor))
	}
	weight := l.c.Storage.Tensors[catalog.Expert]
	kernel, act := experts(l.c.MoERunner, weight)
	if act != quantity.BF16 {
		l.quantize("experts.input", h, act, plan.RowsTokens)
	}
	l.add(plan.GroupedGEMM, "experts", kernel, plan.Shape{
		Rows: plan.RowsTokens, Experts: m.Experts, TopK: m.TopK, Hidden: h, Inter: m.Inter,
		ExpertTensor: l.c.Tensor / l.c.Expert, ExpertRanks: l.c.Expert, Act: plan.DType(act), Weight: plan.DType(weight),
	})
}

// experts names the runner's kernel as the operator tables do and what it reads.
func experts(runner string, weight quantity.Format) (kernel string, act quantity.Format) {
	act = weight
	if weight == quantity.MXFP4 || weight == quantity.INT4Group {
		act = quantity.BF16
	}
	switch runner {
	case "flashinfer_trtllm":
		return "sglang_flashinfer_trtllm_moe", act
	case "flashinfer_cutlass":
		return "sglang_flashinfer_cutlass_moe", act
	case "marlin":
		return "sglang_marlin_moe", quantity.BF16
	}
	return "sglang_fused_moe_triton", act
}
