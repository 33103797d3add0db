package main

import (
	"compress/gzip"
	"embed"
	"io"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/floor"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// loadRecorder keeps what reached instance 0, so that the bare loop gets the same,
// and fits the step price to what instance 0's steps took.
type loadRecorder struct {
	requests []sim.RequestRecord
	steps    int64
	time     des.Time
	last     des.Time
}

// Batch sums the time between ends of consecutive batches of a busy engine.
func (l *loadRecorder) Batch(b sim.BatchRecord) {
	if b.Instance != 0 {
		return
	}
	l.steps++
	l.time += b.End - max(b.Launched, l.last)
	l.last = b.End
}

// Request keeps the requests of instance 0.
func (l *loadRecorder) Request(r sim.RequestRecord) {
	if r.Instance == 0 && r.Fate == "completed" {
		l.requests = append(l.requests, r)
	}
}

// Instant and Stop have nothing to do.
func (l *loadRecorder) Instant(des.Time, sim.Load) {}

// load is the bare loop's input: the same arrivals and lengths under the same
// limits, each step as long as the mean one.
func (l *loadRecorder) load(s *spec.Scenario) *floor.Load {
	slices.SortFunc(l.requests, func(a, b sim.RequestRecord) int { return int(a.Serial) - int(b.Serial) })
	f := &floor.Load{Budget: number(s, "max-num-batched-tokens"), Seqs: number(s, "max-num-seqs"), Base: max(1, int64(l.time)*1000/max(1, l.steps))}
	for i := range l.requests {
		r := &l.requests[i]
		f.Arrivals = append(f.Arrivals, int64(r.Sent))
		f.Prompt, f.Output = append(f.Prompt, int32(r.Prompt)), append(f.Output, int32(r.Output))
	}
	return f
}

func number(s *spec.Scenario, name string) int {
	n, _ := s.Engine.Args[name].(int) // the embedded workloads state both limits
	return n
}

// traces are the reference workloads' traces under the names scenarios give them.
type traces struct{ embed.FS }

// ReadFile unpacks a trace.
func (t traces) ReadFile(name string) ([]byte, error) {
	f, err := t.Open("bench/" + name + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
