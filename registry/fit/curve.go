package fit

import (
	"math"
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// layout is the terms of a family's curve before it is fitted: which coordinates,
// at which knots. Knots are cut to the data of each group.
type layout [][]axis

type axis struct {
	coord string
	knots []float64
}

// fitter turns samples into curves of one layout.
type fitter struct {
	coords []form.Coord
	layout layout
	rising bool // a larger message never takes less time; see rise
}

const (
	smooth = 1   // weight of a second difference against one sample
	shrink = 0.3 // weight of a correction term's value
)

// fit returns the curve of the samples keep takes, nil when it takes none.
func (f *fitter) fit(all []sample, keep func(*sample) bool) *form.Curve {
	var in []*sample
	launch := math.Inf(1)
	for i := range all {
		if keep(&all[i]) {
			in = append(in, &all[i])
			launch = min(launch, all[i].seconds)
		}
	}
	if len(in) == 0 {
		return nil
	}
	curve := &form.Curve{LaunchUS: round(launchShare * launch * 1e6)}
	terms, p := f.pose(in, curve.LaunchUS*1e-6)
	values := p.solve(5, 60)
	for _, t := range terms {
		n := size(t.axes)
		curve.Terms = append(curve.Terms, form.Term{Axes: t.axes, Values: rows(t.axes, values[:n])})
		values = values[n:]
	}
	if f.rising {
		rise(curve, in, f.index("ranks"), f.index("bytes"))
	}
	return curve
}

func (f *fitter) index(coord string) int {
	return slices.IndexFunc(f.coords, func(c form.Coord) bool { return c.Name == coord })
}

// launchShare of the shortest time measured is taken as the launch: the rest of
// it is work, however little.
const launchShare = 0.8

// placed is a term with its knots, and where its unknowns begin.
type placed struct {
	axes    []form.Axis
	coords  []int
	lattice form.Lattice
	base    int
}

// pose states the least-squares problem of a curve's values.
func (f *fitter) pose(in []*sample, launch float64) ([]placed, *problem) {
	p := &problem{}
	var terms []placed
	for k, axes := range f.thinned(in) {
		t, coords := f.term(axes, in)
		if k > 0 && len(t) == 0 {
			continue // all its coordinates are constant here
		}
		terms = append(terms, placed{t, coords, form.NewLattice(t), p.unknowns})
		p.unknowns += p.smoothness(t, p.unknowns, k > 0)
	}
	var x [9]float64
	var row []form.Weight
	for _, s := range in {
		row = row[:0]
		for _, t := range terms {
			for i, c := range t.coords {
				x[i] = fmath.Log2(s.point.X[c])
			}
			n := len(row)
			row = t.lattice.Weights(x[:], row)
			for i := n; i < len(row); i++ {
				row[i].Index += t.base
			}
		}
		p.add(row, fmath.Log2((launch+s.point.Ideal)/s.seconds))
	}
	return terms, p
}

// thinned takes knots out of the largest terms until a curve has a quarter as
// many values as samples: a curve states a surface, not a table.
func (f *fitter) thinned(in []*sample) layout {
	l := slices.Clone(f.layout)
	for {
		values, most, at := 0, 0, -1
		for k, axes := range l {
			t, _ := f.term(axes, in)
			n := size(t)
			if k > 0 && len(t) == 0 {
				continue
			}
			if values += n; n > most {
				most, at = n, k
			}
		}
		if values*4 <= max(len(in), fewest) || !l.thin(at) {
			return l
		}
	}
}

// fewest is the number of samples below which thinning would leave no shape.
const fewest = 108

// thin halves the knots of a term's finest axis; false when none is left.
func (l layout) thin(k int) bool {
	finest := 0
	for i, a := range l[k] {
		if len(a.knots) > len(l[k][finest].knots) {
			finest = i
		}
	}
	if len(l[k]) == 0 || len(l[k][finest].knots) == 0 {
		return false
	}
	l[k] = slices.Clone(l[k])
	a := axis{coord: l[k][finest].coord}
	for i, knot := range l[k][finest].knots {
		if i%2 == 1 {
			a.knots = append(a.knots, knot)
		}
	}
	l[k][finest] = a
	return true
}

// term lays one term's knots over the range of the samples.
func (f *fitter) term(axes []axis, in []*sample) ([]form.Axis, []int) {
	var t []form.Axis
	var coords []int
	for _, a := range axes {
		c := f.index(a.coord)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, s := range in {
			lo, hi = min(lo, s.point.X[c]), max(hi, s.point.X[c])
		}
		if lo == hi {
			continue
		}
		knots := []float64{lo}
		for _, k := range a.knots {
			if k > lo*1.05 && k < hi/1.05 {
				knots = append(knots, k)
			}
		}
		knots = append(knots, hi)
		t = append(t, form.Axis{Coord: a.coord, Knots: knots})
		coords = append(coords, c)
	}
	return t, coords
}

func size(axes []form.Axis) int {
	n := 1
	for _, a := range axes {
		n *= len(a.Knots)
	}
	return n
}

// rows breaks log2 values into lines of the last axis.
func rows(axes []form.Axis, log2 []float64) form.Rows {
	width := 1
	if n := len(axes); n > 0 {
		width = len(axes[n-1].Knots)
	}
	var out form.Rows
	for i, v := range log2 {
		if i%width == 0 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], round(fmath.Exp(v*math.Ln2)))
	}
	return out
}

// smoothness asks neighbouring values to lie on a line, and corrections to be 1.
func (p *problem) smoothness(axes []form.Axis, base int, correction bool) int {
	total := size(axes)
	for i := range total {
		w := 1e-6
		if correction {
			w = shrink
		}
		p.rough = append(p.rough, penalty{at: [3]int{base + i}, w: [3]float64{1}, n: 1, weight: w})
		stride := total
		for _, a := range axes {
			n := len(a.Knots)
			stride /= n
			if k := i / stride % n; k > 0 && k < n-1 {
				l, m, r := fmath.Log2(a.Knots[k-1]), fmath.Log2(a.Knots[k]), fmath.Log2(a.Knots[k+1])
				p.rough = append(p.rough, penalty{
					at: [3]int{base + i - stride, base + i, base + i + stride},
					w:  [3]float64{(r - m) / (r - l), -1, (m - l) / (r - l)}, n: 3, weight: smooth,
				})
			}
		}
	}
	return total
}

// round keeps three significant digits: a tenth of the fits' error at worst.
func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}
