package main

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

const second des.Time = 1e6

// What became of the requests that did not complete is drawn and counted, in units that fit.
func TestCurvesOfAnOverload(t *testing.T) {
	s := &spec.Scenario{Model: "m", Hardware: "h"}
	s.Cluster.Instances = 1
	c := newCurves(output{}, "s.yaml", s).(*curves)
	c.Request(sim.RequestRecord{Fate: "completed", Sent: 0, First: second / 2})
	if p := c.ttftPanel(); p.Y.Label != "time to first token (ms)" || len(p.Series) != 1 || p.Series[0].Marks[0].Y != 500 || c.notCompleted() != "" {
		t.Errorf("half a second: got %q and %+v, %q", p.Y.Label, p.Series, c.notCompleted())
	}
	c = newCurves(output{}, "s.yaml", s).(*curves)
	c.Request(sim.RequestRecord{Fate: "completed", Sent: 0, First: 12 * second})
	c.Request(sim.RequestRecord{Fate: "queued_at_horizon", Sent: 10 * second, Ended: 40 * second})
	c.Request(sim.RequestRecord{Fate: "in_flight_at_horizon", Sent: 9 * second, First: 39 * second, Ended: 40 * second}) // has its token
	c.Request(sim.RequestRecord{Fate: "dropped", Sent: second, Ended: 2 * second})
	p := c.ttftPanel()
	if p.Y.Label != "time to first token (s)" || len(p.Series) != 2 {
		t.Fatalf("got %q and %+v, want seconds, and those that wait apart", p.Y.Label, p.Series)
	}
	if waiting := p.Series[1]; !strings.Contains(waiting.Name, "waited so far") || len(waiting.Marks) != 1 || waiting.Marks[0].X != 10 || waiting.Marks[0].Y != 30 {
		t.Errorf("waiting: got %+v, want one request of 10 s that waited 30 s", waiting)
	}
	if got, want := c.notCompleted(), "\nrequests not completed: 1 dropped, 1 in flight at horizon, 1 queued at horizon"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// KV use has no label above all of it, however many lines its legend has.
func TestKVUseEndsAtAHundred(t *testing.T) {
	s := &spec.Scenario{}
	s.Cluster.Instances = 3
	for share, ticks := range map[float64]int{0.03: 0, 0.99: 6} {
		c := newCurves(output{}, "s.yaml", s).(*curves)
		for i := range 3 {
			c.Batch(sim.BatchRecord{Instance: i, End: second, KVUsage: 0.001})
			c.Batch(sim.BatchRecord{Instance: i, End: 2 * second, KVUsage: share})
		}
		if p := c.kvPanel(); len(p.Y.Ticks) != ticks || ticks > 0 && p.Y.Ticks[ticks-1] != 100 {
			t.Errorf("%v: got ticks %v, want %d", share, p.Y.Ticks, ticks)
		}
	}
}
