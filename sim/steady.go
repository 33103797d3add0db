package sim

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// series samples the backlog and the completions at equal intervals from the start
// of the window. Full, it keeps every other sample and doubles the interval, so its
// memory is bounded and the samples stay equally spaced.
type series struct {
	on        bool
	from      des.Time
	every     des.Time
	next      des.Time
	backlog   []float64
	completed []float64
}

const (
	seriesEvery = second / 100
	seriesFull  = 4096
)

func (s *series) start(now des.Time) {
	s.on, s.from, s.every, s.next = true, now, seriesEvery, now+seriesEvery
}

// pass takes the samples due up to now, while the load was l.
func (s *series) pass(now des.Time, l Load) {
	if !s.on || s.next > now {
		return
	}
	for ; s.next <= now; s.next += s.every {
		s.backlog = append(s.backlog, float64(l.Outstanding))
		s.completed = append(s.completed, float64(l.Completed))
		if len(s.backlog) == seriesFull {
			s.thin()
		}
	}
}

// thin keeps the samples at multiples of twice the interval.
func (s *series) thin() {
	for i := range seriesFull / 2 {
		s.backlog[i], s.completed[i] = s.backlog[2*i+1], s.completed[2*i+1]
	}
	s.backlog, s.completed = s.backlog[:seriesFull/2], s.completed[:seriesFull/2]
	s.every *= 2
	s.next = s.from + s.every*des.Time(len(s.backlog)) // the loop adds one interval
}

// verdict classifies the window until the last request was sent: what follows is
// the drain, which no steady state has.
func (s *series) verdict(lastSend des.Time) *spec.SteadyState {
	n := 0
	if s.on {
		n = min(len(s.backlog), int((lastSend-s.from)/s.every))
	}
	rates := make([]float64, max(0, n-1))
	for i := range rates {
		rates[i] = s.completed[i+1] - s.completed[i]
	}
	return &spec.SteadyState{State: string(analysis.Classify(s.backlog[:n])), Samples: n, FalseAlarm: analysis.FalseAlarm, Departures: !analysis.Trend(rates)}
}

// unsettled says why a steady-state run does not support a metric; "" when it does.
func (f *figures) unsettled(d *metric.Definition) string {
	s := f.result.Steady
	if s == nil || s.State == string(analysis.Settled) {
		return ""
	}
	switch {
	case d.Population != metric.Window:
		return "the run is " + s.State + ": its latencies describe a transient"
	case !overloaded(s):
		return "the run is " + s.State
	case !strings.Contains(d.ID, "_throughput"):
		return "the run is overloaded: it has a saturation throughput alone"
	case !s.Departures:
		return "the run is overloaded, and its departure rate shows a trend"
	}
	return ""
}

func overloaded(s *spec.SteadyState) bool {
	return s != nil && s.State == string(analysis.Overloaded)
}
