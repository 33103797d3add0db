package form

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// Axis is one coordinate of a term: its name, of those the form computes, and
// the values at which the term is stated, increasing.
type Axis struct {
	Coord string `yaml:"axis"`
	Knots Row    `yaml:"knots"`
}

// Term is a positive function of one to three coordinates, stated at the knots
// (last axis fastest) and interpolated linearly in the logarithm of everything.
type Term struct {
	Axes   []Axis `yaml:"axes"`
	Values Rows   `yaml:"values"` // one row for each place on all axes but the last
}

// Curve is the fitted part of a form: a fixed cost and a utilisation that is the
// product of its terms, in (0, 1]. One term over no axis is a constant.
type Curve struct {
	LaunchUS float64 `yaml:"launch_us"` // fixed device time of a launch, microseconds
	Terms    []Term  `yaml:"terms"`
}

const maxTermAxes = 3

// surface is a Curve bound to a form's coordinates, everything in log2.
type surface struct{ terms []boundTerm }

type boundTerm struct {
	axes   []boundAxis
	values []float64
}

type boundAxis struct {
	coord  int
	knots  []float64
	stride int
	// What was found last: steps follow each other closely, and an axis is asked once a
	// row of the axis before it.
	at       float64
	cell     int
	fraction float64
}

func newAxis(coord int, knots []float64, stride int) boundAxis {
	return boundAxis{coord: coord, knots: knots, stride: stride, at: math.NaN()} // equal to nothing
}

// bind checks a curve against the coordinates a form computes.
func (c *Curve) bind(coords []string) (surface, error) {
	var s surface
	for i, t := range c.Terms {
		b, err := t.bind(coords)
		if err != nil {
			return s, fmt.Errorf("term %d: %w", i, err)
		}
		s.terms = append(s.terms, b)
	}
	if len(s.terms) == 0 {
		return s, &diag.Refusal{Field: "terms", Problem: "is empty", Accept: "at least one term"}
	}
	return s, nil
}

func (t *Term) bind(coords []string) (boundTerm, error) {
	var b boundTerm
	if len(t.Axes) > maxTermAxes {
		return b, &diag.Refusal{Field: "axes", Value: fmt.Sprint(len(t.Axes)), Problem: "too many axes",
			Accept: fmt.Sprintf("at most %d", maxTermAxes)}
	}
	size := 1
	for _, a := range slices.Backward(t.Axes) {
		at := slices.Index(coords, a.Coord)
		if at < 0 {
			return b, &diag.Refusal{Field: "axis", Value: a.Coord, Problem: "is no coordinate of this form",
				Accept: diag.OneOf(a.Coord, coords)}
		}
		if len(a.Knots) == 0 || a.Knots[0] <= 0 || !increasing(a.Knots) {
			return b, &diag.Refusal{Field: "knots", Value: a.Coord, Problem: "knots are not positive and increasing"}
		}
		b.axes = append(b.axes, newAxis(at, logs(a.Knots), size))
		size *= len(a.Knots)
	}
	slices.Reverse(b.axes)
	width := 1
	if n := len(t.Axes); n > 0 {
		width = len(t.Axes[n-1].Knots)
	}
	values, ok := t.Values.flat(width)
	if !ok || len(values) != size || slices.Min(values) <= 0 {
		return b, &diag.Refusal{Field: "values", Value: fmt.Sprint(len(values)), Problem: "wrong number of values, or one not positive",
			Accept: fmt.Sprintf("%d rows of %d positive values", size/width, width)}
	}
	b.values = logs(values)
	return b, nil
}

func increasing(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if x[i] <= x[i-1] {
			return false
		}
	}
	return true
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = fmath.Log2(v)
	}
	return out
}

// locate finds the cell of x and the fraction into it; outside, the nearest end.
func (a *boundAxis) locate(x float64) (int, float64) {
	if x != a.at {
		a.search(x)
	}
	return a.cell, a.fraction
}

func (a *boundAxis) search(x float64) {
	knots, last, i := a.knots, len(a.knots)-1, a.cell
	a.at, a.fraction = x, 0
	switch {
	case x <= knots[0] || last == 0:
		a.cell = 0
		return
	case x >= knots[last]:
		a.cell = last
		return
	}
	for x < knots[i] {
		i--
	}
	for x >= knots[i+1] {
		i++
	}
	a.cell, a.fraction = i, (x-knots[i])/(knots[i+1]-knots[i])
}

// fix folds every axis over a coordinate that no longer changes into the values.
func (s surface) fix(coord int, x float64) surface {
	out := surface{make([]boundTerm, len(s.terms))}
	for i, t := range s.terms {
		at := slices.IndexFunc(t.axes, func(a boundAxis) bool { return a.coord == coord })
		if at >= 0 {
			t = t.fold(at, x)
		}
		out.terms[i] = t
	}
	return out
}

func (t boundTerm) fold(at int, x float64) boundTerm {
	a := t.axes[at]
	lo, f := a.locate(x)
	n := len(a.knots)
	out := boundTerm{values: make([]float64, 0, len(t.values)/n)}
	for base := 0; base < len(t.values); base += a.stride * n {
		for j := range a.stride {
			v := t.values[base+lo*a.stride+j]
			if f > 0 {
				v += float64(f * (t.values[base+(lo+1)*a.stride+j] - v))
			}
			out.values = append(out.values, v)
		}
	}
	size := 1
	for i := len(t.axes) - 1; i >= 0; i-- {
		if i != at {
			b := t.axes[i]
			b.stride = size
			size *= len(b.knots)
			out.axes = append(out.axes, b)
		}
	}
	slices.Reverse(out.axes)
	return out
}

// log2At is log2 of the utilisation where x holds log2 of every coordinate.
func (s *surface) log2At(x *coords) float64 {
	sum := 0.0
	for i := range s.terms {
		sum += s.terms[i].at(x)
	}
	return sum
}

// coords holds log2 of a form's coordinates.
type coords [maxCoords]float64

// at interpolates the term axis by axis, the last innermost.
func (t *boundTerm) at(x *coords) float64 {
	switch len(t.axes) {
	case 0:
		return t.values[0]
	case 1:
		lo, f := t.axes[0].locate(x[t.axes[0].coord])
		return t.between(lo, f)
	case 2:
		return t.plane(x, 0, 0)
	}
	a := &t.axes[0]
	lo, f := a.locate(x[a.coord])
	v := t.plane(x, lo*a.stride, 1)
	if f > 0 {
		v += float64(f * (t.plane(x, lo*a.stride+a.stride, 1) - v))
	}
	return v
}

// plane interpolates over the last two axes, the first of them axis k; base is where
// its values start.
func (t *boundTerm) plane(x *coords, base, k int) float64 {
	a, b := &t.axes[k], &t.axes[k+1]
	lo, f := a.locate(x[a.coord])
	i, g := b.locate(x[b.coord])
	base += lo*a.stride + i
	v := t.between(base, g)
	if f > 0 {
		v += float64(f * (t.between(base+a.stride, g) - v))
	}
	return v
}

// between interpolates two neighbouring values.
func (t *boundTerm) between(at int, f float64) float64 {
	v := t.values[at]
	if f > 0 {
		v += float64(f * (t.values[at+1] - v))
	}
	return v
}
