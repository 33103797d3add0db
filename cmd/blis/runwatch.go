package main

import (
	"fmt"
	"io"
	"time"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// watchFlags say how to look at a run.
type watchFlags struct {
	timeline, plot string
	watch          bool
}

func (w *watchFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.timeline, "timeline", "", "write a trace that Perfetto and Chrome open")
	f.StringVar(&w.plot, "plot", "", "write load, KV use and latency over time as SVG")
	f.BoolVar(&w.watch, "watch", false, "show the run as it goes, on standard error")
}

// watcher fans a run out to what looks at it. Output files are written beside
// their place and moved there only when the run succeeds.
type watcher struct {
	views    []view
	progress *progress
	instants int
}

// view is one way of looking; finish completes its output.
type view interface {
	sim.Observer
	finish() error
	discard()
}

func (w *watchFlags) start(stderr io.Writer, s *spec.Scenario) (*watcher, error) {
	v := &watcher{progress: &progress{to: stderr, live: w.watch, began: time.Now(), goal: goal(s)}}
	for _, o := range []struct {
		flag, path string
		open       func(output) view
	}{{"--timeline", w.timeline, newTimeline}, {"--plot", w.plot, newCurves}} {
		if o.path == "" {
			continue
		}
		file, err := create(o.flag, o.path)
		if err != nil {
			v.discard()
			return nil, err
		}
		v.views = append(v.views, o.open(file))
	}
	return v, nil
}

// goal is how many requests the scenario sends, 0 when only time bounds them.
func goal(s *spec.Scenario) int64 {
	if x := s.Workload.InferenceX; x != nil {
		return int64(x.Prompts + *x.Warmups)
	}
	n := int64(s.Frame.Stop.Requests)
	if n == 0 {
		for _, c := range s.Workload.Clients {
			n += int64(c.Requests)
		}
	}
	return n
}

// Batch, Request and Instant pass a run on.
func (w *watcher) Batch(b sim.BatchRecord) {
	for _, v := range w.views {
		v.Batch(b)
	}
	w.progress.batch(&b)
}

func (w *watcher) Request(r sim.RequestRecord) {
	for _, v := range w.views {
		v.Request(r)
	}
	w.progress.request(&r)
}

func (w *watcher) Instant(now des.Time, l sim.Load) {
	for _, v := range w.views {
		v.Instant(now, l)
	}
	if w.instants++; w.instants%4096 == 0 {
		w.progress.show(now, l)
	}
}

// Stop never stops a run.
func (w *watcher) Stop() error { return nil }

func (w *watcher) finish(err error) error {
	w.progress.clear()
	for i, v := range w.views {
		if err == nil {
			err = v.finish()
		}
		if err != nil {
			for _, rest := range w.views[i:] {
				rest.discard()
			}
			return err
		}
	}
	return err
}

func (w *watcher) discard() {
	for _, v := range w.views {
		v.discard()
	}
}

// progress is a line on standard error: once a second has passed, or as a live
// view when asked for.
type progress struct {
	to             io.Writer
	live           bool
	began, shown   time.Time
	goal           int64
	running, queue int
	kv             float64
	ttft, tpot     float64
	n, tokens      int64
}

func (p *progress) batch(b *sim.BatchRecord) {
	p.running, p.queue, p.kv = b.Running, b.Waiting, b.KVUsage
}

func (p *progress) request(r *sim.RequestRecord) {
	if r.Fate != "completed" {
		return
	}
	p.n++
	p.ttft += float64(r.First-r.Sent) / 1e6
	if r.Output > 1 {
		p.tokens += int64(r.Output - 1)
		p.tpot += float64(r.Last-r.First) / 1e6
	}
}

const clearLine = "\r\x1b[K"

func (p *progress) show(now des.Time, l sim.Load) {
	t := time.Now()
	if t.Sub(p.began) < time.Second && !p.live || t.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = t
	done := fmt.Sprint(l.Completed)
	if p.goal > 0 {
		done = fmt.Sprintf("%d/%d", l.Completed, p.goal)
	}
	fmt.Fprintf(p.to, "%s%.1f s simulated, %s requests", clearLine, float64(now)/1e6, done)
	if p.live && p.n > 0 {
		fmt.Fprintf(p.to, ", %d outstanding, batch %d, queue %d, KV %.0f%%, TTFT %.0f ms, TPOT %.1f ms", l.Outstanding, p.running, p.queue, 100*p.kv,
			1e3*p.ttft/float64(p.n), 1e3*p.tpot/float64(max(1, p.tokens)))
	}
}

func (p *progress) clear() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.to, clearLine)
	}
}
