package form

import "math"

// Heads is the head shape of an attention layer on one rank.
type Heads struct {
	Query, KV float64 // heads
	Dim       float64 // elements per head
	Window    float64 // tokens a query sees; 0 sees all
	Operands          // Stored is the cache, Act the queries
}

// seen is the number of cached tokens the query at the end of context reads.
func (h *Heads) seen(context float64) float64 {
	if h.Window > 0 {
		return min(context, h.Window)
	}
	return context
}

// Decode is one token for each of Seqs sequences against Context cached tokens
// each (their mean when they differ). Ideal: the cache read once, or 4 FLOPs per
// query head, element and cached token. Rows, Seqs x KV heads, is the
// parallelism before a kernel splits the context; bytes tells when the cache
// leaves L2; context is what the window lets a query see of reach.
type Decode struct {
	Seqs, Context float64
	Heads
}

var decodeCoords = []Coord{{"rows", false}, {"context", false}, {"reach", false}, {"group", true}, {"head_dim", true}, {"bytes", false}, {"kv_heads", true}}

func (Decode) Coords() []Coord { return decodeCoords }

func (d Decode) Point(c *Chip) Point {
	seen := d.seen(d.Context)
	cache := float64(2*d.Seqs*d.KV) * d.Dim * d.Stored * seen
	p := place(c, d.On, float64(4*d.Seqs*d.Query)*d.Dim*seen, cache+float64(4*d.Seqs*d.Query*d.Dim))
	p.X = [maxCoords]float64{d.Seqs * d.KV, seen, d.Context, d.Query / d.KV, d.Dim, cache, d.KV}
	return p
}

// Prefill is Tokens new tokens for each of Seqs sequences, the last at position
// Length: Length - Tokens of them are cached already (chunks, prefix hits).
// Ideal: 4 FLOPs per query head, element and visible pair. Tiles of 128 query rows
// are the parallelism, the rows of a group's heads packed together
// (FlashAttention-3, arXiv:2407.08608). Tables hold only whole prompts, so a chunk
// reads the utilisation of a prompt with as many tiles and the same length.
type Prefill struct {
	Seqs, Tokens, Length float64
	Heads
}

var prefillCoords = []Coord{{"tiles", false}, {"length", false}, {"group", true}, {"head_dim", true}, {"kv_heads", true}, {"tokens", false}}

func (Prefill) Coords() []Coord { return prefillCoords }

func (q Prefill) Point(c *Chip) Point {
	rows := q.Seqs * q.Query * q.Tokens
	flops := float64(4*q.Seqs*q.Query) * q.Dim * q.pairs()
	read := q.Length
	if q.Window > 0 {
		read = min(q.Length, q.Tokens+q.Window)
	}
	p := place(c, q.On, flops, float64(4*rows*q.Dim)+float64(2*q.Seqs*q.KV*q.Dim*q.Stored*read))
	tiles := q.Seqs * q.KV * math.Ceil(q.Tokens*q.Query/q.KV/tileRows)
	p.X = [maxCoords]float64{tiles, q.Length, q.Query / q.KV, q.Dim, q.KV, q.Tokens}
	return p
}

// tileRows is the query rows one thread block takes.
const tileRows = 128

// pairs counts the (query, key) pairs one sequence computes under a causal mask.
func (q *Prefill) pairs() float64 {
	upTo := func(n float64) float64 { // pairs of the first n positions
		if q.Window > 0 && n > q.Window {
			return q.Window*(q.Window+1)/2 + float64((n-q.Window)*q.Window)
		}
		return n * (n + 1) / 2
	}
	return math.Max(q.Tokens, upTo(q.Length)-upTo(q.Length-q.Tokens))
}
