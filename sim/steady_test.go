package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
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

// A closed loop's backlog is constant. Where each round's prompt holds the rounds before,
// its latencies grow until the sessions end; where it does not, they settle.
func TestClosedLoopSettlesByItsLatencies(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const text = header + "workload: {clients: [{name: a, requests: 1200, arrivals: {closed: {concurrency: 8}}, prompt: {uniform: {min: 20, max: 60}}, output: {uniform: {min: 5, max: 15}}%s}]}\nframe: {kind: steady_state, warmup: {requests: 24}}\n"
	for session, want := range map[string]string{"": "", ", session: {rounds: {fixed: 150}}": "the run is incomplete: the series ttft shows a trend"} {
		r := run(t, fmt.Sprintf(text, session), "seqs: 8", plainWorld())
		if got := withheld(r, "ttft_mean", "cluster"); got != want {
			t.Errorf("sessions %q: ttft_mean withheld %q, want %q", session, got, want)
		}
		s := r.Steady
		if s.Samples < 400 || s.Series[0].Problem != "" || len(s.Series) != 5 || s.Series[1].Samples < 1100 || !(s.Series[1].ShiftFound > 0) || s.Power != 0.9 {
			t.Errorf("sessions %q: got %+v", session, s)
		}
	}
}

// A settled run's means have an interval from batch means, its percentiles none.
func TestSettledMeansHaveAnInterval(t *testing.T) {
	keep.Rule(t, "DEV-11")
	const text = header + "workload: {clients: [{name: a, requests: 3000, arrivals: {poisson: {rate: 8}}, prompt: {fixed: 10}, output: {exponential: {mean: 24}}}]}\nframe: {kind: KIND, seed: %d}\n"
	var of []spec.Figure
	mean := 0.0
	for seed := range 12 {
		r := run(t, strings.Replace(fmt.Sprintf(text, seed), "KIND", "steady_state", 1), "seqs: 1", plainWorld())
		if r.Steady.State != "settled" {
			continue
		}
		f, _ := r.Figure("ttft_mean", "cluster")
		if f.Interval == nil || f.Interval.Runs < 10 || f.NoInterval != "" {
			t.Fatalf("seed %d: ttft_mean %+v", seed, f)
		}
		if p, _ := r.Figure("ttft_p99", "cluster"); p.Interval != nil || p.NoInterval == "" {
			t.Errorf("seed %d: ttft_p99 %+v", seed, p)
		}
		of, mean = append(of, f), mean+f.Value
	}
	mean /= float64(len(of))
	covered := 0
	for _, f := range of {
		if f.Interval.Low <= mean && mean <= f.Interval.High && f.Interval.High-f.Interval.Low < mean {
			covered++
		}
	}
	if len(of) < 10 || covered < len(of)-2 {
		t.Errorf("%d settled, the intervals of %d hold the mean of all", len(of), covered)
	}
	if f, _ := run(t, strings.Replace(fmt.Sprintf(text, 0), "KIND", "terminating", 1), "seqs: 1", plainWorld()).Figure("ttft_mean", "cluster"); f.Interval != nil {
		t.Errorf("a terminating run: got %+v", f)
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
