package form

import "github.com/inference-sim/accuracy-dashboard/internal/fmath"

// MoE is the routed experts of one layer on one rank: gate and up projection,
// activation, down projection over the tokens routed here.
type MoE struct {
	Tokens        float64 // tokens of the whole expert group
	Hidden, Inter float64 // model width; width of one expert before tensor parallelism
	TopK, Experts float64 // experts per token; routed experts of the layer
	TP, EP        float64 // ways one expert is split; ways the experts are spread
	Skew          float64 // exponent of the power law over experts; 0 is uniform
	Operands
}

var moeCoords = []Coord{{"load", false}, {"experts", true}, {"inter", true}, {"hidden", true}, {"top_k", true}, {"skew", true}, {"tokens", false}}

func (MoE) Coords() []Coord { return moeCoords }

// Point: load is the mean number of tokens an expert sees. The weights of every
// expert hit once are read: with T tokens drawing k of E experts evenly, a share
// 1 - exp(-Tk/E) of them (the limit of many experts).
func (m MoE) Point(c *Chip) Point {
	load := m.Tokens * m.TopK / m.Experts
	local, inter := m.Experts/m.EP, m.Inter/m.TP
	hit := local * (1 - fmath.Exp(-load))
	weights := 3 * m.Hidden * inter
	routed := load * local
	p := place(c, m.On, float64(2*routed)*weights,
		float64(hit*weights)*m.Stored+routed*(float64(m.Hidden*(m.Act+2))+float64(6*inter)))
	p.X = [8]float64{load, local, inter, m.Hidden, m.TopK, m.Skew + 1, m.Tokens}
	return p
}
