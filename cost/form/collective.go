package form

// Pattern is what a collective moves.
type Pattern uint8

const (
	AllReduce     Pattern = iota // Bytes is the tensor every rank holds
	AllGather                    // Bytes is the gathered tensor
	ReduceScatter                // Bytes is the tensor before scattering
	AllToAll                     // Bytes is what one rank sends and keeps in all
)

// Collective runs over Ranks chips joined by one tier of links. Ideal: the bytes
// one rank must send over the one-way link rate; a rank keeps its own share, and
// an all-reduce sends twice (reduce, then gather), after nccl-tests
// PERFORMANCE.md. A scale-out group runs at the NIC's rate.
type Collective struct {
	Bytes, Ranks float64
	Pattern      Pattern
	ScaleOut     bool
}

var collectiveCoords = []Coord{{"bytes", false}, {"ranks", true}}

func (Collective) Coords() []Coord { return collectiveCoords }

func (s Collective) Point(c *Chip) Point {
	send := s.Bytes * (s.Ranks - 1) / s.Ranks
	if s.Pattern == AllReduce {
		send *= 2
	}
	rate := c.Link
	if s.ScaleOut {
		rate = c.NIC
	}
	p := Point{Link: send, Ideal: send / rate}
	p.X = [maxCoords]float64{s.Bytes, s.Ranks}
	return p
}
