package cost

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

// TestWidenHoldsThePrice: a factor's interval that leaves 1 out reaches from the
// price to where the held-out times lie.
func TestWidenHoldsThePrice(t *testing.T) {
	for name, c := range map[string]struct {
		factor    registry.Interval
		low, high float64
	}{
		"around 1":    {registry.Interval{0.5, 1.5}, 1, 3},
		"below 1":     {registry.Interval{0.25, 0.5}, 0.5, 2},
		"above 1":     {registry.Interval{1.5, 2}, 2, 4},
		"down to 0":   {registry.Interval{0, 2}, 0, 4},
		"none stated": {registry.Interval{}, 2, 2},
	} {
		r := registry.Resolved{Entry: &registry.Entry{Factor: c.factor}}
		if low, high := widen(r, 2, 2); low != c.low || high != c.high {
			t.Errorf("%s: got %v to %v, want %v to %v", name, low, high, c.low, c.high)
		}
	}
}
