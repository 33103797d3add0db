package main

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// curves draws what a run did over time, one panel under the other: outstanding
// requests, KV use by instance, and time to first token by time of sending. Each
// line is thinned to a bounded number of marks.
type curves struct {
	output
	title      string
	load, ttft thinned
	kv         []thinned // by instance; mean and greatest where there are too many to tell apart
	use        []float64 // by instance, now
}

// mostLines is how many instances a panel tells apart.
const mostLines = 6

func newCurves(o output, path string, s *spec.Scenario) view {
	n := s.Cluster.Instances
	c := &curves{output: o, use: make([]float64, n), kv: make([]thinned, n), title: fmt.Sprintf("%s: %s on %s, %s", path, s.Model, s.Hardware, s.Engine.Kind)}
	if n > 1 {
		c.title += fmt.Sprintf(", %d instances", n)
	}
	if n > mostLines {
		c.kv = c.kv[:2]
	}
	return c
}

// Batch keeps KV use after it.
func (c *curves) Batch(b sim.BatchRecord) {
	c.use[b.Instance] = 100 * b.KVUsage
	if len(c.kv) == len(c.use) {
		c.kv[b.Instance].add(b.End, c.use[b.Instance])
		return
	}
	c.kv[0].add(b.End, mean(c.use))
	c.kv[1].add(b.End, slices.Max(c.use))
}

// Request keeps its time to first token.
func (c *curves) Request(r sim.RequestRecord) {
	if r.Fate == "completed" {
		c.ttft.add(r.Sent, float64(r.First-r.Sent)/1e3)
	}
}

// Instant keeps how many requests are outstanding.
func (c *curves) Instant(now des.Time, l sim.Load) { c.load.add(now, float64(l.Outstanding)) }

func (c *curves) finish() error {
	panel := func(id, label string, series ...plot.Series) plot.Chart {
		return plot.Chart{ID: id, X: plot.Axis{Label: "simulated time (s)"}, Y: plot.Axis{Label: label}, Series: series}
	}
	kv := make([]plot.Series, len(c.kv))
	for i := range c.kv {
		name := fmt.Sprintf("instance %d", i)
		if len(c.kv) < len(c.use) {
			name = []string{"mean of instances", "greatest of instances"}[i]
		}
		kv[i] = plot.Series{Name: name, Joined: true, Marks: c.kv[i].marks, Tone: i}
	}
	svg, err := plot.Stack(c.title, []plot.Chart{
		panel("load", "outstanding requests", plot.Series{Name: "outstanding", Joined: true, Marks: c.load.marks}),
		panel("kv", "KV use (%)", kv...),
		panel("ttft", "time to first token (ms)", plot.Series{Name: "TTFT", Marks: c.ttft.marks}),
	}, plot.Light)
	if err != nil {
		return err
	}
	if _, err := c.file.Write(svg); err != nil {
		return err
	}
	return c.keep()
}

// thinned keeps every n-th mark, doubling n when there are too many.
type thinned struct {
	marks  []plot.Mark
	stride int
	seen   int
}

const maxMarks = 2000

func (t *thinned) add(at des.Time, v float64) {
	t.stride = max(1, t.stride)
	if t.seen++; t.seen%t.stride != 0 {
		return
	}
	t.marks = append(t.marks, plot.Mark{X: float64(at) / 1e6, Y: v})
	if len(t.marks) < maxMarks {
		return
	}
	for i := range maxMarks / 2 {
		t.marks[i] = t.marks[2*i]
	}
	t.marks = t.marks[:maxMarks/2]
	t.stride *= 2
}
