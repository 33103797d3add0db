package sim

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// cohortEngine costs next to nothing: requests that start together take the same
// number of equal steps and end together. What remains is the driver.
type cohortEngine struct {
	plainEngine
	cohorts []cohort
	fresh   []*engines.Request
	first   []engines.RequestID // of fresh, those in the batch in flight
	live    int
	busy    bool
}

type cohort struct {
	left     int
	requests []*engines.Request
}

func (e *cohortEngine) Submit(r *engines.Request) *engines.Rejection {
	e.fresh = append(e.fresh, r)
	return nil
}

func (e *cohortEngine) Poll() engines.Action {
	if e.busy {
		return engines.Action{Do: engines.Wait}
	}
	if len(e.fresh)+e.live == 0 {
		return engines.Action{Do: engines.Idle}
	}
	e.busy, e.first = true, e.first[:0]
	for _, r := range e.fresh {
		e.first = append(e.first, r.ID)
	}
	return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: e.steps, Admitted: e.first}}
}

func (e *cohortEngine) Complete(out *engines.Outcome) {
	e.busy = false
	*out = engines.Outcome{Events: out.Events[:0], Steady: e.live, Scheduled: 1}
	kept := e.cohorts[:0]
	for _, c := range e.cohorts {
		if c.left--; c.left > 0 {
			kept = append(kept, c)
			continue
		}
		for _, r := range c.requests {
			r.Token.Emitted = r.MaxTokens
			out.Events = append(out.Events, engines.Event{Request: r, Tokens: 1, Gap: true, Finish: engines.Length})
		}
		e.live -= len(c.requests)
		out.Steady -= len(c.requests)
	}
	e.cohorts = kept
	if n := len(e.first); n > 0 {
		e.cohorts = append(e.cohorts, cohort{4, append([]*engines.Request(nil), e.fresh[:n]...)})
		for _, r := range e.fresh[:n] {
			r.Token.Emitted = 1
			out.Events = append(out.Events, engines.Event{Request: r, Tokens: 1, First: true})
		}
		e.live += n
		e.fresh = e.fresh[:copy(e.fresh, e.fresh[n:])]
	}
}

type cohortKind struct{ plainKind }

func (cohortKind) New(engines.Spec, engines.Environment) (engines.Engine, error) {
	e := &cohortEngine{plainEngine: plainEngine{plan: plan.PoolPlan{InFlight: 1}}}
	e.steps = []engines.PricedStep{{Shape: &plan.StepShape{}, Price: plan.StepEstimate{Total: 0.007, Method: plan.Measured}}}
	return e, nil
}

// BenchmarkDriver is the simulator without an engine: ns a request of about four
// steps, arrivals, metrics and fates included.
func BenchmarkDriver(b *testing.B) {
	const n = 20000
	text := strings.Replace(header, "ARGS", "", 1) + "workload: {clients: [{name: a, requests: 20000, arrivals: {poisson: {rate: 40}}, prompt: {fixed: 512}, output: {fixed: 128}}]}\n"
	s, err := spec.Parse("s", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var r *spec.Result
	for b.Loop() {
		if r, err = Run(s, World{Kinds: []engines.Kind{cohortKind{}}, Environment: plainEnvironment{}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
	b.ReportMetric(float64(r.Events.Transitions)/n, "events/request")
}

// Work and memory of a request do not grow with the run (DEV-5). cmd/blis holds the
// whole simulator to it, engine and prices included.
func TestCostOfARequestIsFlat(t *testing.T) {
	keep.Rule(t, "DEV-5")
	sizes := []int{10_000, 100_000, 1_000_000}
	var events, bytes []float64
	for _, n := range sizes {
		text := strings.Replace(header, "ARGS", "", 1) + fmt.Sprintf("workload: {clients: [{name: a, requests: %d, arrivals: {poisson: {rate: 40}}, prompt: {fixed: 512}, output: {fixed: 128}}]}\n", n)
		s, err := spec.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Run(s, World{Kinds: []engines.Kind{cohortKind{}}, Environment: plainEnvironment{}})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		events = append(events, float64(r.Events.Transitions+r.Events.Messages)/float64(n))
		bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	}
	for i := range sizes {
		if events[i] > 1.1*events[0] || bytes[i] > 1.1*bytes[0] {
			t.Errorf("%d requests: %.2f events and %.0f bytes each; %d requests: %.2f and %.0f", sizes[i], events[i], bytes[i], sizes[0], events[0], bytes[0])
		}
	}
	if last := bytes[len(bytes)-1]; last*1e6 > 1<<30 {
		t.Errorf("a million requests took %.0f bytes", last*1e6)
	}
}
