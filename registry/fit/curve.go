package fit

import (
	"math"
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
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
}

const (
	smooth = 1   // weight of a second difference against one sample
	shrink = 0.3 // weight of a correction term's value
)

// fit returns the curve of the samples keep takes.
func (f *fitter) fit(all []sample, keep func(*sample) bool) *form.Curve {
	var in []*sample
	for i := range all {
		if keep(&all[i]) {
			in = append(in, &all[i])
		}
	}
	launch := math.Inf(1)
	for _, s := range in {
		launch = min(launch, s.seconds)
	}
	launch *= 0.8
	curve := &form.Curve{LaunchUS: round(launch * 1e6)}
	var at [][]int
	var lattices []form.Lattice
	p := &problem{}
	for k, axes := range f.thinned(in) {
		t, coords := f.term(axes, in)
		if k > 0 && len(t) == 0 {
			continue // all its coordinates are constant here
		}
		curve.Terms = append(curve.Terms, form.Term{Axes: t})
		at = append(at, coords)
		lattices = append(lattices, form.NewLattice(t))
		p.unknowns += p.smoothness(t, p.unknowns, k > 0)
	}
	var x [9]float64
	for _, s := range in {
		var row []form.Weight
		base := 0
		for k := range curve.Terms {
			for i, c := range at[k] {
				x[i] = math.Log2(s.point.X[c])
			}
			n := len(row)
			row = lattices[k].Weights(x[:], row)
			for i := n; i < len(row); i++ {
				row[i].Index += base
			}
			base += size(curve.Terms[k].Axes)
		}
		p.rows = append(p.rows, row)
		p.y = append(p.y, math.Log2((curve.LaunchUS*1e-6+s.point.Ideal)/s.seconds))
	}
	sol := p.solve(5, 60)
	for k := range curve.Terms {
		t := &curve.Terms[k]
		n := size(t.Axes)
		t.Values = rows(t.Axes, sol[:n])
		sol = sol[n:]
	}
	return curve
}

// thinned drops every other knot until a curve has a quarter as many values as
// samples: a curve states a surface, not a table.
func (f *fitter) thinned(in []*sample) layout {
	l := f.layout
	for range 3 {
		values := 0
		for k, axes := range l {
			if t, _ := f.term(axes, in); k == 0 || len(t) > 0 {
				values += size(t)
			}
		}
		if values*4 <= len(in) {
			break
		}
		l = l.thin()
	}
	return l
}

func (l layout) thin() layout {
	out := make(layout, len(l))
	for k, axes := range l {
		for _, a := range axes {
			b := axis{coord: a.coord}
			for i := 1; i < len(a.knots); i += 2 {
				b.knots = append(b.knots, a.knots[i])
			}
			out[k] = append(out[k], b)
		}
	}
	return out
}

// term lays one term's knots over the range of the samples.
func (f *fitter) term(axes []axis, in []*sample) ([]form.Axis, []int) {
	var t []form.Axis
	var coords []int
	for _, a := range axes {
		c := slices.IndexFunc(f.coords, func(c form.Coord) bool { return c.Name == a.coord })
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
		t = append(t, form.Axis{Name: a.coord, Knots: knots})
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
		out[len(out)-1] = append(out[len(out)-1], round(math.Exp2(v)))
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
				l, m, r := math.Log2(a.Knots[k-1]), math.Log2(a.Knots[k]), math.Log2(a.Knots[k+1])
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
