package sim

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Two scenarios whose requests never meet differ in their mean output alone: a request of
// n tokens takes n steps of 2.1 ms, and n is an exponential of mean m, rounded and at
// least 1, whose mean is 1 + exp(-1.5/m) / (1 - exp(-1/m)).
func TestReplicationsCoverAKnownDifference(t *testing.T) {
	keep.Rule(t, "DEV-11")
	repeats := 60
	if os.Getenv("BLIS_NIGHTLY") != "" {
		repeats = 1000
	}
	const seeds, level = 8, 0.95
	mean := func(m float64) float64 { return 1 + math.Exp(-1.5/m)/(1-math.Exp(-1/m)) }
	want := 0.0021 * (mean(25) - mean(20))
	run := func(m int, seed uint64) float64 {
		text := strings.Replace(header, "ARGS", "", 1) + fmt.Sprintf("workload: {clients: [{name: a, requests: 40, arrivals: {constant: {rate: 0.1}}, prompt: {fixed: 10}, output: {exponential: {mean: %d}}}]}\nframe: {seed: %d, metrics: [e2e_mean]}\n", m, seed)
		s, err := spec.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(s, plainWorld())
		if err != nil {
			t.Fatal(err)
		}
		return value(t, r, "e2e_mean", "cluster")
	}
	covered, told := 0, 0
	for i := range repeats {
		var a, b []float64
		for k := range seeds {
			seed := uint64(i*seeds + k)
			a, b = append(a, run(20, seed)), append(b, run(25, seed))
		}
		c, err := analysis.Paired(a, b, 0, level)
		if err != nil {
			t.Fatal(err)
		}
		if c.Difference.Low <= want && want <= c.Difference.High {
			covered++
		}
		if c.Outcome == analysis.Higher {
			told++
		}
	}
	expected := level * float64(repeats)
	if slack := 3 * math.Sqrt(expected*(1-level)); math.Abs(float64(covered)-expected) > slack {
		t.Errorf("%d of %d intervals hold the difference of %.6f s, want %.0f within %.0f", covered, repeats, want, expected, slack)
	}
	if told < repeats*9/10 {
		t.Errorf("%d of %d comparisons tell the two apart, common random numbers would tell nearly all", told, repeats)
	}
}
