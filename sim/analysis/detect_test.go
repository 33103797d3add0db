package analysis

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// window is what a simulated queue gives the detector.
type window struct {
	backlog  []float64 // at equal intervals
	response []float64 // by customer, in order of departure
}

func (w window) classify() Verdict {
	return Classify(w.backlog, Series{Name: "response", Values: w.response})
}

const samples = 2000

// open simulates a single-server queue with Poisson arrivals at rate rho and mean
// service 1.
func open(rho, length float64, service func(*substream.Stream) float64, seed uint64) (w window) {
	f := substream.New(seed, "queue", "draws")
	s := f.At(0)
	arrival, departure := s.Exponential()/rho, math.Inf(1)
	var here []float64 // when those in the system arrived
	every := length / samples
	for len(w.backlog) < samples {
		next := float64(len(w.backlog)+1) * every
		switch {
		case arrival <= next && arrival <= departure:
			if here = append(here, arrival); len(here) == 1 {
				departure = arrival + service(&s)
			}
			arrival += s.Exponential() / rho
		case departure <= next:
			w.response = append(w.response, departure-here[0])
			if here = here[1:]; len(here) > 0 {
				departure += service(&s)
			} else {
				departure = math.Inf(1)
			}
		default:
			w.backlog = append(w.backlog, float64(len(here)))
		}
	}
	return w
}

// closed simulates a single server that n customers visit in turn, each after thinking for
// think on average: the benchmark of a fixed concurrency. The mean service of a customer's
// visit number i is work(i).
func closed(n int, think, length float64, work func(visit int) float64, seed uint64) (w window) {
	f := substream.New(seed, "closed queue", "draws")
	s := f.At(0)
	type customer struct {
		at     float64 // when it next comes, or came
		visits int
	}
	all := make([]customer, n)
	for i := range all {
		all[i].at = think * s.Exponential()
	}
	var here []int
	departure := math.Inf(1)
	serve := func(now float64) {
		departure = math.Inf(1)
		if len(here) > 0 {
			departure = now + work(all[here[0]].visits)*s.Exponential()
		}
	}
	thinking := func() (first int) {
		first = -1
		for i := range all {
			if all[i].at >= 0 && (first < 0 || all[i].at < all[first].at) {
				first = i
			}
		}
		return first
	}
	came := make([]float64, n)
	for every := length / samples; len(w.backlog) < samples; {
		next, i := float64(len(w.backlog)+1)*every, thinking()
		switch {
		case i >= 0 && all[i].at <= next && all[i].at <= departure:
			came[i], all[i].at = all[i].at, -1
			if here = append(here, i); len(here) == 1 {
				serve(came[i])
			}
		case departure <= next:
			k, now := here[0], departure
			w.response = append(w.response, now-came[k])
			all[k].visits, all[k].at = all[k].visits+1, now+think*s.Exponential()
			here = here[1:]
			serve(now)
		default:
			w.backlog = append(w.backlog, float64(len(here)))
		}
	}
	return w
}

func exponential(s *substream.Stream) float64 { return s.Exponential() }

// erlang has a squared coefficient of variation of 1/4: an M/G/1 that settles well.
func erlang(s *substream.Stream) float64 { return s.Gamma(4) / 4 }

// pareto has shape 1.2: a mean of 1 and no variance.
func pareto(s *substream.Stream) float64 {
	return 0.2 / 1.2 * math.Pow(1-s.Float64(), -1/1.2)
}

// equal is a service that stays as it is, growing one of sessions whose context grows.
func equal(int) float64         { return 1 }
func growing(visit int) float64 { return 1 + 0.02*float64(visit) }

func TestDetectorOnQueuesKnownExactly(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const runs = 40
	of := func(rho, length float64, service func(*substream.Stream) float64) func(uint64) window {
		return func(seed uint64) window { return open(rho, length, service, seed) }
	}
	round := func(n int, think, length float64, work func(int) float64) func(uint64) window {
		return func(seed uint64) window { return closed(n, think, length, work, seed) }
	}
	cases := []struct {
		name  string
		run   func(seed uint64) window
		want  State
		least int // runs that must be classed so
		never State
		most  int // runs that may be classed as never
	}{
		{"M/M/1 at 0.5", of(0.5, 20_000, exponential), Settled, 32, Overloaded, 1},
		{"M/M/1 at 0.8", of(0.8, 100_000, exponential), Settled, 32, Overloaded, 1},
		{"M/M/1 at 0.9, long", of(0.9, 400_000, exponential), Settled, 30, Overloaded, 1},
		{"M/M/1 at 0.95, short", of(0.95, 2_000, exponential), Incomplete, 30, Overloaded, 3},
		{"M/M/1 at 0.99, short", of(0.99, 5_000, exponential), Incomplete, 32, Overloaded, 3},
		{"M/M/1 at 1.1", of(1.1, 10_000, exponential), Overloaded, 38, Settled, 0},
		{"M/M/1 at 1.5", of(1.5, 2_000, exponential), Overloaded, 40, Settled, 0},
		{"M/G/1 at 0.8", of(0.8, 50_000, erlang), Settled, 32, Overloaded, 1},
		{"M/G/1 at 1.2", of(1.2, 5_000, erlang), Overloaded, 40, Settled, 0},
		{"heavy tail at 0.5", of(0.5, 50_000, pareto), Incomplete, 32, Settled, 6},
		{"closed, all waiting", round(16, 0, 10_000, equal), Settled, 32, Overloaded, 0},
		{"closed, some thinking", round(16, 20, 20_000, equal), Settled, 32, Overloaded, 1},
		{"closed, too few requests", round(4, 0, 60, equal), Incomplete, 40, Settled, 0},
		{"closed, work that grows", round(16, 0, 10_000, growing), Incomplete, 40, Settled, 0},
		{"closed, some thinking, work that grows", round(16, 20, 20_000, growing), Incomplete, 30, Settled, 0},
	}
	for _, c := range cases {
		got := map[State]int{}
		for i := range runs {
			got[c.run(uint64(i)).classify().State]++
		}
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
		if grows, _ := drifts(walk); grows {
			alarms++
		}
	}
	if rate := float64(alarms) / runs; math.Abs(rate-FalseAlarm) > 3*math.Sqrt(FalseAlarm/runs) {
		t.Errorf("false alarms: got %v, want %v", rate, FalseAlarm)
	}
}

