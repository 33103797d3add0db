package lower

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

const half = 2 // bytes of an activation element

// gemm adds a dense product, with the quantisation of its input where the kernel
// takes quantised activations.
func (l *lowering) gemm(name string, class catalog.Class, n, k int, rows plan.Rows) {
	if n == 0 || k == 0 {
		return
	}
	weight := l.store.Tensors[class]
	kernel, act := l.linear(weight, n, k)
	if act != quantity.BF16 && !l.quantFused(name, act) {
		l.quantize(name, k, act, rows)
	}
	l.add(plan.GEMM, name, kernel, plan.Shape{Rows: rows, N: n, K: k, Act: plan.DType(act), Weight: plan.DType(weight)}, l.layer >= 0)
}

// quantFused: a per-tensor scale is known before the tensor is, so the compiler
// writes the norm or activation ahead of a product quantised already
// (compilation/passes/fusion, rms_quant and act_quant); attention's output is not
// its to write.
func (l *lowering) quantFused(name string, act quantity.Format) bool {
	return act == quantity.FP8 && l.c.Compile.Mode == "VLLM_COMPILE" && name != "o_proj"
}

func (l *lowering) quantize(name string, k int, act quantity.Format, rows plan.Rows) {
	l.add(plan.Quantize, name+".input", "csrc_quant_"+string(act), plan.Shape{Rows: rows, Act: plan.DType(act),
		BytesPerRow: quantity.Bytes(half*k) + act.Stored(1, int64(k))}, true)
}

// norm is a fused residual add and RMS norm: two tensors read, two written.
func (l *lowering) norm(name string) {
	l.elementwise(name, 4*half*l.g.Hidden, plan.RowsTokens)
}

// reduce adds the all-reduce that ends a sharded block. Fused, it also does the
// norm that follows, so none is added there.
func (l *lowering) reduce(name string) {
	l.collective(plan.AllReduce, l.k.blockReduce, name, l.tensorPeers(), half*l.g.Hidden, plan.RowsTokens)
	if !l.k.fusedNorm || l.c.TP < 2 {
		l.norm(name + ".norm")
	}
}

func (l *lowering) embedding() {
	l.elementwise("embed_tokens", 2*half*l.g.Hidden, plan.RowsTokens)
	l.collective(plan.AllReduce, l.k.allReduce, "embed_tokens.all_reduce", l.tensorPeers(), half*l.g.Hidden, plan.RowsTokens)
	l.norm("input_norm")
}

func (l *lowering) send() {
	l.collective(plan.SendRecv, nccl, "stage_output", l.stagePeers(), 2*half*l.g.Hidden/max(1, l.c.TP), plan.RowsTokens)
}

// head is the output projection and sampling: rows that sample only, outside every
// graph. A greedy step casts logits to fp32 and reads them for the arg max and the
// log-sum; the profiling step samples with top-p, which sorts.
func (l *lowering) head() {
	vocab := l.vocabShare()
	l.gemm("lm_head", catalog.LMHead, vocab, l.g.Hidden, plan.RowsSampled)
	l.collective(plan.AllGather, nccl, "logits.all_gather", l.tensorPeers(), half*vocab, plan.RowsSampled)
	l.add(plan.Sampling, "sampler", "sampler", plan.Shape{Rows: plan.RowsSampled, BytesPerRow: quantity.Bytes(4 * 4 * l.g.Vocab), LivePerRow: quantity.Bytes(sortedLogit * l.g.Vocab)}, false)
}

// sortedLogit is the bytes of one logit at the sampler's peak: the bf16 and fp32
// logits, the sorted fp32 values and int64 indices, their probabilities, and the
// result scattered back (v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p).
// TestRecordedBlockCount holds the sum to a recorded run.
const sortedLogit = 2 + 4 + (4 + 8) + 4 + 4

// vocabShare: the vocabulary is padded to 64 and split.
func (l *lowering) vocabShare() int { return roundUp(l.g.Vocab, 64) / l.c.TP }

// headShare is a rank's query and KV heads; KV heads are replicated when there are
// fewer than ranks.
func (l *lowering) headShare(a catalog.Attention) (q, kv int) {
	return a.Heads / l.c.TP, max(1, a.KVHeads/l.c.TP)
}

func (l *lowering) attention(b *catalog.Block) {
	a := b.Attention
	switch a.Kind {
	case catalog.NoMixer:
		return
	case catalog.MLA, catalog.SparseMLA:
		l.latent(a)
	case catalog.GatedDelta, catalog.Mamba2:
		l.recurrent(a)
	default:
		l.softmax(a)
	}
	l.reduce("attention_output")
}

func (l *lowering) softmax(a catalog.Attention) {
	q, kv := l.headShare(a)
	width := q*a.HeadDim + kv*(a.HeadDim+a.ValueHeadDim)
	out := width
	if a.OutputGate {
		out += q * a.HeadDim
	}
	l.gemm("qkv_proj", catalog.AttentionIn, out, l.g.Hidden, plan.RowsTokens)
	l.qkNorm(a, q, kv)
	l.elementwise("rope_and_cache", half*(2*(q+kv)*a.HeadDim+kv*a.ValueHeadDim)+2*kv*a.HeadDim*half, plan.RowsTokens)
	s := plan.Shape{Heads: q, KVHeads: kv, HeadDim: a.HeadDim, ValueDim: a.ValueHeadDim, KVType: plan.DType(l.k.kv), Act: plan.DType(quantity.BF16), KVGroup: l.group(a)}
	switch a.Kind {
	case catalog.Sliding:
		s.Window = a.Window
	case catalog.Chunked:
		s.Chunk = a.Window
	}
	l.add(plan.AttentionExtend, "attention", l.k.extend, s, false)
	l.add(plan.AttentionDecode, "attention", l.k.decode, s, false)
	l.gemm("o_proj", catalog.AttentionOut, l.g.Hidden, q*a.ValueHeadDim, plan.RowsTokens)
}

