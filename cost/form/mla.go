package form

// Latent is the shape of multi-head latent attention on one rank (DeepSeek-V2,
// arXiv:2405.04434, section 2.1).
type Latent struct {
	Heads                float64
	Hidden               float64  // model width; 0 when the kernel holds no projections
	QueryRank, CacheRank float64  // ranks of the query and the joint key-value projections
	Nope, Rope, Value    float64  // elements per head
	Cache, Weights       Operands // of the attention, and of the projections
}

func (l *Latent) cached() float64 { return l.CacheRank + l.Rope }

// projections are the weight elements every token passes through: query down
// and up, joint down, output, and the cache's up-projection, which decode folds
// into the query and the result and prefill applies to keys and values.
func (l *Latent) projections() float64 {
	if l.Hidden == 0 {
		return 0
	}
	return float64(l.Hidden*(l.QueryRank+l.cached())) + float64(l.QueryRank*l.Heads*(l.Nope+l.Rope)) +
		float64(l.Heads*l.CacheRank*(l.Nope+l.Value)) + float64(l.Heads*l.Value*l.Hidden)
}

// point adds the time of the projections to that of the attention: they run one
// after the other.
func (l *Latent) point(c *Chip, tokens, flops, bytes float64) Point {
	p := place(c, l.Cache.On, flops, bytes)
	if w := l.projections(); w > 0 {
		q := place(c, l.Weights.On, 2*tokens*w, float64(w*l.Weights.Stored)+float64(4*tokens*l.Hidden))
		p.Flops, p.Bytes, p.Ideal = p.Flops+q.Flops, p.Bytes+q.Bytes, p.Ideal+q.Ideal
	}
	return p
}

// LatentDecode is one token for each of Seqs sequences against Context cached
// tokens, absorbed form: each head scores and sums the cached latent directly.
type LatentDecode struct {
	Seqs, Context float64
	Latent
}

var latentDecodeCoords = []Coord{{"seqs", false}, {"context", false}, {"heads", true}, {"bytes", false}}

func (LatentDecode) Coords() []Coord { return latentDecodeCoords }

func (d LatentDecode) Point(c *Chip) Point {
	cache := float64(d.Seqs*d.Context) * d.cached() * d.Cache.Stored
	flops := float64(2*d.Seqs*d.Heads) * d.Context * (d.cached() + d.CacheRank)
	p := d.point(c, d.Seqs, flops, cache)
	p.X = [maxCoords]float64{d.Seqs, d.Context, d.Latent.Heads, cache}
	return p
}

// LatentPrefill is Tokens new tokens for each of Seqs sequences of Length, keys
// and values expanded per head.
type LatentPrefill struct {
	Seqs, Tokens, Length float64
	Latent
}

var latentPrefillCoords = []Coord{{"tokens", false}, {"length", false}, {"heads", true}, {"rows", false}}

func (LatentPrefill) Coords() []Coord { return latentPrefillCoords }

func (q LatentPrefill) Point(c *Chip) Point {
	causal := Prefill{Tokens: q.Tokens, Length: q.Length}
	flops := float64(2*q.Seqs*q.Latent.Heads) * causal.pairs() * (q.Nope + q.Rope + q.Value)
	tokens := q.Seqs * q.Tokens
	p := q.point(c, tokens, flops, float64(2*tokens*q.Latent.Heads)*(q.Nope+q.Rope+q.Value))
	p.X = [maxCoords]float64{tokens, q.Length, q.Latent.Heads, tokens * q.Latent.Heads}
	return p
}
