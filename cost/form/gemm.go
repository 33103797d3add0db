package form

// GEMM is a dense product of activations [M, K] and weights [N, K], one rank's
// part of it. Ideal: 2MNK FLOPs on the format's unit, against weights,
// activations and the 2-byte result moved once (Williams, Waterman, Patterson,
// "Roofline", CACM 52(4), 2009).
type GEMM struct {
	M, N, K float64
	Operands
}

var gemmCoords = []Coord{{"m", false}, {"n", true}, {"k", true}, {"mn", false}}

func (GEMM) Coords() []Coord { return gemmCoords }

func (g GEMM) Point(c *Chip) Point {
	bytes := float64(g.M*g.K*g.Act) + float64(g.N*g.K*g.Stored) + float64(2*g.M*g.N)
	p := place(c, g.On, 2*g.M*g.N*g.K, bytes)
	p.X = [maxCoords]float64{g.M, g.N, g.K, g.M * g.N}
	return p
}
