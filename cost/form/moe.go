package form

import (
	"math"
	"math/bits"

	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// MoE is the routed experts of one layer on one rank: gate and up projection,
// activation, down projection over the tokens routed here.
type MoE struct {
	Tokens        float64 // tokens of the whole expert group
	Hidden, Inter float64 // model width; width of one expert before tensor parallelism
	TopK, Experts float64 // experts per token; routed experts of the layer
	TP, EP        float64 // ways one expert is split; ways the experts are spread
	Skew          float64 // exponent of the power law over experts; 0 is uniform
	Ungated       bool    // two matrices an expert instead of three
	Operands
}

var moeCoords = []Coord{{"load", false}, {"experts", true}, {"inter", true}, {"hidden", true}, {"top_k", true}, {"skew", true},
	{"tokens", false}, {"align", true}, {"ranks", true}}

func (MoE) Coords() []Coord { return moeCoords }

// Point: load is the mean number of tokens an expert sees; align, the largest
// power of two up to 128 that divides the width of one rank's experts, decides
// which tiles fit; ranks matter because a skewed rank holds more than its share.
func (m MoE) Point(c *Chip) Point {
	load := m.Tokens * m.TopK / m.Experts
	local, inter := m.Experts/m.EP, m.Inter/m.TP
	weights := 3 * m.Hidden * inter
	if m.Ungated {
		weights = 2 * m.Hidden * inter
	}
	routed := load * local
	p := place(c, m.On, float64(2*routed)*weights,
		float64(local*m.hit(load)*weights*m.Stored)+float64(routed*(float64(m.Hidden*(m.Act+2))+float64(6*inter))))
	p.X = [maxCoords]float64{load, local, inter, m.Hidden, m.TopK, m.Skew + 1, m.Tokens, align(inter), m.EP}
	return p
}

// hit is the share of experts with at least one token: their weights are read.
// Even routing gives Poisson counts, 1 - exp(-load); skewed routing spreads the
// rates, here exponentially, which leaves load / (1 + load).
func (m *MoE) hit(load float64) float64 {
	if m.Skew > 0 {
		return load / (1 + load)
	}
	return 1 - fmath.Exp(-load)
}

func align(n float64) float64 {
	if n < 1 || n != math.Floor(n) {
		return 1
	}
	return float64(uint64(1) << min(7, bits.TrailingZeros64(uint64(n))))
}
