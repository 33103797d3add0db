package catalog

import (
	"iter"

	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Tensor is Count equal matrices of Rows outputs by Cols inputs (1 x n for a
// vector) in one place of the model.
type Tensor struct {
	Class      Class
	Rows, Cols int64
	Count      int64
	Active     int64 // of Count, those a token uses: top_k of the experts, else all
	MTP        bool  // belongs to the multi-token-prediction head
}

// Params is the elements of all of them.
func (t Tensor) Params() int64 { return t.Rows * t.Cols * t.Count }

// LayerCount is the decoder layers, MTP apart.
func (g *Graph) LayerCount() int {
	n := 0
	for _, l := range g.Layers {
		n += l.Repeat * len(l.Pattern)
	}
	return n
}

// Block returns a block by name; nil when there is none.
func (g *Graph) Block(name string) *Block {
	for i := range g.Blocks {
		if g.Blocks[i].Name == name {
			return &g.Blocks[i]
		}
	}
	return nil
}

// LayerBlocks yields layer index and block, in forward order.
func (g *Graph) LayerBlocks() iter.Seq2[int, *Block] {
	return func(yield func(int, *Block) bool) {
		i := 0
		for _, l := range g.Layers {
			for range l.Repeat {
				for _, name := range l.Pattern {
					if !yield(i, g.Block(name)) {
						return
					}
					i++
				}
			}
		}
	}
}

// BlockCounts yields each block with the decoder layers built from it, in the
// order of Blocks. A block only the MTP head uses has count 0.
func (g *Graph) BlockCounts() iter.Seq2[*Block, int] {
	counts := map[string]int{}
	for _, l := range g.Layers {
		for _, name := range l.Pattern {
			counts[name] += l.Repeat
		}
	}
	return func(yield func(*Block, int) bool) {
		for i := range g.Blocks {
			if !yield(&g.Blocks[i], counts[g.Blocks[i].Name]) {
				return
			}
		}
	}
}

// Params counts the stored parameters without the MTP head, and those one token
// uses: top_k experts of each layer, and no embedding row look-up unless the
// embedding is also the lm_head.
func (g *Graph) Params() (total, active int64) {
	for t := range g.Tensors() {
		if t.MTP {
			continue
		}
		total += t.Params()
		if t.Class != Embedding || g.Tied {
			active += t.Rows * t.Cols * t.Active
		}
	}
	return total, active
}

// WeightBytes is the size of the checkpoint's tensors, by class, without or with
// the MTP head: GroupBytes, since no engine has sharded them yet.
func (g *Graph) WeightBytes(s Storage, mtp bool) map[Class]quantity.GroupBytes {
	out := map[Class]quantity.GroupBytes{}
	for t := range g.Tensors() {
		if t.MTP && !mtp {
			continue
		}
		out[t.Class] += quantity.GroupBytes(float64(s.Format(t.Class, t.MTP).Stored(t.Rows, t.Cols)) * float64(t.Count))
	}
	return out
}

// Format is how the checkpoint stores a class, in the MTP head or the layers.
func (s Storage) Format(class Class, mtp bool) quantity.Format {
	if f, ok := s.MTP[class]; ok && mtp {
		return f
	}
	return s.Tensors[class]
}

// Tensors yields every weight the graph stands for: the embedding, each block's
// tensors times its layers, the final norm, lm_head, and the MTP head last.
func (g *Graph) Tensors() iter.Seq[Tensor] {
	return func(yield func(Tensor) bool) {
		w := &walker{hidden: int64(g.Hidden), layers: 1, yield: yield}
		w.matrix(Embedding, g.Vocab, g.Hidden, 1)
		for b, n := range g.BlockCounts() {
			w.layers = int64(n)
			w.block(b)
		}
		w.layers = 1
		w.vector(g.Hidden)
		if !g.Tied {
			w.matrix(LMHead, g.Vocab, g.Hidden, 1)
		}
		if g.MTP != nil {
			w.mtp(g)
		}
	}
}

// BlockTensors yields the weights of one layer built from b.
func (g *Graph) BlockTensors(b *Block) iter.Seq[Tensor] {
	return func(yield func(Tensor) bool) {
		(&walker{hidden: int64(g.Hidden), layers: 1, yield: yield}).block(b)
	}
}

// walker yields tensors with the layer count and MTP mark of the moment.
type walker struct {
	hidden, layers int64
	inMTP, stopped bool
	yield          func(Tensor) bool
}

func (w *walker) some(class Class, rows, cols int, count, active int64) {
	t := Tensor{Class: class, Rows: int64(rows), Cols: int64(cols), Count: count * w.layers, Active: active * w.layers, MTP: w.inMTP}
	if !w.stopped && t.Count > 0 && t.Rows > 0 && t.Cols > 0 {
		w.stopped = !w.yield(t)
	}
}

func (w *walker) matrix(class Class, rows, cols int, count int64) {
	w.some(class, rows, cols, count, count)
}

func (w *walker) vector(n int) { w.matrix(Norm, 1, n, 1) }

func (w *walker) mtp(g *Graph) {
	w.inMTP, w.layers = true, int64(g.MTP.Modules)
	w.matrix(MTPProjection, g.Hidden, 2*g.Hidden, 1)
	w.vector(3 * g.Hidden)
	if g.MTP.OwnEmbeddings {
		w.matrix(Embedding, g.Vocab, g.Hidden, 1)
		w.matrix(LMHead, g.Vocab, g.Hidden, 1)
	}
	w.layers *= int64(g.MTP.Layers)
	w.block(g.Block(g.MTP.Block))
}

func (w *walker) block(b *Block) {
	w.matrix(Norm, b.Norms, int(w.hidden), 1)
	w.attention(b.Attention)
	w.mlp(b.MLP)
}

func (w *walker) attention(a Attention) {
	h := int(w.hidden)
	switch {
	case a.Latent != nil:
		w.latent(a)
	case a.Recurrent != nil:
		w.recurrent(*a.Recurrent, a.Kind)
		return
	default:
		q, k, v := a.Heads*a.HeadDim, a.KVHeads*a.HeadDim, a.KVHeads*a.ValueHeadDim
		in := q + k + v
		if a.OutputGate {
			in += q
		}
		w.matrix(AttentionIn, in, h, 1)
		if a.Bias {
			w.vector(in + h)
		}
		switch a.QKNorm {
		case PerHead:
			w.vector(2 * a.HeadDim)
		case PerLayer:
			w.vector(q + k)
		}
		if a.Sinks {
			w.vector(a.Heads)
		}
	}
	w.matrix(AttentionOut, h, a.Heads*a.ValueHeadDim, 1)
}

func (w *walker) latent(a Attention) {
	h, l := int(w.hidden), *a.Latent
	q := a.Heads * (l.NopeDim + l.RopeDim)
	from := h
	if l.QRank > 0 {
		w.matrix(AttentionIn, l.QRank, h, 1)
		w.vector(l.QRank)
		from = l.QRank
	}
	w.matrix(AttentionIn, q, from, 1)
	w.matrix(AttentionIn, l.KVRank+l.RopeDim, h, 1)
	w.vector(l.KVRank)
	w.matrix(AttentionIn, a.Heads*(l.NopeDim+a.ValueHeadDim), l.KVRank, 1)
	if x := a.Indexer; x != nil {
		w.matrix(IndexerLinear, x.Heads*x.HeadDim, from, 1) // queries, from q's latent
		w.matrix(IndexerLinear, x.HeadDim, h, 1)            // keys
		w.matrix(IndexerHead, x.Heads, h, 1)
		w.vector(2 * x.HeadDim) // layer norm of keys
	}
}

// recurrent follows Gated DeltaNet (q, k, v, z, and a decay and a rate a value
// head) and Mamba-2 (z, x, B, C and a step a head).
func (w *walker) recurrent(r Recurrent, kind AttentionKind) {
	h := int(w.hidden)
	k, v := r.KeyHeads*r.KeyHeadDim, r.ValueHeads*r.ValueHeadDim
	gates := 2 * r.ValueHeads
	if kind == Mamba2 {
		gates = r.ValueHeads
	}
	w.matrix(RecurrentPart, 2*k+2*v+gates, h, 1)
	w.matrix(RecurrentPart, 2*k+v, r.ConvKernel, 1)
	w.matrix(RecurrentPart, h, v, 1)
	w.vector(2*r.ValueHeads + r.ValueHeadDim)
}

func (w *walker) mlp(m MLP) {
	h := int(w.hidden)
	if m.MoE == nil {
		w.matrix(DenseMLP, m.Inter, h, 2)
		w.matrix(DenseMLP, h, m.Inter, 1)
		if m.Bias {
			w.vector(2*m.Inter + h)
		}
		return
	}
	e := *m.MoE
	n, k := int64(e.Experts), int64(e.TopK)
	w.matrix(Router, e.Experts, h, 1)
	if e.RouterBias {
		w.vector(e.Experts)
	}
	w.some(Expert, e.Inter, h, 2*n, 2*k)
	w.some(Expert, h, e.Inter, n, k)
	if e.ExpertBias {
		w.some(Norm, 1, 2*e.Inter+h, n, k)
	}
	w.matrix(SharedExpert, e.SharedInter, h, 2)
	w.matrix(SharedExpert, h, e.SharedInter, 1)
	if e.SharedGate {
		w.matrix(SharedExpert, 1, h, 1)
	}
}
