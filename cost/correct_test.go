package cost

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// fixed is an operator of one known point.
type fixed form.Point

func (f fixed) call(_ *work, p *form.Point) (float64, bool) {
	*p = form.Point(f)
	return 2 * f.Ideal, true
}

// TestCorrectionFollowsTheBound: peaks are 1, so FLOPs and bytes are seconds.
func TestCorrectionFollowsTheBound(t *testing.T) {
	for name, c := range map[string]struct {
		p    form.Point
		want float64 // over the uncorrected time
	}{
		"memory-bound":                {form.Point{Flops: 1, Bytes: 10, Ideal: 10}, 0.5},
		"compute-bound":               {form.Point{Flops: 10, Bytes: 1, Ideal: 10}, 3},
		"at the ridge":                {form.Point{Flops: 10, Bytes: 10, Ideal: 10}, 3},
		"memory-bound near the ridge": {form.Point{Flops: 8, Bytes: 10, Ideal: 10}, 2.4},
		"over links":                  {form.Point{Link: 5, Ideal: 10}, 0.5},
	} {
		op := &corrected{operator: fixed(c.p), peak: 1, hbm: 1, compute: 3, memory: 0.5}
		seconds, _ := op.call(nil, new(form.Point))
		if got := seconds / (2 * c.p.Ideal); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %v times the time, want %v", name, got, c.want)
		}
	}
}
