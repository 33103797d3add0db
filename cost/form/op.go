package form

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// Coord names one coordinate of a form. A fixed coordinate is set by the layer
// and folded into the curve when the form is compiled.
type Coord struct {
	Name  string
	Fixed bool
}

// Shape is one call of a primitive: the layer's fixed sizes and the sizes of
// the step. It is a plain struct with value methods.
type Shape interface {
	// Coords lists the coordinates Point computes, in order; at most maxCoords.
	Coords() []Coord
	// Point places the shape on a chip.
	Point(c *Chip) Point
}

// maxCoords is the most coordinates a form has.
const maxCoords = 9

// Point is a shape on a chip: its work, the ideal time and the coordinates.
type Point struct {
	Flops float64 // per rank
	Bytes float64 // to or from HBM, per rank
	Link  float64 // bytes one rank sends over the links
	Ideal float64 // seconds
	X     [maxCoords]float64
}

// place fills in the ideal time of compute and memory, which overlap.
func place(c *Chip, on Compute, flops, bytes float64) Point {
	return Point{Flops: flops, Bytes: bytes, Ideal: max(flops/c.Peak(on), bytes/c.HBM)}
}

// Bound is a curve bound to a form's coordinates. It is not safe for concurrent use.
type Bound struct {
	launch  float64
	surface surface
	used    []int // coordinates some term still reads
	limits  []limit
	// The last value of each coordinate and its log2: from step to step, most
	// coordinates stay.
	last [maxCoords]float64
	log2 coords
}

// limit is the range of a coordinate the curve's knots span.
type limit struct {
	coord  int
	lo, hi float64
}

// Bind checks a curve against the coordinates a form computes.
func (c *Curve) Bind(list []Coord) (Bound, error) {
	s, err := c.bind(coordNames(list))
	b := Bound{launch: c.LaunchUS * 1e-6, surface: s}
	if err != nil {
		return b, err
	}
	b.use(len(list))
	for i, coord := range list {
		if l := c.limit(coord.Name); l.lo <= l.hi {
			l.coord = i
			b.limits = append(b.limits, l)
		}
	}
	return b, nil
}

// limit is the range every term that reads a coordinate covers; empty, lo > hi,
// when none does.
func (c *Curve) limit(name string) limit {
	l := limit{lo: math.Inf(1), hi: math.Inf(-1)}
	for _, t := range c.Terms {
		for _, a := range t.Axes {
			if a.Coord == name {
				lo, hi := a.Knots[0]*(1-tolerance), a.Knots[len(a.Knots)-1]*(1+tolerance)
				if l.lo > l.hi {
					l.lo, l.hi = lo, hi
				}
				l.lo, l.hi = max(l.lo, lo), min(l.hi, hi)
			}
		}
	}
	return l
}

// tolerance forgives the last bits of a size at a knot.
const tolerance = 1e-9

func (b *Bound) use(n int) {
	b.used = nil
	for i := range n {
		b.last[i] = math.NaN() // equal to no value
		if b.surface.reads(i) {
			b.used = append(b.used, i)
		}
	}
}

// coordNames gives the names a curve may use.
func coordNames(list []Coord) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names
}

// Seconds prices a point. A point with no work costs nothing.
func (b *Bound) Seconds(p *Point) float64 {
	if !(p.Ideal > 0) {
		return 0
	}
	return (b.launch + p.Ideal) * fmath.Exp(ln2*max(0, -b.surface.log2At(b.logs(p))))
}

func (b *Bound) logs(p *Point) *coords {
	x, log2 := math.NaN(), 0.0
	for _, i := range b.used {
		if p.X[i] != b.last[i] {
			if p.X[i] != x { // an equal neighbour: a context without a window is its own reach
				x, log2 = p.X[i], fmath.Log2(p.X[i])
			}
			b.last[i], b.log2[i] = x, log2
		}
	}
	return &b.log2
}

// Inside reports whether a point lies within the knots the curve was fitted on.
func (b *Bound) Inside(p *Point) bool {
	for _, l := range b.limits {
		if v := p.X[l.coord]; v < l.lo || v > l.hi {
			return false
		}
	}
	return true
}

const ln2 = 0.693147180559945309417

// Op is a form compiled for one layer on one chip.
type Op[S Shape] struct {
	chip  Chip
	bound Bound
}

// Compile binds a curve to a layer. Only the fixed sizes of layer are read;
// Seconds must be called with the same ones.
func Compile[S Shape](chip Chip, curve *Curve, layer S) (*Op[S], error) {
	list := layer.Coords()
	b, err := curve.Bind(list)
	if err != nil {
		return nil, err
	}
	x := layer.Point(&chip).X
	for i, c := range list {
		if !c.Fixed || !b.surface.reads(i) {
			continue
		}
		if !(x[i] > 0) {
			return nil, fmt.Errorf("layer %+v: %s must be positive", layer, c.Name)
		}
		b.surface = b.surface.fix(i, fmath.Log2(x[i]))
	}
	b.surface = b.surface.merge()
	b.use(len(list))
	return &Op[S]{chip, b}, nil
}

// Seconds prices one call. A call with no work costs nothing.
func (o *Op[S]) Seconds(s S) float64 {
	p := s.Point(&o.chip)
	return o.bound.Seconds(&p)
}

// Inside reports whether the call lies within the knots the curve was fitted on.
func (o *Op[S]) Inside(s S) bool {
	p := s.Point(&o.chip)
	return o.bound.Inside(&p)
}

// Call is Seconds, Inside and Point together.
func (o *Op[S]) Call(s S, p *Point) (seconds float64, inside bool) {
	*p = s.Point(&o.chip)
	return o.bound.Seconds(p), o.bound.Inside(p)
}

// Point returns the call's work and ideal time.
func (o *Op[S]) Point(s S) Point { return s.Point(&o.chip) }

func (s *surface) reads(coord int) bool {
	for _, t := range s.terms {
		for _, a := range t.axes {
			if a.coord == coord {
				return true
			}
		}
	}
	return false
}
