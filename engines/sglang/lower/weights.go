package lower

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// weights are what one rank keeps: columns and rows split over tensor ranks, KV
// heads, latents, routers, indexers and norms on every rank, experts split and
// spread, and the bf16 halves of the KV up-projection that absorption keeps
// (models/deepseek_v2.py, post_load_weights: w_kc, w_vc).
func (l *lowering) weights() []plan.ResidentTensor {
	w := &tally{l: l, at: map[string]int{}, n: 1}
	w.add("embed_tokens", catalog.Embedding, l.vocabShare(), l.g.Hidden)
	for b, n := range l.g.BlockCounts() {
		if w.n = n; n == 0 {
			continue
		}
		w.vectors(b.Norms * l.g.Hidden)
		w.attention(b.Attention)
		w.mlp(b.MLP)
	}
	w.n = 1
	w.vectors(l.g.Hidden)
	if !l.g.Tied {
		w.add("lm_head", catalog.LMHead, l.vocabShare(), l.g.Hidden)
	}
	return w.out
}

// tally sums tensors by name; n is the layers the block at hand stands for.
type tally struct {
	l   *lowering
	n   int
	out []plan.ResidentTensor
	at  map[string]int
}

func (w *tally) add(name string, class catalog.Class, rows, cols int) {
	f := w.l.c.Storage.Tensors[class]
	w.put(name, f, f.Stored(int64(rows), int64(cols)))
}

func (w *tally) vectors(n int) { w.put("norms", quantity.BF16, quantity.Bytes(half*n)) }

func (w *tally) put(name string, f quantity.Format, b quantity.Bytes) {
	i, ok := w.at[name]
	if !ok {
		i = len(w.out)
		w.at[name] = i
		w.out = append(w.out, plan.ResidentTensor{Name: name, DType: plan.DType(f)})
	}
	w.out[i].Bytes += quantity.Bytes(float64(b) * float64(w.n))
}

func (w *tally) attention(a catalog.Attention) {
	l, h, tp := w.l, w.l.g.Hidden, w.l.c.Tensor
	switch {
	case a.Latent != nil:
		w.latent(a)
	case a.Recurrent != nil:
		r := *a.Recurrent
		heads, keyHeads := ceilDiv(r.ValueHeads, tp), ceilDiv(r.KeyHeads, tp)
		key, value := keyHeads*r.KeyHeadDim, heads*r.ValueHeadDim
		w.add("recurrent_in", catalog.RecurrentPart, 2*key+2*value+2*heads, h)
		w.add("recurrent_conv", catalog.RecurrentPart, 2*key+value, r.ConvKernel)
		w.add("recurrent_out", catalog.RecurrentPart, h, value)
	default:
		q, kv := a.Heads/tp, max(1, a.KVHeads/tp)
		in := q*a.HeadDim + kv*(a.HeadDim+a.ValueHeadDim)
		if a.OutputGate {
			in += q * a.HeadDim
		}
		w.add("qkv_proj", catalog.AttentionIn, in, h)
		w.add("o_proj", catalog.AttentionOut, l.g.Hidden, q*a.ValueHeadDim)
	}
}

func (w *tally) latent(a catalog.Attention) {
	n, h, heads := *a.Latent, w.l.g.Hidden, a.Heads/w.l.c.Tensor
	from := h
	if n.QRank > 0 {
		w.add("q_a_proj", catalog.AttentionIn, n.QRank, h)
		from = n.QRank
	}
	w.add("q_b_proj", catalog.AttentionIn, heads*(n.NopeDim+n.RopeDim), from)
	w.add("kv_a_proj", catalog.AttentionIn, n.KVRank+n.RopeDim, h)
	w.add("kv_b_proj", catalog.AttentionIn, heads*(n.NopeDim+a.ValueHeadDim), n.KVRank)
	w.put("kv_b_absorbed", quantity.BF16, quantity.BF16.Stored(int64(heads*(n.NopeDim+a.ValueHeadDim)), int64(n.KVRank)))
	w.add("o_proj", catalog.AttentionOut, h, heads*a.ValueHeadDim)
	if x := a.Indexer; x != nil {
		w.add("indexer", catalog.IndexerLinear, x.Heads*x.HeadDim, from)
		w.add("indexer", catalog.IndexerLinear, x.HeadDim, h)
		w.add("indexer", catalog.IndexerHead, x.Heads, h)
	}
}

func (w *tally) mlp(m catalog.MLP) {
	h, c := w.l.g.Hidden, w.l.c
	if m.MoE == nil {
		w.add("mlp", catalog.DenseMLP, 2*m.Inter/c.Tensor, h)
		w.add("mlp", catalog.DenseMLP, h, m.Inter/c.Tensor)
		return
	}
	e := *m.MoE
	w.add("router", catalog.Router, e.Experts, h)
	inter, local := e.Inter*c.Expert/c.Tensor, e.Experts/c.Expert
	f := c.Storage.Tensors[catalog.Expert]
	each := f.Stored(int64(2*inter), int64(h)) + f.Stored(int64(h), int64(inter))
	w.put("experts", f, quantity.Bytes(float64(each)*float64(local)))
	if e.SharedInter > 0 {
		share := max(1, e.SharedInter/c.Tensor)
		w.add("shared_expert", catalog.SharedExpert, 2*share, h)
		w.add("shared_expert", catalog.SharedExpert, h, share)
	}
}
