package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// curves draws what a run did over time, one panel under the other: outstanding
// requests, KV use by instance, and time to first token by time of sending; of a request
// that got no token before the run ended, how long it had waited. However long the run, a line has a bounded number of marks, and no extreme is lost.
type curves struct {
	output
	title   string
	load    spans
	kv      []spans        // by instance; mean and greatest where there are too many to tell apart
	use     []float64      // by instance, now
	ttft    sample         // s
	slowest spans          // s
	waiting sample         // s
	lost    map[string]int // requests that did not complete, by fate
}

// mostLines is how many instances a panel tells apart.
const mostLines = 6

func newCurves(o output, path string, s *spec.Scenario) view {
	n := s.Cluster.Instances
	c := &curves{output: o, lost: map[string]int{}, use: make([]float64, n), kv: make([]spans, n), title: fmt.Sprintf("%s: %s on %s, %s", path, s.Model, s.Hardware, s.Engine.Kind)}
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
		c.kv[b.Instance].hold(b.End, c.use[b.Instance])
		return
	}
	c.kv[0].hold(b.End, mean(c.use))
	c.kv[1].hold(b.End, slices.Max(c.use))
}

// Request keeps its time to first token, or how long it had waited when the run ended.
func (c *curves) Request(r sim.RequestRecord) {
	if r.Fate == "completed" {
		s := float64(r.First-r.Sent) / 1e6
		c.ttft.add(r.Sent, s)
		c.slowest.reach(r.Sent, s)
		return
	}
	c.lost[r.Fate]++
	if r.First == 0 && strings.HasSuffix(r.Fate, "_at_horizon") {
		c.waiting.add(r.Sent, float64(r.Ended-r.Sent)/1e6)
	}
}

// Instant keeps how many requests are outstanding.
func (c *curves) Instant(now des.Time, l sim.Load) { c.load.hold(now, float64(l.Outstanding)) }

func (c *curves) finish() error {
	svg, err := plot.Stack(c.title+c.notCompleted(), []plot.Chart{c.loadPanel(), c.kvPanel(), c.ttftPanel()}, plot.Light)
	if err != nil {
		return err
	}
	if _, err := c.file.Write(svg); err != nil {
		return err
	}
	return c.keep()
}

// notCompleted counts in a line of its own the requests that did not complete, if there are any.
func (c *curves) notCompleted() string {
	var counts []string
	for _, fate := range slices.Sorted(maps.Keys(c.lost)) {
		counts = append(counts, fmt.Sprintf("%d %s", c.lost[fate], strings.ReplaceAll(fate, "_", " ")))
	}
	if len(counts) == 0 {
		return ""
	}
	return "\nrequests not completed: " + strings.Join(counts, ", ")
}

func (c *curves) loadPanel() plot.Chart {
	return panel("load", "outstanding requests", c.load.explained(), plot.Series{Joined: true, Marks: c.load.marks(true)})
}

func (c *curves) kvPanel() plot.Chart {
	if len(c.kv) == 1 {
		return upTo100(panel("kv", "KV use (%)", c.kv[0].explained(), plot.Series{Joined: true, Marks: c.kv[0].marks(true)}))
	}
	kv, legend := make([]plot.Series, len(c.kv)), ""
	for i := range c.kv {
		name := fmt.Sprintf("instance %d", i)
		if len(c.kv) < len(c.use) {
			name = []string{"mean of instances", "greatest of instances"}[i]
		}
		kv[i] = plot.Series{Name: name, Joined: true, Marks: c.kv[i].marks(false), Tone: i}
		if c.kv[i].ranges() {
			legend = "lines: mean of " + c.kv[i].each()
		}
	}
	return upTo100(panel("kv", "KV use (%)", legend, kv...))
}

// upTo100 labels the axis up to 100 % where a chart comes near: above is room for the legend.
func upTo100(c plot.Chart) plot.Chart {
	if _, hi := c.Bounds(); hi.Y > 60 {
		c.Y.Ticks = []float64{0, 20, 40, 60, 80, 100}
	}
	return c
}

func (c *curves) ttftPanel() plot.Chart {
	series, legend := []plot.Series{{Marks: c.ttft.marks}}, ""
	if c.ttft.stride > 1 {
		legend = fmt.Sprintf("dots: 1 request in %d; line: slowest of %s", c.ttft.stride, c.slowest.each())
		series = []plot.Series{{Marks: c.slowest.greatest(), Joined: true, Tone: 1}, series[0]}
	}
	if len(c.waiting.marks) > 0 {
		name := "no token at the end: waited so far"
		if c.waiting.stride > 1 {
			name += fmt.Sprintf(", 1 in %d", c.waiting.stride)
		}
		series = append(series, plot.Series{Name: name, Marks: c.waiting.marks, Tone: 3})
	}
	return inMilliseconds(panel("ttft", "time to first token (s)", legend, series...))
}

// inMilliseconds is a chart of seconds, in milliseconds unless a value is long.
func inMilliseconds(c plot.Chart) plot.Chart {
	const long = 10 // s
	if _, hi := c.Bounds(); hi.Y > long {
		return c
	}
	c.Y.Label = strings.Replace(c.Y.Label, "(s)", "(ms)", 1)
	for _, s := range c.Series {
		for i := range s.Marks {
			s.Marks[i].Y *= 1e3
		}
	}
	return c
}

func panel(id, label, legend string, series ...plot.Series) plot.Chart {
	x := "simulated time (s)"
	if legend != "" {
		x += "; " + legend
	}
	return plot.Chart{ID: id, X: plot.Axis{Label: x}, Y: plot.Axis{Label: label}, Series: series}
}
