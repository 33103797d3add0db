package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// withheld is why a figure is, "" when it is not.
func withheld(r *spec.Result, id, scope string) string {
	for _, w := range r.Withheld {
		if w.Metric == id && w.Scope == scope {
			return w.Reason
		}
	}
	return ""
}

// Two requests are sent at once, one is served, and the client of the other waits on
// long after the window's end: until that end both were there.
func TestConcurrencyEndsWithTheWindow(t *testing.T) {
	keep.Rule(t, "DEV-8")
	r := run(t, header+`workload:
  clients:
  - {name: a, requests: 1, arrivals: {closed: {concurrency: 1}}, prompt: {fixed: 10}, output: {fixed: 5}}
  - {name: b, requests: 1, arrivals: {closed: {concurrency: 1}}, prompt: {fixed: 10}, output: {fixed: 9000}, deadline: 10}
frame: {accept: {failed: 1}}
`, "", plainWorld())
	if got := value(t, r, "concurrency", "cluster"); got != 2 {
		t.Errorf("got %v over %v s, want 2", got, r.Window.End)
	}
}

// Every request but two is unfinished, and each has streamed hundreds of tokens.
func TestTokenPercentileLeavesRoomForRequests(t *testing.T) {
	keep.Rule(t, "DEV-9")
	r := run(t, header+`workload:
  clients:
  - {name: a, requests: 2, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 5}}
  - {name: b, requests: 38, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 9000}}
frame: {stop: {horizon: 3}}
`, "", plainWorld())
	for _, id := range []string{"itl_p50", "itl_p99", "ttft_p99"} {
		if got := withheld(r, id, "cluster"); !strings.HasPrefix(got, "38 requests had not ended") || !strings.HasSuffix(got, "; frame.stop.requests in place of a horizon waits for them") {
			t.Errorf("%s: withheld %q", id, got)
		}
	}
	value(t, r, "itl_mean", "cluster")
	r = run(t, header+`workload: {clients: [{name: a, requests: 40, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 9}}]}
frame: {drain: excluded}
`, "", plainWorld())
	if got := withheld(r, "e2e_p99", "cluster"); !strings.HasSuffix(got, "; frame.drain: measured waits for them") {
		t.Errorf("without its drain: withheld %q", got)
	}
}

// A scope that nobody states says so, metric by metric.
func TestAScopeWithoutMembersIsWithheld(t *testing.T) {
	r := run(t, header+`workload: {clients: [{name: a, requests: 2, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 5}, class: chat}]}
frame: {metrics: [ttft_mean], scopes: [tenant, class]}
`, "", plainWorld())
	if got := withheld(r, "ttft_mean", "tenant"); got != "no client states a tenant" || len(r.Withheld) != 1 {
		t.Errorf("got %+v", r.Withheld)
	}
	value(t, r, "ttft_mean", "class:chat")
}

// A class that nobody served attains nothing, which is a figure.
func TestAttainmentWhereNobodyWasServed(t *testing.T) {
	const bulk = "  - {name: a, requests: 5, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 5}, class: bulk}\n"
	for served, want := range map[string]float64{bulk: 0.5, "": 0} {
		r := run(t, header+`workload:
  clients:
`+served+`  - {name: b, requests: 5, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 500}, class: chat, objectives: {ttft: 0.1}, deadline: 0.05}
frame: {scopes: [cluster, class], accept: {failed: 1}}
`, "", plainWorld())
		if got := value(t, r, "attainment", "class:chat"); got != 0 {
			t.Errorf("beside %q: chat attains %v", served, got)
		}
		if got := value(t, r, "attainment", "cluster"); got != want {
			t.Errorf("beside %q: all attain %v, want %v", served, got, want)
		}
		if got := withheld(r, "attainment", "class:bulk"); served != "" && got != "no request that was sent has an objective" {
			t.Errorf("bulk: withheld %q", got)
		}
	}
}

// departures keeps completions and their output.
type departures struct {
	first   des.Time   // sending of the first measured request
	at      []des.Time // by request that completed
	outputs []int
}

func (d *departures) Batch(BatchRecord)      {}
func (d *departures) Instant(des.Time, Load) {}
func (d *departures) Request(r RequestRecord) {
	if r.Measured && (d.first == 0 || r.Sent < d.first) {
		d.first = r.Sent
	}
	if r.Fate == "completed" {
		d.at, d.outputs = append(d.at, r.Ended), append(d.outputs, r.Output)
	}
}

