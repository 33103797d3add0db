// Package distance measures how far a simulated latency distribution is from a
// measured one: percentiles in, one number out. It reads no file and knows no
// grade.
//
// Source: Target Design §11, COV-10: each lane is scored on its percentiles and a
// distribution distance, not only on its mean.
package distance

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Percentiles are what the distance is over: both latencies at p50, p90 and p99.
var Percentiles = []string{"ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "tpot_p90", "tpot_p99"}

// Of is the largest absolute relative error over Percentiles, and where it is. ok is
// false unless both sides have every one of them. Values are in one unit and
// measured ones above 0.
func Of(measured, simulated func(id string) (float64, bool)) (d record.Distance, ok bool) {
	for _, id := range Percentiles {
		m, okM := measured(id)
		s, okS := simulated(id)
		if !okM || !okS || !(m > 0) {
			return record.Distance{}, false
		}
		if e := math.Abs(s-m) / m; d.At == "" || e > d.Value {
			d = record.Distance{Value: e, At: id}
		}
	}
	return d, true
}
