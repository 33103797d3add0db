package lower

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// weights are what one rank of each stage keeps resident after loading: columns
// and rows split over tensor ranks, KV heads, latents, routers and norms
// replicated, experts split or spread, inner sizes padded as the expert kernel
// wants, and the dequantised copies latent attention keeps of its up-projections.
func (l *lowering) weights(stages [][]indexed) []plan.ResidentTensor {
	var out []plan.ResidentTensor
	for s, layers := range stages {
		w := &tally{l: l, stage: s, at: map[string]int{}}
		if s == 0 {
			w.add("embed_tokens", catalog.Embedding, l.vocabShare(), l.g.Hidden, 1)
		}
		for _, f := range fold(layers) {
			w.count = f.count
			w.vectors(f.block.Norms * l.g.Hidden)
			w.attention(f.block.Attention)
			w.mlp(f.block.MLP)
		}
		if w.count = 1; s == len(stages)-1 {
			w.vectors(l.g.Hidden)
			if !l.g.Tied || s > 0 {
				w.add("lm_head", catalog.LMHead, l.vocabShare(), l.g.Hidden, 1)
			}
		}
		out = append(out, w.out...)
	}
	return out
}

// tally sums tensors by name over the layers of one stage.
type tally struct {
	l      *lowering
	stage  int
	prefix string // of the names
	count  int
	out    []plan.ResidentTensor
	at     map[string]int
}

func (w *tally) add(name string, class catalog.Class, rows, cols, n int) {
	format := w.l.store.Tensors[class]
	w.put(name, format, float64(format.Stored(int64(rows), int64(cols)))*float64(n*max(1, w.count)))
}

func (w *tally) vectors(n int) { w.put("norms", quantity.BF16, float64(half*n*max(1, w.count))) }

func (w *tally) put(name string, format quantity.Format, bytes float64) {
	if bytes == 0 {
		return
	}
	i, ok := w.at[name]
	if !ok {
		i = len(w.out)
		w.at[name] = i
		w.out = append(w.out, plan.ResidentTensor{Name: w.prefix + name, Stage: w.stage, DType: plan.DType(format)})
	}
	w.out[i].Bytes += quantity.Bytes(bytes)
}

func (w *tally) attention(a catalog.Attention) {
	l, h := w.l, w.l.g.Hidden
	switch a.Kind {
	case catalog.NoMixer:
		return
	case catalog.MLA, catalog.SparseMLA:
		w.latent(a)
		return
	case catalog.GatedDelta, catalog.Mamba2:
		r := *a.Recurrent
		heads, keys := ceilDiv(r.ValueHeads, l.c.TP), ceilDiv(r.KeyHeads, l.c.TP)
		key, value := keys*r.KeyHeadDim, heads*r.ValueHeadDim
		w.add("recurrent_in", catalog.RecurrentPart, 2*key+2*value+2*heads, h, 1)
		w.add("recurrent_out", catalog.RecurrentPart, h, value, 1)
		return
	}
	q, kv := l.headShare(a)
	in := q*a.HeadDim + kv*(a.HeadDim+a.ValueHeadDim)
	if a.OutputGate {
		in += q * a.HeadDim
	}
	w.add("qkv_proj", catalog.AttentionIn, in, h, 1)
	w.add("o_proj", catalog.AttentionOut, h, q*a.ValueHeadDim, 1)
	if a.Bias {
		w.vectors(in + h)
	}
}

// latent: both steps down are replicated, both up are split by heads, and the KV
// up-projection is kept a second time, dequantised, for the absorbed form
// (mla_attention.py, process_weights_after_loading).
func (w *tally) latent(a catalog.Attention) {
	l, h, n := w.l, w.l.g.Hidden, *a.Latent
	heads := a.Heads / l.c.TP
	from := h
	if n.QRank > 0 {
		w.add("q_a_proj", catalog.AttentionIn, n.QRank, h, 1)
		from = n.QRank
	}
	w.add("q_b_proj", catalog.AttentionIn, heads*(n.NopeDim+n.RopeDim), from, 1)
	w.add("kv_a_proj", catalog.AttentionIn, n.KVRank+n.RopeDim, h, 1)
	w.add("kv_b_proj", catalog.AttentionIn, heads*(n.NopeDim+a.ValueHeadDim), n.KVRank, 1)
	w.put("kv_b_absorbed", quantity.BF16, float64(half*heads*(n.NopeDim+a.ValueHeadDim)*n.KVRank*max(1, w.count)))
	w.add("o_proj", catalog.AttentionOut, h, heads*a.ValueHeadDim, 1)
}

func (w *tally) mlp(m catalog.MLP) {
	l, h := w.l, w.l.g.Hidden
	if m.MoE == nil {
		w.add("mlp", catalog.DenseMLP, 2*m.Inter/l.c.TP, h, 1)
		w.add("mlp", catalog.DenseMLP, h, m.Inter/l.c.TP, 1)
		return
	}
	e := *m.MoE
	w.add("router", catalog.Router, e.Experts, h, 1)
	pad := l.k.pad
	inter, wide := align(e.Inter/l.expertTensor(), pad.inter), align(h, pad.hidden)
	local := ceilDiv(e.Experts, l.expertRanks())
	w.add("experts", catalog.Expert, 2*inter, align(wide, pad.input), local)
	w.add("experts", catalog.Expert, wide, align(inter, pad.input), local)
	if e.ExpertBias {
		w.vectors(local * (2*inter + wide))
	}
	if e.SharedInter > 0 {
		w.add("shared_expert", catalog.SharedExpert, 2*e.SharedInter/l.c.TP, h, 1)
		w.add("shared_expert", catalog.SharedExpert, h, e.SharedInter/l.c.TP, 1)
	}
}

// align rounds up; 0 leaves n.
func align(n, to int) int {
	if to == 0 {
		return n
	}
	return roundUp(n, to)
}
