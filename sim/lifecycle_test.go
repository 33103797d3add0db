package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// at is a request in a stage at 50 us.
func at(s stage) *request {
	r := &request{sent: 10, arrived: 20, launched: 30, first: 40, last: 50}
	switch s {
	case travelling:
		r.arrived, r.launched, r.first, r.last = -1, -1, 0, 0
	case waiting:
		r.launched, r.first, r.last = -1, 0, 0
	case prefilling:
		r.first, r.last = 0, 0
	}
	return r
}

// TestEveryEdgeOfARequest keeps SIM-8: from each stage a request gets the fates of the
// table and no other, and never before something it has seen.
func TestEveryEdgeOfARequest(t *testing.T) {
	keep.Rule(t, "SIM-8")
	for s := travelling; s <= decoding; s++ {
		if got := at(s).stage(); got != s {
			t.Fatalf("a %s request is %s", stageNames[s], stageNames[got])
		}
		for f := completed; f <= queued; f++ {
			c := newRecorder(nil)
			r := at(s)
			c.begin(r, 10)
			c.end(r, f, 60)
			if legal := slices.Contains(ends[s], f); (c.err == nil) != legal {
				t.Errorf("%s while %s: got %v, want accepted %v", fateNames[f], stageNames[s], c.err, legal)
			}
			if c.err == nil {
				c.end(r, f, 60)
			}
			if c.err == nil {
				t.Errorf("%s while %s: a second fate is accepted", fateNames[f], stageNames[s])
			}
		}
	}
	for _, back := range []struct {
		name string
		edit func(*request)
	}{
		{"an arrival before the sending", func(r *request) { r.arrived = 9 }},
		{"a launch before the arrival", func(r *request) { r.launched = 19 }},
		{"a token before the launch", func(r *request) { r.first = 29 }},
		{"an end before the last token", func(r *request) { r.last = 61 }},
	} {
		c := newRecorder(nil)
		r := at(decoding)
		back.edit(r)
		c.begin(r, 10)
		if c.end(r, completed, 60); c.err == nil || !strings.Contains(c.err.Error(), "went back") {
			t.Errorf("%s: got %v, want a refusal", back.name, c.err)
		}
	}
}

// edges collects which fate each request of some runs got in which stage.
type edges struct {
	seen    map[stage]map[string]bool
	serials map[uint64]bool
	twice   []uint64
}

func (e *edges) Request(r RequestRecord) {
	s := (&request{arrived: r.Arrived, launched: r.Launched, first: r.First}).stage()
	if e.seen[s] == nil {
		e.seen[s] = map[string]bool{}
	}
	e.seen[s][r.Fate] = true
	if e.serials[r.Serial] {
		e.twice = append(e.twice, r.Serial)
	}
	e.serials[r.Serial] = true
}
func (*edges) Batch(BatchRecord)      {}
func (*edges) Instant(des.Time, Load) {}

// TestRunsTakeEveryEdge keeps SIM-8: every edge of the table that an engine can take is
// taken by a run, so that none stands there for nothing, and no request ends twice. That
// an engine aborts what it runs is left to SGLang's port.
func TestRunsTakeEveryEdge(t *testing.T) {
	keep.Rule(t, "SIM-8")
	base := header + "workload: {clients: [{name: a, requests: 40, arrivals: {constant: {rate: 1000}}, prompt: {uniform: {min: 10, max: 900}}, output: {fixed: 9}, deadline: DEADLINE}]}\nframe: {accept: {failed: 1, unfinished: 1}, stop: {horizon: HORIZON}}\n"
	slow := plainWorld()
	slow.Environment = plainEnvironment{front: cost.FrontEnd{FixedSeconds: 0.02}}
	seen := map[stage]map[string]bool{}
	for _, c := range []struct {
		args, deadline, horizon string
		world                   World
	}{
		{"longest: 500, budget: 100", "0", "0", plainWorld()},
		{"budget: 100, seqs: 4", "0.03", "0", plainWorld()},
		{"budget: 100, seqs: 4", "0.004", "0", plainWorld()},
		{"budget: 100, seqs: 4", "0", "0.03", plainWorld()},
		{"budget: 100", "0.004", "0", slow},
		{"budget: 100", "0", "0.01", slow},
	} {
		s, err := spec.Parse("s", []byte(strings.NewReplacer("ARGS", c.args, "DEADLINE", c.deadline, "HORIZON", c.horizon).Replace(base)))
		if err != nil {
			t.Fatal(err)
		}
		e := &edges{seen, map[uint64]bool{}, nil}
		c.world.Observer = e
		if _, err := Run(s, c.world); err != nil {
			t.Fatal(err)
		}
		if len(e.twice) > 0 {
			t.Errorf("%s: requests %d ended twice", c.args, e.twice)
		}
	}
	for s, fates := range ends {
		for _, f := range fates {
			aborted := f == dropped && (stage(s) == prefilling || stage(s) == decoding)
			if !seen[stage(s)][fateNames[f]] && !aborted {
				t.Errorf("no run has a request %s while %s", fateNames[f], stageNames[s])
			}
		}
	}
}