// independent gives five series without a trend, each moved by shift times its mean in the
// second half.
func independent(seed uint64, shift float64) (backlog []float64, outputs []Series) {
	f := substream.New(seed, "independent", "samples")
	s := f.At(0)
	for range 5 {
		x := make([]float64, 400)
		for k := range x {
			if x[k] = 4 + s.Normal(); k >= len(x)/2 {
				x[k] += 4 * shift
			}
		}
		outputs = append(outputs, Series{Values: x})
	}
	return outputs[0].Values, outputs[1:]
}

func (v Verdict) trends() (n int) {
	for _, f := range v.Series {
		if f.Problem == "shows a trend" {
			n++
		}
	}
	return n
}

// However many series are looked at, the chance that any of them is said to have a trend
// is the stated one. Queues that are stationary make no more.
func TestFalseTrendsOverSeveralSeries(t *testing.T) {
	keep.Rule(t, "DEV-10")
	most := func(runs int) int { return int(FalseAlarm*float64(runs) + 3*math.Sqrt(FalseAlarm*float64(runs))) }
	const runs, queues = 3000, 150
	alarms := 0
	for i := range uint64(runs) {
		backlog, outputs := independent(i, 0)
		if Classify(backlog, outputs...).trends() > 0 {
			alarms++
		}
	}
	if alarms > most(runs) || alarms == 0 {
		t.Errorf("independent series: a trend in %d of %d, want at most %d", alarms, runs, most(runs))
	}
	for name, run := range map[string]func(uint64) window{
		"all waiting":   func(seed uint64) window { return closed(16, 0, 10_000, equal, seed) },
		"some thinking": func(seed uint64) window { return closed(16, 20, 20_000, equal, seed) },
	} {
		alarms := 0
		for i := range uint64(queues) {
			if run(1000+i).classify().trends() > 0 {
				alarms++
			}
		}
		if alarms > most(queues) {
			t.Errorf("closed queue, %s: a trend in %d of %d, want at most %d", name, alarms, queues, most(queues))
		}
	}
}

// What a verdict says its window finds is found with the stated chance.
func TestPowerIsWhatIsStated(t *testing.T) {
	keep.Rule(t, "DEV-10")
	const runs = 400
	// A walk whose steps have a standard deviation of 1, in 20 batches of 20 samples: the mean
	// change of a batch has a standard error of 1. The one-sided t at 0.01 is 2.539.
	const growth = (2.539483 + 1.281552*1.081451) / 20
	found, stated := 0.0, 0.0
	for i := range runs {
		f := substream.New(uint64(i), "drifting walk", "steps")
		s := f.At(0)
		walk := make([]float64, 401)
		for k := 1; k < len(walk); k++ {
			walk[k] = walk[k-1] + growth + s.Normal()
		}
		v := Classify(walk)
		if stated += v.Growth / runs; v.State == Overloaded {
			found += 1.0 / runs
		}
	}
	if math.Abs(found-Power) > 0.035 || math.Abs(stated/growth-1) > 0.05 {
		t.Errorf("a growth of %v: found with chance %v, want %v; stated %v on average", growth, found, Power, stated)
	}
	// Five series of mean 4 and 20 batch means of variance 1/20: the difference of the halves
	// has a standard error of 0.1. The two-sided t at 0.01/5 is 3.610.
	const shift = (3.610485 + 1.281552*1.167048) * 0.1 / 4
	found, stated = 0, 0
	for i := range runs {
		backlog, outputs := independent(uint64(i), shift)
		for _, f := range Classify(backlog, outputs...).Series {
			if stated += f.Shift / runs / 5; f.Problem != "" {
				found += 1.0 / runs / 5
			}
		}
	}
	if found < Power-0.02 || math.Abs(stated/shift-1) > 0.1 {
		t.Errorf("halves that differ by %v: found with chance %v, want %v; stated %v on average", shift, found, Power, stated)
	}
}
