package form

// Weight is one corner of the cell a point falls in: the index of a value and
// its share.
type Weight struct {
	Index int
	Share float64
}

// Lattice is a term's knots in log2, for the writers: they fit with the very
// weights an evaluation uses.
type Lattice struct{ axes []boundAxis }

// NewLattice lays out the knots of axes, last axis fastest.
func NewLattice(axes []Axis) Lattice {
	l := Lattice{make([]boundAxis, len(axes))}
	size := 1
	for i := len(axes) - 1; i >= 0; i-- {
		l.axes[i] = newAxis(i, logs(axes[i].Knots), size)
		size *= len(axes[i].Knots)
	}
	return l
}

// Weights appends the values a point touches, with shares that sum to 1: log2 of
// the term is the shares' mean of the logs. x holds log2 of each axis.
func (l Lattice) Weights(x []float64, into []Weight) []Weight {
	first := len(into)
	into = append(into, Weight{0, 1})
	for i, a := range l.axes {
		lo, f := a.locate(x[i])
		for j, n := first, len(into); j < n; j++ {
			w := into[j]
			into[j] = Weight{w.Index + lo*a.stride, w.Share * (1 - f)}
			if f > 0 {
				into = append(into, Weight{w.Index + (lo+1)*a.stride, w.Share * f})
			}
		}
	}
	return into
}
