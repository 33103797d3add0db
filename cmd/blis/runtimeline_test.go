package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

type traceEvent struct {
	Ph, Name string
	Pid, ID  int
	Ts, Dur  des.Time
	Args     map[string]any
}

// timelineOf runs s.yaml and reads its timeline.
func timelineOf(t *testing.T, scenario string) (spec.Result, []traceEvent) {
	t.Helper()
	dir := withFiles(t, map[string]string{"s.yaml": scenario})
	_, out, complaint := blisIn(t, dir, "run", "s.yaml", "--timeline", "t.json", "--plot", "p.svg")
	b, err := os.ReadFile("t.json")
	if err != nil {
		t.Fatal(err, complaint)
	}
	var r spec.Result
	var trace struct{ TraceEvents []traceEvent }
	if json.Unmarshal([]byte(out), &r) != nil || json.Unmarshal(b, &trace) != nil {
		t.Fatal(complaint)
	}
	return r, trace.TraceEvents
}

// Async scheduling has two batches in flight: drawn, none overlap and they add up.
func TestTimelineBatchesAddUpToBusyTime(t *testing.T) {
	r, events := timelineOf(t, strings.Replace(chatScenario, "model:", "cluster: {instances: 2}\nmodel:", 1))
	if r.Engines[0].MaxInFlight < 2 {
		t.Fatalf("got %d batches in flight, want an engine that overlaps them", r.Engines[0].MaxInFlight)
	}
	end, busy := map[int]des.Time{}, map[int]des.Time{}
	for _, e := range events {
		if e.Ph != "X" {
			continue
		}
		if e.Ts < end[e.Pid] || e.Args["launched"].(float64) > float64(e.Ts) {
			t.Fatalf("instance %d: a batch begins at %d, before %d where the last ended, or before its launch: %v", e.Pid, e.Ts, end[e.Pid], e.Args)
		}
		end[e.Pid], busy[e.Pid] = e.Ts+e.Dur, busy[e.Pid]+e.Dur
	}
	for i, e := range r.Engines {
		if got := float64(busy[i]) / 1e6; got != e.Busy {
			t.Errorf("instance %d: got %v s, want the Result's %v", i, got, e.Busy)
		}
	}
}

// A request that did not complete ends when its client gave up, or with the run.
func TestTimelineEndsOfRequestsThatDidNotComplete(t *testing.T) {
	for fate, c := range map[string]struct {
		scenario string
		end      func(sent des.Time) des.Time
	}{
		"timed_out":            {strings.Replace(chatScenario, "output: {fixed: 20}", "output: {fixed: 2000}, deadline: 0.3", 1), func(sent des.Time) des.Time { return sent + 300_000 }},
		"in_flight_at_horizon": {strings.Replace(chatScenario, "output: {fixed: 20}", "output: {fixed: 2000}", 1) + "frame: {stop: {horizon: 1.5}}\n", func(des.Time) des.Time { return 1_500_000 }},
	} {
		_, events := timelineOf(t, c.scenario)
		n := 0
		for i, e := range events {
			if e.Ph != "b" || e.Args["fate"] != fate {
				continue
			}
			n++
			j := i + 1
			for events[j].Name != e.Name {
				j++
			}
			if got, want := events[j].Ts, c.end(e.Ts); got != want || events[j-1].Ts != want || e.Args["output"] != nil {
				t.Errorf("%s: %s: got an end at %d, its phases' at %d, %v, want %d and no output", fate, e.Name, got, events[j-1].Ts, e.Args, want)
			}
		}
		if n == 0 {
			t.Errorf("%s: no such request", fate)
		}
	}
}

// Instances have a line each, up to what a reader can tell apart.
func TestPlotHasALineAnInstance(t *testing.T) {
	for instances, want := range map[string][]string{"3": {">instance 0<", ">instance 2<"}, "7": {">mean of instances<", ">greatest of instances<"}} {
		timelineOf(t, strings.Replace(chatScenario, "model:", "cluster: {instances: "+instances+"}\nmodel:", 1))
		svg, err := os.ReadFile("p.svg")
		for _, w := range want {
			if err != nil || bytes.Count(svg, []byte(w)) != 1 {
				t.Errorf("%s instances: %v, want %q once", instances, err, w)
			}
		}
	}
}
