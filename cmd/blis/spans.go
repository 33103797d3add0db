package main

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// mostSpans is how many spans a run is cut into: a pixel or two of a panel each.
const mostSpans = 500

// spans cuts the time of a run of any length into equal spans, and keeps of each
// what a line and its range need. They double when the run outgrows them.
type spans struct {
	width des.Time
	spans []span
	at    des.Time // since when now holds
	now   float64
}

type span struct {
	seen       bool
	low, high  float64
	area, time float64 // of the values, over the time they held
}

func (s *span) reach(v float64) {
	if !s.seen {
		s.seen, s.low, s.high = true, v, v
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

// hold says that a value is v from now on; the one before held until now.
func (s *spans) hold(now des.Time, v float64) {
	s.fit(now)
	for s.at < now && len(s.spans) > 0 {
		i := s.at / s.width
		until := min(now, (i+1)*s.width)
		b := s.span(i)
		b.reach(s.now)
		b.area += s.now * float64(until-s.at)
		b.time += float64(until - s.at)
		s.at = until
	}
	s.span(now / s.width).reach(v)
	s.at, s.now = now, v
}

// reach says that a value was v at a time.
func (s *spans) reach(at des.Time, v float64) {
	s.fit(at)
	s.span(at / s.width).reach(v)
}

func (s *spans) span(i des.Time) *span {
	for des.Time(len(s.spans)) <= i {
		s.spans = append(s.spans, span{})
	}
	return &s.spans[i]
}

// fit doubles the spans until at lies in one of them.
func (s *spans) fit(at des.Time) {
	s.width = max(s.width, 1000) // one millisecond
	for at/s.width >= mostSpans {
		for i := range s.spans {
			b := s.spans[i]
			if i%2 == 0 {
				s.spans[i/2] = b
				continue
			}
			into := &s.spans[i/2]
			if b.seen {
				into.reach(b.low)
				into.reach(b.high)
			}
			into.area += b.area
			into.time += b.time
		}
		s.spans = s.spans[:(len(s.spans)+1)/2]
		s.width *= 2
	}
}

func (s *spans) seconds() float64 { return float64(s.width) / 1e6 }

// each names a span: "each 32.8 s".
func (s *spans) each() string { return fmt.Sprintf("each %.3g s", s.seconds()) }

// ranges is whether any span holds more than one value.
func (s *spans) ranges() bool {
	for _, b := range s.spans {
		if b.low < b.high {
			return true
		}
	}
	return false
}

// explained says what a line and its range are.
func (s *spans) explained() string {
	if !s.ranges() {
		return ""
	}
	return "line: mean of " + s.each() + "; bars: least to greatest in it"
}

// marks are the means over time, in the middle of their spans, with the range of each if asked for.
func (s *spans) marks(ranges bool) []plot.Mark {
	return s.draw(func(b span, m *plot.Mark) {
		m.Y = b.high
		if b.time > 0 {
			m.Y = b.area / b.time
		}
		if ranges {
			m.Low, m.High = b.low, b.high
		}
	})
}

// greatest are the greatest values of the spans that have any.
func (s *spans) greatest() []plot.Mark {
	return s.draw(func(b span, m *plot.Mark) { m.Y = b.high })
}

func (s *spans) draw(of func(span, *plot.Mark)) (marks []plot.Mark) {
	for i, b := range s.spans {
		if b.seen {
			m := plot.Mark{X: (float64(i) + 0.5) * s.seconds()}
			of(b, &m)
			marks = append(marks, m)
		}
	}
	return marks
}

// sample keeps every n-th mark, doubling n when there are too many.
type sample struct {
	marks        []plot.Mark
	stride, seen int
}

const mostSampled = 2000

func (s *sample) add(at des.Time, v float64) {
	s.stride = max(1, s.stride)
	if s.seen++; s.seen%s.stride != 0 {
		return
	}
	s.marks = append(s.marks, plot.Mark{X: float64(at) / 1e6, Y: v})
	if len(s.marks) < mostSampled {
		return
	}
	for i := range mostSampled / 2 {
		s.marks[i] = s.marks[2*i+1]
	}
	s.marks = s.marks[:mostSampled/2]
	s.stride *= 2
}
