package main

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// A value counts as long as it holds, whatever the width of a span, and no extreme is lost.
func TestSpansKeepMeansAndExtremes(t *testing.T) {
	for _, long := range []des.Time{1, 1000, 1e6} { // of a tick, in microseconds
		var s spans
		for tick := range des.Time(100) {
			v := 1.0
			switch {
			case tick >= 40 && tick < 60: // idle: nothing happens for a fifth of the time
				if tick > 40 {
					continue
				}
				v = 0
			case tick == 80:
				v = 90
			}
			s.hold(tick*long, v)
		}
		s.hold(100*long, 0)
		marks, greatest, area := s.marks(true), 0.0, 0.0
		for i, m := range marks {
			greatest = max(greatest, m.Y, m.High)
			area += s.spans[i].area
		}
		if want := float64(long) * (79 + 90); greatest != 90 || area != want || len(marks) > mostSpans {
			t.Errorf("ticks of %d us: got a greatest of %g, an area of %g and %d marks, want 90, %g and at most %d", long, greatest, area, len(marks), want, mostSpans)
		}
		if last := marks[len(marks)/2]; long == 1e6 && last.Y != 0 {
			t.Errorf("in the middle, where nothing happened: got %+v, want 0", last)
		}
	}
}

// A sample of any number is every n-th, and says n.
func TestASampleIsEveryNth(t *testing.T) {
	var s sample
	for i := range des.Time(5 * mostSampled) {
		s.add((i+1)*1e6, 0)
	}
	if s.stride < 4 || len(s.marks) >= mostSampled {
		t.Errorf("got %d marks, one in %d", len(s.marks), s.stride)
	}
	for i, m := range s.marks {
		if m != (plot.Mark{X: float64((i + 1) * s.stride)}) {
			t.Fatalf("mark %d: got %v, want number %d", i, m.X, (i+1)*s.stride)
		}
	}
}