// An overloaded run reports what left the system while the window was open, whoever sent
// it when, and nothing else.
func TestOverloadedRunReportsItsDepartures(t *testing.T) {
	keep.Rule(t, "DEV-10")
	w := plainWorld()
	d := &departures{}
	w.Observer = d
	r := run(t, header+`cluster: {instances: 2}
workload: {clients: [{name: a, arrivals: {poisson: {rate: 70}}, prompt: {fixed: 10}, output: {exponential: {mean: 24}}, objectives: {ttft: 1}}]}
frame: {kind: steady_state, drain: excluded, warmup: {seconds: 20}, scopes: [cluster, instance], accept: {failed: 1, unfinished: 1}, stop: {horizon: 100}}
`, "seqs: 1", w)
	if r.Steady.State != "overloaded" {
		t.Fatalf("got %+v", r.Steady)
	}
	requests, tokens := 0.0, 0.0
	for i, at := range d.at {
		if at > d.first {
			requests, tokens = requests+1, tokens+float64(d.outputs[i])
		}
	}
	span := r.Window.End - r.Window.Start
	if got, want := value(t, r, "request_throughput", "cluster"), requests/span; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("got %v requests a second, %v left", got, want)
	}
	if got, want := value(t, r, "output_throughput", "cluster"), tokens/span; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("got %v tokens a second, %v left", got, want)
	}
	both := value(t, r, "request_throughput", "instance:0") + value(t, r, "request_throughput", "instance:1")
	if want := requests / span; math.Abs(both/want-1) > 1e-12 {
		t.Errorf("the instances give %v requests a second, want %v", both, want)
	}
	for _, f := range r.Figures {
		if !strings.Contains(f.Metric, "_throughput") {
			t.Errorf("%s is reported", f.Metric)
		}
	}
}

// A settled run that is cut while requests are in flight has the throughput that it was
// sent, by Little's law too, and so has its goodput; a terminating run counts its own.
func TestSettledThroughputIsWhatWasSent(t *testing.T) {
	keep.Rule(t, "DEV-8")
	const text = header + `workload: {clients: [{name: a, arrivals: {constant: {rate: 4}}, prompt: {fixed: 10}, output: {fixed: 1000}, objectives: {e2e: 100}}]}
frame: {kind: steady_state, warmup: {seconds: 20}, stop: {horizon: 100}}
`
	r := run(t, text, "seqs: 64", plainWorld())
	if r.Steady.State != "settled" || r.Requests.Measured.InFlight < 10 {
		t.Fatalf("got %+v, %+v", r.Steady, r.Requests.Measured)
	}
	little := value(t, r, "concurrency", "cluster") / value(t, r, "e2e_mean", "cluster")
	for metric, want := range map[string]float64{"request_throughput": 4, "output_throughput": 4000, "total_throughput": 4040, "goodput": 4} {
		got := value(t, r, metric, "cluster")
		if math.Abs(got/want-1) > 0.01 || math.Abs(got/want-little/4) > 0.01 {
			t.Errorf("%s is %v, want %v; concurrency over residence is %v requests a second", metric, got, want, little)
		}
	}
	r = run(t, strings.Replace(text, "kind: steady_state, warmup: {seconds: 20}, ", "", 1), "seqs: 64", plainWorld())
	if got, want := value(t, r, "request_throughput", "cluster"), float64(r.Requests.Measured.Completed)/(r.Window.End-r.Window.Start); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("terminating: got %v requests a second, want %v", got, want)
	}
}

// Busy and idle time of a run that its horizon cut add up to the horizon.
func TestIdleTimeEndsWithTheRun(t *testing.T) {
	r := run(t, header+`workload: {clients: [{name: a, requests: 2, arrivals: {constant: {rate: 0.1}}, prompt: {fixed: 10}, output: {fixed: 5}}]}
frame: {stop: {horizon: 17}}
`, "", plainWorld())
	sum := r.Engines[0].Busy
	for _, p := range r.Parts {
		if p.Part == "idle" {
			sum += p.Seconds
		}
	}
	if math.Abs(sum-17) > 1e-9 {
		t.Errorf("busy and idle add up to %v s, want 17", sum)
	}
}

func TestNoInteractivityWithoutTime(t *testing.T) {
	f := &figures{result: &spec.Result{}}
	d, err := metric.Lookup("interactivity_p50")
	if err != nil {
		t.Fatal(err)
	}
	f.latency(&d, &scope{name: "cluster"}, &collected{of: map[string]*distribution{"interactivity": {values: []float64{0, 0}}}, totals: totals{completed: 2}})
	if got := withheld(f.result, "interactivity_p50", "cluster"); got != "the time per output token is 0, which has no inverse" {
		t.Errorf("withheld %q", got)
	}
}
