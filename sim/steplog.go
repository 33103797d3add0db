package sim

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// stepLog sums what one instance's steps did. Gaps between tokens count from the
// first measured request on.
type stepLog struct {
	window *window
	itl    runs

	run       spec.EngineRun
	depth     int
	busy      des.Time
	busySince des.Time
	hits      engines.PrefixCounters // inside the window
	steps     [plan.Assumed + 1]int64
	methods   [plan.Assumed + 1]float64
	modes     [plan.Idle + 1]float64
}

// priced counts one stage's price.
func (l *stepLog) priced(s *engines.PricedStep) {
	l.steps[s.Price.Method]++
	l.methods[s.Price.Method] += float64(s.Price.Total)
	if s.Shape != nil {
		l.modes[s.Shape.Mode] += float64(s.Price.Total)
	}
}

// completed counts one batch; last is whether none is left in flight.
func (l *stepLog) completed(now des.Time, f *flight, o *engines.Outcome, last bool) {
	r := &l.run
	r.Steps++
	if f.empty {
		r.EmptySteps++
	}
	if last {
		l.busy += now - l.busySince
	}
	r.Tokens += int64(o.Scheduled)
	r.Preemptions += int64(len(o.Preempted))
	r.PrefixQueried += o.PrefixHits.Queried
	r.PrefixHit += o.PrefixHits.Hit
	if l.window.open(now) {
		l.hits.Queried += o.PrefixHits.Queried
		l.hits.Hit += o.PrefixHits.Hit
	}
	r.MaxKVUsage = max(r.MaxKVUsage, o.KVUsage)
	r.MaxRunning = max(r.MaxRunning, o.Running)
	r.MaxWaiting = max(r.MaxWaiting, o.Waiting)
}

// gaps counts n equal gaps between consecutive chunks of requests.
func (l *stepLog) gaps(now, gap des.Time, n int64) {
	if n > 0 && l.window.open(now) {
		l.itl.add(int64(gap), n)
	}
}
