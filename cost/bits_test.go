package cost_test

import (
	"hash/fnv"
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestBits pins the exact bits of prices, so that every platform must compute the
// same (X6). A change of the composition or of a form changes the sum.
func TestBits(t *testing.T) {
	keep.Rule(t, "X6")
	w := baseWorld()
	pr := compile(t, model(t, "gb200_nvl72"), &w.Plan)
	h := fnv.New64a()
	put := func(s plan.StepShape) {
		e := pr.Price(&s)
		for _, v := range []float64{float64(e.Total), float64(e.Device), float64(e.Host)} {
			b := math.Float64bits(v)
			for i := range 8 {
				h.Write([]byte{byte(b >> (8 * i))})
			}
		}
	}
	for n := 1; n < 2000; n = n*3/2 + 1 {
		put(decodeStep(n, 7*n))
		put(extendStep(5*n, 3*n))
		for _, s := range w.Steps {
			s.Ranks[0].Sampled = n
			put(s)
		}
	}
	if got, want := h.Sum64(), uint64(0x3760b797b5a4d66); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
