package distance

import (
	"maps"
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func from(m map[string]float64) func(string) (float64, bool) {
	return func(id string) (float64, bool) { v, ok := m[id]; return v, ok }
}

func TestDistanceIsTheLargestRelativeError(t *testing.T) {
	keep.Rule(t, "COV-10")
	measured := map[string]float64{"ttft_p50": 1, "ttft_p90": 2, "ttft_p99": 4, "tpot_p50": 0.01, "tpot_p90": 0.02, "tpot_p99": 0.04}
	for _, c := range []struct {
		name, at  string
		simulated float64
		want      float64
	}{
		{"equal", "ttft_p50", 1, 0},
		{"tail too short", "ttft_p99", 3, 0.25},
		{"tail too long", "tpot_p99", 0.05, 0.25},
		{"zero", "tpot_p50", 0, 1},
	} {
		s := maps.Clone(measured)
		s[c.at] = c.simulated
		d, ok := Of(from(measured), from(s))
		if !ok || d.At != c.at || math.Abs(d.Value-c.want) > 1e-12 {
			t.Errorf("%s: got %+v, %v, want %v at %s", c.name, d, ok, c.want, c.at)
		}
	}
}

func TestNoDistanceWithoutEveryPercentile(t *testing.T) {
	keep.Rule(t, "COV-10")
	for _, id := range Percentiles {
		some := map[string]float64{"ttft_p50": 1, "ttft_p90": 2, "ttft_p99": 4, "tpot_p50": 0.01, "tpot_p90": 0.02, "tpot_p99": 0.04}
		all := maps.Clone(some)
		delete(some, id)
		if _, ok := Of(from(some), from(all)); ok {
			t.Errorf("measured without %s: got a distance", id)
		}
		if _, ok := Of(from(all), from(some)); ok {
			t.Errorf("simulated without %s: got a distance", id)
		}
	}
}
