package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Job asks for replications of one arm: Seeds of them, from seed First on; one is enough
// when nothing is drawn. Its Scenario is its own to change.
type Job struct {
	Scenario *spec.Scenario
	First    uint64
	Seeds    int
	of       []quantity
}

// Trial is what became of a job. Either Refused is set, or the runs were taken.
type Trial struct {
	Refused *diag.Refusal

	job    Job
	stop   status        // what ended the replications early
	reason string        // why
	values [][]float64   // by quantity, then replication
	units  []string      // by quantity
	drawn  bool          // whether the runs have random input
	inputs *spec.Inputs  // of the first run
	valid  spec.Validity // of the first run
	method plan.Method   // least trusted of all runs
	chips  int
	hash   string // of the first run's scenario
}

// NewTrial is a trial without a run yet.
func NewTrial(j Job) *Trial {
	return &Trial{job: j, values: make([][]float64, len(j.of)), units: make([]string, len(j.of))}
}

// Add takes the next replication, and says whether another is wanted.
func (t *Trial) Add(r *spec.Result) (more bool, err error) {
	n := len(t.values[0]) + 1
	if t.inputs == nil {
		in := r.Inputs
		in.Scenario = nil // the next run changes it
		t.inputs, t.valid, t.hash = &in, r.Validity, in.ScenarioSHA256
		t.drawn = r.Drawn()
		for _, e := range r.Engines {
			t.chips += e.Accelerators
		}
	}
	for _, m := range r.Methods {
		method, _ := plan.ParseMethod(m.Method)
		t.method = max(t.method, method)
	}
	seed := t.job.First + uint64(n) - 1
	switch {
	case !r.Accepted:
		return t.end(outsideFrame, "with seed %d: %s", seed, strings.Join(r.Failures, "; "))
	case r.Steady != nil && r.Steady.State == "overloaded":
		return t.end(overloaded, "with seed %d the backlog grows until the last request", seed)
	case r.Steady != nil && r.Steady.State != "settled":
		return t.end(incomplete, "with seed %d the window is too short to tell whether it settled", seed)
	}
	for i, q := range t.job.of {
		v, unitOf, why := q.read(r)
		if why != "" {
			return t.end(withheld, "with seed %d %s has no figure: %s", seed, q.metric, why)
		}
		t.values[i], t.units[i] = append(t.values[i], v), unitOf
	}
	return t.drawn && n < t.job.Seeds, nil
}

func (t *Trial) end(s status, format string, args ...any) (more bool, err error) {
	t.stop, t.reason = s, fmt.Sprintf(format, args...)
	return false, nil
}

// read takes a quantity from a result, or says why it is not there.
func (q quantity) read(r *spec.Result) (v float64, unitOf, missing string) {
	matches := func(scope string) bool {
		return scope == q.scope || q.aggregate != "" && strings.HasPrefix(scope, q.scope+":")
	}
	for _, w := range r.Withheld {
		if w.Metric == q.metric && matches(w.Scope) {
			return 0, "", w.Scope + ": " + w.Reason
		}
	}
	var all []float64
	for _, f := range r.Figures {
		if f.Metric == q.metric && matches(f.Scope) {
			all, unitOf = append(all, f.Value), f.Unit
		}
	}
	if len(all) == 0 {
		return 0, "", "nothing is of scope " + q.scope
	}
	switch q.aggregate {
	case "max":
		return slices.Max(all), unitOf, ""
	case "min":
		return slices.Min(all), unitOf, ""
	}
	return mean(all), unitOf, ""
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
