package fit

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// sample is one measured shape as its form sees it.
type sample struct {
	shape   string // every shape column, for the split and for messages
	coords  [8]float64
	ideal   float64 // seconds
	seconds float64
	x       [8]float64 // log2 of coords
	part    part
}

// part is the role of a sample in the held-out check.
type part uint8

const (
	train    part = iota
	held          // a fifth of the shapes, by a hash of the whole shape
	frontier      // at the largest value of some coordinate of its group: extrapolation
)

func newSample(shape []string, p form.Point, seconds float64) sample {
	s := sample{shape: strings.Join(shape, " "), coords: p.X, ideal: p.Ideal, seconds: seconds}
	for i, v := range p.X {
		if v > 0 {
			s.x[i] = math.Log2(v)
		}
	}
	h := fnv.New32a()
	h.Write([]byte(s.shape))
	if h.Sum32()%5 == 0 {
		s.part = held
	}
	return s
}

// num writes a shape's number for its hash and its name.
func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// median of the repeated measurements of one shape; several rows of one shape
// would otherwise weigh twice and stand on both sides of the split.
func unique(in []sample) []sample {
	slices.SortStableFunc(in, func(a, b sample) int { return strings.Compare(a.shape, b.shape) })
	var out []sample
	for i := 0; i < len(in); {
		j := i + 1
		for j < len(in) && in[j].shape == in[i].shape {
			j++
		}
		same := in[i:j]
		slices.SortStableFunc(same, func(a, b sample) int {
			if a.seconds < b.seconds {
				return -1
			}
			return b2i(a.seconds > b.seconds)
		})
		out = append(out, same[len(same)/2])
		i = j
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// markFrontier sets apart the samples at the upper end of the given coordinates.
func markFrontier(in []sample, coords []int) {
	for _, c := range coords {
		top, low := math.Inf(-1), math.Inf(1)
		for i := range in {
			top, low = max(top, in[i].coords[c]), min(low, in[i].coords[c])
		}
		if top == low {
			continue
		}
		for i := range in {
			if in[i].coords[c] == top {
				in[i].part = frontier
			}
		}
	}
}
