package main

import (
	"bytes"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// curves draws what a run did over time, one panel under the other: outstanding
// requests, KV use, and time to first token by time of sending. Each is thinned to
// a bounded number of marks.
type curves struct {
	output
	load, kv, ttft thinned
}

func newCurves(o output) view { return &curves{output: o} }

// Batch keeps KV use after it.
func (c *curves) Batch(b sim.BatchRecord) { c.kv.add(b.End, 100*b.KVUsage) }

// Request keeps its time to first token.
func (c *curves) Request(r sim.RequestRecord) {
	if r.Fate == "completed" {
		c.ttft.add(r.Sent, float64(r.First-r.Sent)/1e3)
	}
}

// Instant keeps how many requests are outstanding.
func (c *curves) Instant(now des.Time, l sim.Load) { c.load.add(now, float64(l.Outstanding)) }

// Stop never stops a run.
func (c *curves) Stop() error { return nil }

func (c *curves) finish() error {
	var panels bytes.Buffer
	height := 0
	for i, p := range []struct {
		id, label string
		of        *thinned
	}{{"load", "outstanding requests", &c.load}, {"kv", "KV use (%)", &c.kv}, {"ttft", "time to first token (ms)", &c.ttft}} {
		chart := plot.Chart{ID: p.id, X: plot.Axis{Label: "simulated time (s)"}, Y: plot.Axis{Label: p.label},
			Series: []plot.Series{{Name: p.label, Joined: p.of != &c.ttft, Marks: p.of.marks, Tone: i}}}
		if chart.Count() == 0 {
			continue
		}
		svg, err := plot.SVG(chart, plot.Light)
		if err != nil {
			return err
		}
		if at := bytes.Index(svg, []byte("<svg")); at >= 0 {
			svg = svg[at:] // without the XML declaration
		}
		fmt.Fprintf(&panels, "<svg y=\"%d\">%s</svg>\n", height, svg)
		height += plot.Height(chart)
	}
	_, err := fmt.Fprintf(c.file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n",
		plot.Width, height, panels.Bytes())
	if err != nil {
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
