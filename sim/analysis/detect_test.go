package analysis

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// queue simulates a single-server queue with Poisson arrivals at rate rho and mean
// service 1, and returns the number in system at equal intervals over the window.
func queue(rho, window float64, service func(*substream.Stream) float64, seed uint64) []float64 {
	f := substream.New(seed, "queue", "draws")
	s := f.At(0)
	const samples = 2000
	out := make([]float64, 0, samples)
	arrival, departure := s.Exponential()/rho, math.Inf(1)
	n, every := 0, window/samples
	for len(out) < samples {
		next := float64(len(out)+1) * every
		switch {
		case arrival <= next && arrival <= departure:
			if n++; n == 1 {
				departure = arrival + service(&s)
			}
			arrival += s.Exponential() / rho
		case departure <= next:
			t := departure
			departure = math.Inf(1)
			if n--; n > 0 {
				departure = t + service(&s)
			}
		default:
			out = append(out, float64(n))
		}
	}
	return out
}

func exponential(s *substream.Stream) float64 { return s.Exponential() }

// erlang has a squared coefficient of variation of 1/4: an M/G/1 that settles well.
func erlang(s *substream.Stream) float64 { return s.Gamma(4) / 4 }

// pareto has shape 1.2: a mean of 1 and no variance.
func pareto(s *substream.Stream) float64 {
	return 0.2 / 1.2 * math.Pow(1-s.Float64(), -1/1.2)
}

func states(rho, window float64, service func(*substream.Stream) float64, runs int) map[State]int {
	got := map[State]int{}
	for i := range runs {
		got[Classify(queue(rho, window, service, uint64(i)))]++
	}
	return got
}

func TestDetectorOnQueuesKnownExactly(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const runs = 40
	cases := []struct {
		name    string
		rho     float64
		window  float64
		service func(*substream.Stream) float64
		want    State
		least   int // runs that must be classed so
		never   State
		most    int // runs that may be classed as never
	}{
		{"M/M/1 at 0.5", 0.5, 20_000, exponential, Settled, 32, Overloaded, 1},
		{"M/M/1 at 0.8", 0.8, 100_000, exponential, Settled, 32, Overloaded, 1},
		{"M/M/1 at 0.9, long", 0.9, 400_000, exponential, Settled, 30, Overloaded, 1},
		{"M/M/1 at 0.95, short", 0.95, 2_000, exponential, Incomplete, 30, Overloaded, 3},
		{"M/M/1 at 0.99, short", 0.99, 5_000, exponential, Incomplete, 32, Overloaded, 3},
		{"M/M/1 at 1.1", 1.1, 10_000, exponential, Overloaded, 38, Settled, 0},
		{"M/M/1 at 1.5", 1.5, 2_000, exponential, Overloaded, 40, Settled, 0},
		{"M/G/1 at 0.8", 0.8, 50_000, erlang, Settled, 32, Overloaded, 1},
		{"M/G/1 at 1.2", 1.2, 5_000, erlang, Overloaded, 40, Settled, 0},
		{"heavy tail at 0.5", 0.5, 50_000, pareto, Incomplete, 32, Settled, 6},
	}
	for _, c := range cases {
		got := states(c.rho, c.window, c.service, runs)
		if got[c.want] < c.least || got[c.never] > c.most {
			t.Errorf("%s: got %v of %d, want %s at least %d times and %s at most %d", c.name, got, runs, c.want, c.least, c.never, c.most)
		}
	}
}

// A critical load has no drift: the false-alarm rate is the stated one.
func TestFalseAlarmRate(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const runs = 2000
	alarms := 0
	for i := range runs {
		f := substream.New(uint64(i), "walk", "steps")
		s := f.At(0)
		walk := make([]float64, 401)
		for k := 1; k < len(walk); k++ {
			walk[k] = walk[k-1] + s.Normal()
		}
		if drifts(walk) {
			alarms++
		}
	}
	if rate := float64(alarms) / runs; math.Abs(rate-FalseAlarm) > 3*math.Sqrt(FalseAlarm/runs) {
		t.Errorf("false alarms: got %v, want %v", rate, FalseAlarm)
	}
}

func TestPowerIsWhatIsStated(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const rho, window, runs = 1.1, 1500.0, 200
	want := Power(rho-1, math.Sqrt(rho+1), window)
	found := 0
	for i := range runs {
		if drifts(queue(rho, window, exponential, uint64(i))) {
			found++
		}
	}
	if got := float64(found) / runs; math.Abs(got-want) > 0.15 {
		t.Errorf("power at a load of %v over %v: got %v, stated %v", rho, window, got, want)
	}
}
