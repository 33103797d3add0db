package main

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

func TestTimelineFoldsItsBinsAndLosesNothing(t *testing.T) {
	for _, long := range []des.Time{1000, 1_000_000, 90_000_000} {
		line := &timeline{width: 1 << 12, measured: des.Never}
		tokens := 0
		for i := range 1000 {
			end := long * des.Time(i+1) / 1000
			line.Batch(sim.BatchRecord{Launched: end - 10, End: end, Tokens: i, Running: 7, Waiting: 2, KVUsage: 0.25})
			tokens += i
		}
		r := line.record()
		if r.BinSeconds*float64(len(r.Tokens)) < float64(long)/1e6 {
			t.Errorf("run of %d us: %d bins of %v s do not reach its end", long, len(r.Tokens), r.BinSeconds)
		}
		sum := 0.0
		for i, v := range r.Tokens {
			sum += v * r.BinSeconds
			if r.Running[i] != 7 || r.Waiting[i] != 2 || r.KV[i] != 0.25 {
				t.Fatalf("run of %d us, bin %d: got %v running, %v waiting, %v of KV, want 7, 2, 0.25", long, i, r.Running[i], r.Waiting[i], r.KV[i])
			}
		}
		if sum < float64(tokens)*0.999 || sum > float64(tokens)*1.001 {
			t.Errorf("run of %d us: got %v tokens, want %d", long, sum, tokens)
		}
	}
}
