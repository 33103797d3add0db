package sim

import (
	"fmt"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// One request at a time, each of about 52 ms: the plain engine saturates at 19
// requests a second.
func TestSteadyStateRunsAreClassified(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const text = header + "workload: {clients: [{name: a, requests: %d, arrivals: {poisson: {rate: %v}}, prompt: {fixed: 10}, output: {exponential: {mean: 24}}}]}\nframe: {kind: steady_state, warmup: {seconds: 20}, accept: {failed: 1, unfinished: 1}, stop: {horizon: %d}}\n"
	cases := []struct {
		rate    float64
		horizon int
		want    string
	}{{8, 3000, "settled"}, {40, 300, "overloaded"}, {8, 21, "incomplete"}}
	for _, c := range cases {
		r := run(t, fmt.Sprintf(text, int(c.rate)*c.horizon, c.rate, c.horizon), "seqs: 1", plainWorld())
		if r.Steady == nil || r.Steady.State != c.want {
			t.Errorf("rate %v: got %+v, want %s", c.rate, r.Steady, c.want)
			continue
		}
		_, latency := r.Figure("ttft_mean", "cluster")
		_, throughput := r.Figure("request_throughput", "cluster")
		if latency != (c.want == "settled") || throughput != (c.want != "incomplete") {
			t.Errorf("%s: latency reported %v, throughput %v", c.want, latency, throughput)
		}
	}
}

func TestSeriesStaysEquallySpaced(t *testing.T) {
	var s series
	s.start(0)
	for now := des.Time(1); now < 200*second; now += 7 * second / 1000 {
		s.pass(now, Load{Outstanding: int64(now / second)})
	}
	for i, v := range s.backlog {
		if at := s.every * des.Time(i+1); v < float64(at/second)-1 || v > float64(at/second)+1 {
			t.Fatalf("sample %d of %d at %v us: got %v", i, len(s.backlog), at, v)
		}
	}
	if len(s.backlog) < seriesFull/2 || len(s.backlog) >= seriesFull {
		t.Errorf("kept %d samples", len(s.backlog))
	}
}
