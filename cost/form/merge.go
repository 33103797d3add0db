package form

import (
	"cmp"
	"slices"
)

// merge adds up terms where one's coordinates include the other's: a sum of
// functions that are linear between knots is linear between the knots of both.
// Folding leaves many terms over one or two coordinates; one lookup serves them.
func (s surface) merge() surface {
	terms := slices.Clone(s.terms)
	slices.SortStableFunc(terms, func(a, b boundTerm) int { return cmp.Compare(len(b.axes), len(a.axes)) })
	var out surface
	for _, t := range terms {
		i := slices.IndexFunc(out.terms, func(u boundTerm) bool { return u.covers(t) })
		if i < 0 {
			out.terms = append(out.terms, t)
			continue
		}
		out.terms[i] = out.terms[i].plus(t)
	}
	return out
}

func (t boundTerm) covers(u boundTerm) bool {
	return !slices.ContainsFunc(u.axes, func(a boundAxis) bool { return t.axis(a.coord) < 0 })
}

func (t boundTerm) axis(coord int) int {
	return slices.IndexFunc(t.axes, func(a boundAxis) bool { return a.coord == coord })
}

// plus is t + u over the knots of both; t covers u.
func (t boundTerm) plus(u boundTerm) boundTerm {
	var sum boundTerm
	size := 1
	for _, a := range slices.Backward(t.axes) {
		knots := slices.Clone(a.knots)
		if i := u.axis(a.coord); i >= 0 {
			knots = append(knots, u.axes[i].knots...)
			slices.Sort(knots)
			knots = slices.Compact(knots)
		}
		sum.axes = append(sum.axes, newAxis(a.coord, knots, size))
		size *= len(knots)
	}
	slices.Reverse(sum.axes)
	sum.values = make([]float64, size)
	var x coords
	for i := range sum.values {
		for _, a := range sum.axes {
			x[a.coord] = a.knots[i/a.stride%len(a.knots)]
		}
		sum.values[i] = t.at(&x) + u.at(&x)
	}
	return sum
}
