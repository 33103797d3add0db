package main

import (
	"errors"
	"time"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// progress hears how many requests have ended, of how many (0: not known before the
// run), and says whether to stop.
type progress func(ended, total int64) (stop bool)

// errStopped is the error of a run whose progress said to stop.
var errStopped = errors.New("stopped")

const every = 100 * time.Millisecond

// watch reports a run's progress.
type watch struct {
	report progress
	total  int64
	last   time.Time
}

// stop also lets the page's other events happen: a Worker hears of a wish to stop
// only while nothing runs.
func (w *watch) stop(l sim.Load) error {
	if now := time.Now(); now.Sub(w.last) < every {
		return nil
	}
	if w.report(l.Created-l.Outstanding, w.total) {
		return errStopped
	}
	time.Sleep(time.Millisecond)
	w.last = time.Now()
	return nil
}

// requests is how many requests s sends, or 0 when only the run tells.
func requests(s *spec.Scenario) int64 {
	if x := s.Workload.InferenceX; x != nil {
		return int64(x.Prompts) + int64(*x.Warmups)
	}
	return 0
}
