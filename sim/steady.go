package sim

import (
	"slices"
	"strconv"
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
func (c *recorder) verdict() *spec.SteadyState {
	s, n := &c.backlog, 0
	if s.on {
		n = min(len(s.backlog), int((c.window.lastSend-s.from)/s.every))
	}
	rates := make([]float64, max(0, n-1))
	for i := range rates {
		rates[i] = s.completed[i+1] - s.completed[i]
	}
	v := analysis.Classify(s.backlog[:n], c.outputs()...)
	out := &spec.SteadyState{State: string(v.State), Samples: n, FalseAlarm: analysis.FalseAlarm, Power: analysis.Power, Departures: !analysis.Trend(rates)}
	if n > 0 {
		out.GrowthFound = rounded(v.Growth / seconds(s.every))
	}
	for _, f := range v.Series {
		out.Series = append(out.Series, spec.SteadySeries{Series: f.Name, Samples: f.Samples, Warmup: f.Cut, ShiftFound: rounded(f.Shift), Problem: f.Problem})
	}
	return out
}

// outputs are what the window's completed requests saw, in order of their end.
func (c *recorder) outputs() []analysis.Series {
	ttft, tpot, e2e := make([]float64, 0, c.sent), make([]float64, 0, c.sent), make([]float64, 0, c.sent)
	hits := make([]float64, 0, c.sent)
	for i := range c.sent {
		r := c.rows.at(i)
		ttft, e2e = append(ttft, float64(r.ttft)), append(e2e, float64(r.e2e))
		hits = append(hits, float64(r.cached)/float64(max(1, r.prompt)))
		if t, ok := r.tpot(); ok {
			tpot = append(tpot, t)
		}
	}
	out := []analysis.Series{{Name: "ttft", Values: ttft}, {Name: "e2e", Values: e2e}, {Name: "prefix_hit_rate", Values: hits, Share: true}}
	if len(tpot) > 0 { // else no request has a second token
		out = append(out, analysis.Series{Name: "tpot", Values: tpot})
	}
	return out
}

// rounded keeps three digits of an estimated error, so that no platform's last ones show.
func rounded(x float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return v
}

// unsettled says why a steady-state run does not support a metric; "" when it does.
func (f *figures) unsettled(d *metric.Definition) string {
	s := f.result.Steady
	switch {
	case s == nil || settled(s):
		return ""
	case !overloaded(s):
		i := slices.IndexFunc(s.Series, func(x spec.SteadySeries) bool { return x.Problem != "" })
		return "the run is " + s.State + ": the series " + s.Series[i].Series + " " + s.Series[i].Problem
	case d.Population != metric.Window:
		return "the run is overloaded: its latencies describe a transient"
	case !strings.Contains(d.ID, "_throughput"):
		return "the run is overloaded: it has a saturation throughput alone"
	case !s.Departures:
		return "the run is overloaded, and its departure rate shows a trend"
	}
	return ""
}

func settled(s *spec.SteadyState) bool { return s != nil && s.State == string(analysis.Settled) }

func overloaded(s *spec.SteadyState) bool {
	return s != nil && s.State == string(analysis.Overloaded)
}
