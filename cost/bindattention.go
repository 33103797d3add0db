package cost

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

func heads(l *plan.LoweredLayer) form.Heads {
	s := &l.Shape
	return form.Heads{
		Query: float64(s.Heads), KV: float64(max(1, s.KVHeads)), Dim: float64(s.HeadDim+valueDim(s)) / 2,
		Window: float64(s.Window), Operands: format(l).Operands(),
	}
}

func valueDim(s *plan.Shape) int {
	if s.ValueDim > 0 {
		return s.ValueDim
	}
	return s.HeadDim
}

// context is the mean number of tokens a decoding sequence attends.
func (w *work) context(group int) float64 {
	if w.seqs == 0 || group >= len(w.attended) {
		return 0
	}
	return float64(w.attended[group]) / w.seqs
}

// decodeShape: a verifying step multiplies the work of each cached token it reads
// by the tokens of a sequence, not the reads.
func decodeShape(l *plan.LoweredLayer) func(*work) form.Decode {
	h := heads(l)
	group := l.Shape.KVGroup
	return func(w *work) form.Decode {
		d := form.Decode{Seqs: w.seqs, Context: w.context(group), Heads: h}
		d.Query *= w.query
		return d
	}
}

// prefillShape prices one chunk as if every prompt row of the step belonged to
// chunks like it, and chunkShare takes the chunk's part of that: one kernel runs
// all chunks, so its parallelism is that of all rows.
func prefillShape(l *plan.LoweredLayer) func(*work) form.Prefill {
	s := &l.Shape
	h := heads(l)
	return func(w *work) form.Prefill {
		q := float64(w.chunk.Query)
		return form.Prefill{Seqs: w.extendTokens / q, Tokens: q, Length: visible(s, w.chunk), Heads: h}
	}
}

func chunkShare(w *work) float64 { return float64(w.chunk.Query) / w.extendTokens }

// visible is the length of the whole prompt whose last Query tokens see as many
// pairs as this chunk's: the length itself, but for chunked-local and sparse
// attention.
func visible(s *plan.Shape, c plan.Chunk) float64 {
	q, n := float64(c.Query), float64(c.Query+c.Context)
	switch {
	case s.Chunk > 0:
		upTo := func(n int) float64 {
			full, rest := float64(n/s.Chunk), float64(n%s.Chunk)
			size := float64(s.Chunk)
			return float64(full*size*(size+1)/2) + float64(rest*(rest+1)/2)
		}
		return min(n, max(q, (upTo(c.Query+c.Context)-upTo(c.Context))/q+(q-1)/2))
	case s.TopTokens > 0:
		return min(n, max(q, float64(s.TopTokens)+(q-1)/2))
	}
	return n
}

// latent reads an MLA shape. A layer with Hidden set stands for the whole module,
// projections included, and K is then the rank of the query projection.
func latent(l *plan.LoweredLayer) form.Latent {
	s := &l.Shape
	return form.Latent{
		Heads: float64(s.Heads), Hidden: float64(s.Hidden), QueryRank: float64(s.K), CacheRank: float64(s.LatentRank),
		Nope: float64(s.HeadDim - s.RopeDim), Rope: float64(s.RopeDim), Value: float64(valueDim(s)),
		Cache: format(l).Operands(), Weights: form.Format{Stored: stored(s.Weight), Act: stored(s.Act)}.Operands(),
	}
}

func latentDecodeShape(l *plan.LoweredLayer) func(*work) form.LatentDecode {
	m := latent(l)
	group := l.Shape.KVGroup
	return func(w *work) form.LatentDecode {
		d := form.LatentDecode{Seqs: w.seqs, Context: w.context(group), Latent: m}
		d.Latent.Heads *= w.query
		return d
	}
}

func latentPrefillShape(l *plan.LoweredLayer) func(*work) form.LatentPrefill {
	s := &l.Shape
	m := latent(l)
	return func(w *work) form.LatentPrefill {
		q := float64(w.chunk.Query)
		return form.LatentPrefill{Seqs: w.extendTokens / q, Tokens: q, Length: visible(s, w.chunk), Latent: m}
	}
}

// recurrentShape: a state is read and written once a sequence, whatever its tokens.
func recurrentShape(l *plan.LoweredLayer) func(*work) form.Recurrent {
	s := &l.Shape
	r := form.Recurrent{Heads: float64(s.Heads), Key: float64(s.HeadDim), Value: float64(valueDim(s))}
	decode := l.Primitive == plan.RecurrentDecode
	return func(w *work) form.Recurrent {
		r := r
		if r.Seqs, r.Tokens = w.extendSeqs, w.extendTokens; decode {
			r.Seqs, r.Tokens = w.seqs, w.seqs*w.query
		}
		return r
	}
}

// indexShape: a sparse-attention selector scores every cached key of a sequence
// for every new token, and reads the keys once.
func indexShape(l *plan.LoweredLayer) func(*work) form.Decode {
	h := heads(l)
	h.Dim /= 2 // keys alone
	group := l.Shape.KVGroup
	return func(w *work) form.Decode {
		d := form.Decode{Seqs: w.seqs, Context: w.context(group), Heads: h}
		d.Query *= w.query
		if q := float64(w.chunk.Query); q > 0 {
			d.Seqs, d.Context, d.Query = 1, float64(w.chunk.Context)+q/2, h.Query*q
		}
		return d
	}
}
