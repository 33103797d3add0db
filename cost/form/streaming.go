package form

// Elementwise is a memory-bound pass: norms, rotary embedding, activation,
// quantisation, cache writes, expert permutation.
type Elementwise struct{ Bytes float64 } // read and written, per rank

var elementwiseCoords = []Coord{{"bytes", false}}

func (Elementwise) Coords() []Coord { return elementwiseCoords }

func (e Elementwise) Point(c *Chip) Point {
	p := place(c, BF16, 0, e.Bytes)
	p.X = [maxCoords]float64{e.Bytes}
	return p
}

// Recurrent is a linear-attention or state-space layer over Tokens tokens of
// Seqs sequences: each head keeps a Key x Value fp32 state, read and written once
// per sequence, and does 8 FLOPs per token and state element (gated delta rule,
// arXiv:2412.06464, section 3).
type Recurrent struct {
	Seqs, Tokens      float64
	Heads, Key, Value float64
}

var recurrentCoords = []Coord{{"tokens", false}, {"bytes", false}}

func (Recurrent) Coords() []Coord { return recurrentCoords }

func (r Recurrent) Point(c *Chip) Point {
	state := r.Heads * r.Key * r.Value
	bytes := float64(8*r.Seqs*state) + float64(2*r.Tokens*r.Heads*(float64(2*r.Key)+float64(2*r.Value)))
	p := place(c, BF16, float64(8*r.Tokens)*state, bytes)
	p.X = [maxCoords]float64{r.Tokens, bytes}
	return p
}