// qkNorm: a norm over the whole projection needs the variance of every rank, one
// small all-reduce of two fp32 numbers a token (MiniMaxText01RMSNormTP.forward_qk).
func (l *lowering) qkNorm(a catalog.Attention, q, kv int) {
	if a.QKNorm == catalog.NoQKNorm {
		return
	}
	if a.QKNorm == catalog.PerLayer {
		l.collective(plan.AllReduce, l.k.allReduce, "qk_norm.all_reduce", l.tensorPeers(), 2*4, plan.RowsTokens)
	}
	l.elementwise("qk_norm", 2*half*(q+kv)*a.HeadDim, plan.RowsTokens)
}

// latent is the whole MLA module: the tables time projections and attention
// together, so Hidden is set and K is the query's rank.
func (l *lowering) latent(a catalog.Attention) {
	n := *a.Latent
	s := plan.Shape{Heads: a.Heads / l.c.TP, HeadDim: n.NopeDim + n.RopeDim, ValueDim: a.ValueHeadDim, LatentRank: n.KVRank, RopeDim: n.RopeDim,
		Hidden: l.g.Hidden, K: n.QRank, KVType: plan.DType(l.k.kv), Act: plan.DType(quantity.BF16),
		Weight: plan.DType(l.store.Tensors[catalog.AttentionIn]), KVGroup: l.group(a)}
	l.add(plan.MLAExtend, "mla", l.k.extend, s, false)
	l.add(plan.MLADecode, "mla", l.k.decode, s, false)
}

func (l *lowering) recurrent(a catalog.Attention) {
	r := *a.Recurrent
	heads, keys := ceilDiv(r.ValueHeads, l.c.TP), ceilDiv(r.KeyHeads, l.c.TP)
	key, value := keys*r.KeyHeadDim, heads*r.ValueHeadDim
	gates := 2 * heads
	if a.Kind == catalog.Mamba2 {
		gates = heads
	}
	l.gemm("in_proj", catalog.RecurrentPart, 2*key+2*value+gates, l.g.Hidden, plan.RowsTokens)
	l.elementwise("causal_conv1d", half*2*(2*key+value), plan.RowsTokens)
	kernel := map[catalog.AttentionKind]string{catalog.GatedDelta: "fla_gated_delta_rule", catalog.Mamba2: "mamba2_ssd"}[a.Kind]
	s := plan.Shape{Heads: heads, HeadDim: r.KeyHeadDim, ValueDim: r.ValueHeadDim, StateBytes: quantity.Bytes(l.stateBytes(a)), KVGroup: l.group(a)}
	l.add(plan.RecurrentExtend, "recurrent", kernel, s, false)
	l.add(plan.RecurrentDecode, "recurrent", kernel, s, false)
	l.gemm("out_proj", catalog.RecurrentPart, l.g.Hidden, value, plan.RowsTokens)
}

func (l *lowering) mlp(b *catalog.Block) {
	if b.MLP.MoE != nil {
		l.moe(*b.MLP.MoE)
		return
	}
	if b.MLP.Inter == 0 {
		return
	}
	l.dense("mlp", catalog.DenseMLP, b.MLP.Inter/l.c.TP)
	l.reduce("mlp_output")
}

func (l *lowering) dense(name string, class catalog.Class, inter int) {
	l.gemm(name+".gate_up_proj", class, 2*inter, l.g.Hidden, plan.RowsTokens)
	l.elementwise(name+".act", 3*half*inter, plan.RowsTokens)
	l.gemm(name+".down_proj", class, l.g.Hidden, inter, plan.RowsTokens)
}

func (l *lowering) moe(m catalog.MoE) {
	h := l.g.Hidden
	l.gemm("router", catalog.Router, m.Experts, h, plan.RowsTokens)
	l.elementwise("router.top_k", 4*m.Experts+8*m.TopK, plan.RowsTokens)
	if m.SharedInter > 0 {
		l.dense("shared_expert", catalog.SharedExpert, m.SharedInter/l.c.TP)
	}
	rows := plan.RowsTokens
	if l.c.DP > 1 {
		rows = plan.RowsGathered
		l.collective(plan.AllGather, nccl, "experts.all_gather", l.dataPeers(), half*h, plan.RowsTokens)
	}
	if l.k.moeAct == quantity.NVFP4 || l.k.moeAct == quantity.FP8Block || l.k.moeAct == quantity.MXFP8 || l.k.moeAct == quantity.FP8 {
		l.quantize("experts", h, l.k.moeAct, rows)
	}
	l.add(plan.GroupedGEMM, "experts", l.k.moe, plan.Shape{Rows: rows, Experts: m.Experts, TopK: m.TopK, Hidden: h, Inter: m.Inter,
		ExpertTensor: l.expertTensor(), ExpertRanks: l.expertRanks(), Act: plan.DType(l.k.moeAct), Weight: plan.DType(l.store.Tensors[catalog.Expert])}, true)
	if l.c.DP > 1 {
		l.collective(plan.ReduceScatter, nccl, "experts.reduce_scatter", l.dataPeers(), half*h*l.c.DP, plan.RowsTokens)
	}
	l.reduce("moe_output")
}
