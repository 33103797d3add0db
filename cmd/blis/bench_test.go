package main

import (
	"os"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// A request costs the same in a long run as in a short one (DEV-5): events, memory
// and, in the nightly run on a quiet machine, CPU time, up to a million requests in
// a gigabyte.
func TestCostOfARequestDoesNotGrowWithTheRun(t *testing.T) {
	keep.Rule(t, "DEV-5")
	sizes, repeat, nightly := []int{3_000, 30_000}, 1, os.Getenv("BLIS_NIGHTLY") != ""
	if nightly {
		sizes, repeat = []int{10_000, 100_000, 1_000_000}, 3
	}
	for _, prefix := range []bool{true, false} {
		var first *benchFigures
		for _, n := range sizes {
			f, err := (&benchQuery{workload: "w1", requests: n, repeat: repeat, prefix: prefix}).run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = f
			}
			t.Logf("prefix caching %v, %d requests: %.2f events and %.0f bytes a request, %.0f ns an event", prefix, n, f.EventsPer, f.Bytes, f.PerEvent)
			flat := func(name string, got, want float64) {
				if got > 1.1*want {
					t.Errorf("prefix caching %v, %d requests: %s: got %.1f, want at most 1.1 times the %.1f of %d", prefix, n, name, got, want, first.Requests)
				}
			}
			flat("events a request", f.EventsPer, first.EventsPer)
			flat("bytes a request", f.Bytes, first.Bytes)
			if nightly {
				flat("ns an event", f.PerEvent, first.PerEvent)
			}
			if total := f.Bytes * float64(n); total > 1<<30 {
				t.Errorf("%d requests allocate %.0f bytes in all, more than a gigabyte", n, total)
			}
		}
	}
}
