package main

import (
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

func (w *watchFlags) start(c *cobra.Command, path string, s *spec.Scenario) (*watcher, error) {
	v := &watcher{progress: newProgress(c.ErrOrStderr(), w.watch, goal(s))}
	files := scenarioInputs(path, s)
	for _, o := range []struct {
		flag, path string
		open       func(o output, path string, s *spec.Scenario) view
	}{{"timeline", w.timeline, newTimeline}, {"plot", w.plot, newCurves}} {
		if !c.Flags().Changed(o.flag) {
			continue
		}
		file, err := files.create("--"+o.flag, o.path)
		if err != nil {
			v.discard()
			return nil, err
		}
		v.views = append(v.views, o.open(file, path, s))
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
