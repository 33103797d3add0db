package fit

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// sample is one measured shape as its form sees it.
type sample struct {
	sizes   []float64 // every number that distinguishes two shapes
	shape   string    // the same as text, for the split and for messages
	point   form.Point
	seconds float64
	part    part
}

// part is the role of a sample in the held-out check.
type part uint8

const (
	train    part = iota
	held          // a fifth of the shapes, by a hash of the whole shape
	frontier      // at the largest value of some coordinate of its group: extrapolation
)

func newSample(r reading, seconds float64) sample {
	s := sample{sizes: r.shape, point: r.point, seconds: seconds}
	text, _ := form.Row(r.shape).MarshalText()
	s.shape = string(text)
	h := fnv.New32a()
	h.Write([]byte(s.shape))
	if h.Sum32()%5 == 0 {
		s.part = held
	}
	return s
}

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

// markFrontier sets apart the samples at the upper end of the given sizes.
func markFrontier(in []sample, sizes []int) {
	for _, c := range sizes {
		top, low := math.Inf(-1), math.Inf(1)
		for i := range in {
			top, low = max(top, in[i].sizes[c]), min(low, in[i].sizes[c])
		}
		if top == low {
			continue
		}
		for i := range in {
			if in[i].sizes[c] == top {
				in[i].part = frontier
			}
		}
	}
}
