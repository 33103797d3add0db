package form

import (
	"fmt"

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

// Op is a form compiled for one layer on one chip.
type Op[S Shape] struct {
	chip    Chip
	launch  float64
	surface surface
	used    []int // coordinates some term still reads
}

// Compile binds a curve to a layer. Only the fixed sizes of layer are read;
// Seconds must be called with the same ones.
func Compile[S Shape](chip Chip, curve *Curve, layer S) (*Op[S], error) {
	list := layer.Coords()
	s, err := curve.bind(coordNames(list))
	if err != nil {
		return nil, err
	}
	x := layer.Point(&chip).X
	for i, c := range list {
		if !c.Fixed || !s.reads(i) {
			continue
		}
		if !(x[i] > 0) {
			return nil, fmt.Errorf("layer %+v: %s must be positive", layer, c.Name)
		}
		s = s.fix(i, fmath.Log2(x[i]))
	}
	op := &Op[S]{chip: chip, launch: curve.LaunchUS * 1e-6, surface: s}
	for i := range list {
		if s.reads(i) {
			op.used = append(op.used, i)
		}
	}
	return op, nil
}

// coordNames gives the names a curve may use.
func coordNames(list []Coord) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names
}

// Seconds prices one call. A call with no work costs nothing.
func (o *Op[S]) Seconds(s S) float64 {
	p := s.Point(&o.chip)
	if !(p.Ideal > 0) {
		return 0
	}
	x := o.logs(&p)
	return (o.launch + p.Ideal) * fmath.Exp(ln2*max(0, -o.surface.log2At(&x)))
}

// Inside reports whether the call lies within the knots the curve was fitted on.
func (o *Op[S]) Inside(s S) bool {
	p := s.Point(&o.chip)
	x := o.logs(&p)
	return o.surface.inside(&x)
}

// Point returns the call's work and ideal time.
func (o *Op[S]) Point(s S) Point { return s.Point(&o.chip) }

func (o *Op[S]) logs(p *Point) coords {
	var x coords
	for _, i := range o.used {
		x[i] = fmath.Log2(p.X[i])
	}
	return x
}

const ln2 = 0.693147180559945309417

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
