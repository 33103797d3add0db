package lower

import (
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// modules is how many multi-token-prediction modules the drafter loads, 0 for a
// method without them. Draft k of a step comes from module k modulo their number.
func (l *lowering) modules() int {
	if l.c.Spec == nil || l.c.Spec.Method != "mtp" || l.g.MTP == nil {
		return 0
	}
	return l.g.MTP.Modules
}

// withHead adds the head's layers to the last stage, where the drafter runs: they
// keep a KV cache like any other.
func (l *lowering) withHead(stages [][]indexed) [][]indexed {
	n := l.modules()
	if n == 0 {
		return stages
	}
	out := slices.Clone(stages)
	last := slices.Clone(out[len(out)-1])
	for i := range n * l.g.MTP.Layers {
		last = append(last, indexed{l.g.LayerCount() + i, l.g.Block(l.g.MTP.Block)})
	}
	out[len(out)-1] = last
	return out
}

// predictor lowers the head, nil without one: the target's settings, the formats
// the checkpoint stores the head in, and the kernels those take.
func (l *lowering) predictor() (*lowering, error) {
	if l.modules() == 0 {
		return nil, nil
	}
	d := *l
	d.store.Tensors = maps.Clone(l.store.Tensors)
	maps.Copy(d.store.Tensors, l.store.MTP)
	d.out, d.choices, d.stage = nil, nil, l.c.PP-1
	return &d, d.chooseMoE()
}

// drafts is one pass of one module: the next token's embedding joins the target's
// hidden state, then the block and the shared head (models/deepseek_mtp.py,
// v1/spec_decode/eagle.py).
func (l *lowering) drafts() []plan.LoweredLayer {
	m, h := l.g.MTP, l.g.Hidden
	block := l.g.Block(m.Block)
	l.outside(l.embedding)
	l.layer, l.repeat = l.g.LayerCount(), 1
	l.norm("mtp.hidden_norm")
	l.gemm("mtp.projection", catalog.MTPProjection, h, 2*h, plan.RowsTokens)
	l.repeat = m.Layers
	l.attention(block)
	l.mlp(block)
	l.outside(l.head)
	return l.out
}

// headWeights are what the modules keep resident on a rank of the last stage. The
// projection is replicated.
func (l *lowering) headWeights() []plan.ResidentTensor {
	m, h := l.g.MTP, l.g.Hidden
	block := l.g.Block(m.Block)
	w := &tally{l: l, stage: l.stage, prefix: "mtp.", count: m.Modules, at: map[string]int{}}
	w.add("projection", catalog.MTPProjection, h, 2*h, 1)
	w.vectors(3 * h)
	if m.OwnEmbeddings {
		w.add("embed_tokens", catalog.Embedding, l.vocabShare(), h, 1)
		w.add("lm_head", catalog.LMHead, l.vocabShare(), h, 1)
	}
	w.count *= m.Layers
	w.vectors(block.Norms * h)
	w.attention(block.Attention)
	w.mlp(block.MLP)
	return w.out
}
