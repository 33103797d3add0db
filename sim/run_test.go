package sim

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

const header = "schema: blis.scenario/1\nengine: {kind: plain, version: \"1\", args: {ARGS}}\nmodel: m\nhardware: h\n"

const closedLoop = header + "workload:\n  inferencex: {release: inferencex-843c6254, isl: 100, osl: 20, range_ratio: 0.8, num_prompts: 40, concurrency: 4}\n"

const openLoop = header + `cluster: {instances: 3}
workload:
  clients:
  - {name: a, requests: 200, arrivals: {poisson: {rate: 50}}, prompt: {uniform: {min: 1, max: 300}}, output: {exponential: {mean: 20}}, class: fast, tenant: x, objectives: {ttft: 0.05}}
  - {name: b, requests: 100, arrivals: {gamma: {rate: 20, shape: 0.5}}, prompt: {fixed: 50}, output: {fixed: 5}, tenant: y, prefixes: [{name: p, tokens: 100, share: 0.5}], deadline: 0.013}
  - {name: c, requests: 60, arrivals: {closed: {concurrency: 3}}, prompt: {fixed: 40}, output: {fixed: 9}, session: {rounds: {uniform: {min: 1, max: 5}}, think: {exponential: {mean: 0.2}}}}
frame: {seed: 7, accept: {failed: 1, unfinished: 1}, scopes: [cluster, pool, instance, class, tenant]}
`

func run(t *testing.T, text, args string, w World) *spec.Result {
	t.Helper()
	s, err := spec.Parse("s.yaml", []byte(strings.Replace(text, "ARGS", args, 1)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(s, w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bytesOf(t *testing.T, r *spec.Result) []byte {
	t.Helper()
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func value(t *testing.T, r *spec.Result, id, scope string) float64 {
	t.Helper()
	f, ok := r.Figure(id, scope)
	if !ok {
		t.Fatalf("no %s at %s; withheld: %v, failures: %v", id, scope, r.Withheld, r.Failures)
	}
	return f.Value
}

func TestClosedLoopMeasuresItsOwnRequestsAlone(t *testing.T) {
	r := run(t, closedLoop, "", plainWorld())
	if q := r.Requests; q.Created != 48 || q.Warmup.Completed != 8 || q.Measured.Completed != 40 {
		t.Errorf("requests: got %+v, want 8 warm-ups and 40 measured", q)
	}
	if got := value(t, r, "concurrency", "cluster"); got < 3 || got > 4 {
		t.Errorf("concurrency: got %v, want a little under 4", got)
	}
	d := value(t, r, "duration", "cluster")
	for id, tokens := range map[string]int64{"input_throughput": r.Requests.PromptTokens, "output_throughput": r.Requests.OutputTokens} {
		if got, want := value(t, r, id, "cluster"), float64(tokens)/d; math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	if got, want := value(t, r, "total_throughput_per_accelerator", "cluster"), value(t, r, "total_throughput", "cluster")/2; got != want {
		t.Errorf("per accelerator: got %v, want %v", got, want)
	}
	if got := r.Engines[0].MaxInFlight; got != 1 {
		t.Errorf("batches in flight: got %d, want 1", got)
	}
}

// A request's gaps add up to its last token less its first, whatever was steady.
func TestGapsAddUpToDecodeTime(t *testing.T) {
	for _, args := range []string{"", "depth: 2", "budget: 30, seqs: 3", "budget: 7, depth: 3"} {
		r := run(t, closedLoop, args, plainWorld())
		itl, _ := r.Figure("itl_mean", "cluster")
		e2e, _ := r.Figure("e2e_mean", "cluster")
		ttft, _ := r.Figure("ttft_mean", "cluster")
		gaps, decode := itl.Value*float64(itl.Count), (e2e.Value-ttft.Value)*float64(e2e.Count)
		if math.Abs(gaps/decode-1) > 1e-9 || itl.Count != r.Requests.OutputTokens-40 {
			t.Errorf("%s: %d gaps of %v s in all, want %d of %v s", args, itl.Count, gaps, r.Requests.OutputTokens-40, decode)
		}
	}
}

// Tokens streamed three at a time: the first alone, then 4, 7 and the last, 8. The
// gaps are those between chunks, and add up as those between tokens do.
func TestGapsAreBetweenChunks(t *testing.T) {
	const one = header + "workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1000}}, prompt: {fixed: 10}, output: {fixed: 8}}]}\n"
	r := run(t, one, "chunk: 3", plainWorld())
	itl, _ := r.Figure("itl_mean", "cluster")
	if longest := value(t, r, "itl_max", "cluster"); itl.Count != 3 || math.Abs(itl.Value-0.0049) > 1e-12 || math.Abs(longest-0.0063) > 1e-12 {
		t.Errorf("got %d gaps, mean %v, longest %v; want 3 gaps of 6.3, 6.3 and 2.1 ms", itl.Count, itl.Value, longest)
	}
	for _, args := range []string{"chunk: 4", "chunk: 4, depth: 2", "chunk: 5, budget: 30, seqs: 3"} {
		r := run(t, closedLoop, args, plainWorld())
		itl, _ := r.Figure("itl_mean", "cluster")
		e2e, _ := r.Figure("e2e_mean", "cluster")
		ttft, _ := r.Figure("ttft_mean", "cluster")
		gaps, decode := itl.Value*float64(itl.Count), (e2e.Value-ttft.Value)*float64(e2e.Count)
		if math.Abs(gaps/decode-1) > 1e-9 || itl.Count*2 > r.Requests.OutputTokens {
			t.Errorf("%s: %d gaps of %v s in all, want %v s in fewer than half of %d tokens", args, itl.Count, gaps, decode, r.Requests.OutputTokens)
		}
	}
}

// By hand: one request of 10 prompt and 3 output tokens takes one prefill step of
// 2.1 ms and two decode steps of 2.1 ms.
func TestOneRequestByHand(t *testing.T) {
	keep.Rule(t, "SIM-12")
	const one = header + "workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1000}}, prompt: {fixed: 10}, output: {fixed: 3}}]}\n"
	r := run(t, one, "", plainWorld())
	for id, want := range map[string]float64{"ttft_mean": 0.0021, "tpot_mean": 0.0021, "e2e_max": 0.0063, "itl_p99": 0.0021, "queueing_delay_mean": 0, "duration": 0.0063} {
		if got := value(t, r, id, "cluster"); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	w := plainWorld()
	w.Environment = plainEnvironment{front: cost.FrontEnd{FixedSeconds: 0.001, PerPromptToken: 0.0001, SerialPerRequest: 0.0005}}
	if got := value(t, run(t, one, "", w), "ttft_mean", "cluster"); math.Abs(got-0.0046) > 1e-12 {
		t.Errorf("with a front end: got %v, want 2.1 + 0.5 + 1 + 10 x 0.1 ms", got)
	}
}

func TestResultDoesNotDependOnQueueOrderOrObserver(t *testing.T) {
	keep.Rule(t, "DEV-2", "X6")
	for _, text := range []string{closedLoop, openLoop} {
		want := bytesOf(t, run(t, text, "depth: 2, seqs: 8", plainWorld()))
		calendar := plainWorld()
		calendar.Kernel = []des.Option{des.WithQueue(des.NewCalendar())}
		if got := bytesOf(t, run(t, text, "depth: 2, seqs: 8", calendar)); !bytes.Equal(got, want) {
			t.Error("a calendar queue changed the result")
		}
		for seed := range uint64(5) {
			g := rand.New(rand.NewPCG(seed, 1))
			shuffled := plainWorld()
			shuffled.Kernel = []des.Option{des.WithOrder(func(ids []des.ID) { g.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] }) })}
			if got := bytesOf(t, run(t, text, "depth: 2, seqs: 8", shuffled)); !bytes.Equal(got, want) {
				t.Fatal("visiting components of one instant in another order changed the result")
			}
		}
	}
}

func TestOpenLoopScopesAndFates(t *testing.T) {
	keep.Rule(t, "DEV-9", "SIM-8")
	r := run(t, openLoop, "seqs: 4", plainWorld())
	q := r.Requests
	if q.Created != 360 || q.Warmup.Total() != 0 || q.Measured.TimedOut == 0 {
		t.Errorf("requests: got %+v", q)
	}
	for _, scope := range []string{"cluster", "pool:0", "instance:2", "class:fast", "tenant:x", "tenant:y"} {
		value(t, r, "ttft_p50", scope)
	}
}

func TestFates(t *testing.T) {
	keep.Rule(t, "DEV-9", "SIM-7", "SIM-8")
	base := header + "workload: {clients: [{name: a, requests: 20, arrivals: {constant: {rate: 100}}, prompt: {uniform: {min: 10, max: 100}}, output: {fixed: 50}, DEADLINE}]}\n"
	cases := []struct {
		name, args, deadline, frame string
		of                          func(spec.Fates) int64
	}{
		{"completed", "", "deadline: 0", "", func(f spec.Fates) int64 { return f.Completed }},
		{"dropped", "longest: 50", "deadline: 0", "", func(f spec.Fates) int64 { return f.Dropped }},
		{"timed out", "seqs: 1", "deadline: 0.1", "", func(f spec.Fates) int64 { return f.TimedOut }},
		{"in flight", "", "deadline: 0", "frame: {stop: {horizon: 0.05}}", func(f spec.Fates) int64 { return f.InFlight }},
		{"queued", "seqs: 1", "deadline: 0", "frame: {stop: {horizon: 0.05}}", func(f spec.Fates) int64 { return f.Queued }},
		{"in flight beside completed", "seqs: 4", "deadline: 0", "frame: {stop: {horizon: 0.4}}", func(f spec.Fates) int64 { return min(f.Completed, f.InFlight) }},
		{"not started", "", "deadline: 0", "frame: {stop: {horizon: 0.05}}", func(f spec.Fates) int64 { return f.NotStarted }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, strings.Replace(base, "DEADLINE", c.deadline, 1)+c.frame, c.args, plainWorld())
			if n := c.of(r.Requests.Measured); n == 0 {
				t.Errorf("got none in %+v", r.Requests.Measured)
			}
			if r.Requests.Created != 20 {
				t.Errorf("created %d, want 20", r.Requests.Created)
			}
			if f, ok := r.Figure("e2e_mean", "cluster"); ok != r.Accepted || ok && f.Count != r.Requests.Measured.Completed {
				t.Errorf("a latency of %d requests, and %d completed", f.Count, r.Requests.Measured.Completed)
			}
		})
	}
}

// Every round that a session planned has one fate: rounds after one that failed, and
// those the run ends before, were not started. A client's own bound bounds its plan.
func TestEveryPlannedRoundHasAFate(t *testing.T) {
	keep.Rule(t, "SIM-8", "DEV-9")
	base := header + "workload: {clients: [{name: a, arrivals: {constant: {rate: 10}}, prompt: {fixed: 10}, output: {fixed: 5}, session: {rounds: {fixed: 4}, think: {fixed: THINK}}MORE}]}\nframe: {accept: {failed: 1, unfinished: 1}, stop: {STOP}}\n"
	for _, c := range []struct {
		think, more, stop    string
		created, not, failed int64
	}{
		{"0.01", "", "horizon: 1.05", 40, 1, 0}, // of the last session, whose rounds begin each 20.5 ms
		{"0.3", "", "horizon: 1.05", 40, 18, 0}, // each 310.5 ms: 4, 3, 3, 3, 2, 2, 2, 1, 1 and 1 were
		{"0.01", ", deadline: 0.005", "horizon: 1.05", 40, 30, 10},
		{"0.01", ", deadline: 0.005, requests: 6", "horizon: 1.05", 24, 18, 6},
		{"0.01", ", deadline: 0.005, requests: 20", "horizon: 1.05", 50, 40, 10},
		{"0.3", ", requests: 6", "horizon: 5", 6, 0, 0},
		{"0.3", "", "requests: 6", 6, 0, 0},
	} {
		q := run(t, strings.NewReplacer("THINK", c.think, "MORE", c.more, "STOP", c.stop).Replace(base), "", plainWorld()).Requests
		if q.Created != c.created || q.Measured.NotStarted != c.not || q.Measured.TimedOut != c.failed {
			t.Errorf("%+v: created %d, %d not started, %d timed out", c, q.Created, q.Measured.NotStarted, q.Measured.TimedOut)
		}
	}
}

func TestFrameThatIsNotMetGivesNoFigure(t *testing.T) {
	keep.Rule(t, "DEV-7")
	s := header + "workload: {clients: [{name: a, requests: 20, arrivals: {constant: {rate: 100}}, prompt: {fixed: 100}, output: {fixed: 50}}]}\nframe: {accept: {failed: SHARE, unfinished: 1}}\n"
	if r := run(t, strings.Replace(s, "SHARE", "0.99", 1), "longest: 50", plainWorld()); r.Accepted || len(r.Figures) > 0 || len(r.Failures) != 1 || !strings.Contains(r.Failures[0], "; dropped most often (20): ") {
		t.Errorf("every request dropped: accepted %v, %d figures, %v", r.Accepted, len(r.Figures), r.Failures)
	}
	if r := run(t, strings.Replace(s, "SHARE", "1", 1), "longest: 50", plainWorld()); !r.Accepted {
		t.Errorf("a frame that accepts it: got %v", r.Failures)
	}
}

// What was sent to a scope and never completed counts against its attainment.
func TestAttainmentOfAScopeIsOfWhatWasSentToIt(t *testing.T) {
	s := header + `workload:
  clients:
  - {name: a, requests: 30, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 5}, class: slow, objectives: {e2e: 100}}
  - {name: b, requests: 10, arrivals: {constant: {rate: 100}}, prompt: {fixed: 100}, output: {fixed: 5}, class: slow, objectives: {e2e: 100}}
  - {name: c, requests: 20, arrivals: {constant: {rate: 100}}, prompt: {fixed: 10}, output: {fixed: 5}, class: fast, objectives: {e2e: 100}}
frame: {scopes: [class, instance], accept: {failed: 1}}
`
	r := run(t, s, "longest: 50", plainWorld())
	for scope, want := range map[string]float64{"class:slow": 0.75, "class:fast": 1, "instance:0": 50.0 / 60} {
		if got := value(t, r, "attainment", scope); got != want {
			t.Errorf("%s: got %v, want %v", scope, got, want)
		}
	}
}

// What a scope does not count is withheld for that reason, not as if nothing came about.
func TestWhatAScopeDoesNotCountIsWithheldAsSuch(t *testing.T) {
	r := run(t, openLoop, "", plainWorld())
	const apart, whole = "is counted for the cluster, pools and instances alone", "is counted for the cluster alone"
	want := map[[2]string]string{{"itl_mean", "class:fast"}: apart, {"prefix_hit_rate", "tenant:x"}: apart, {"fairness_jain", "class:fast"}: whole, {"fairness_jain", "instance:0"}: whole}
	for _, w := range r.Withheld {
		key := [2]string{w.Metric, w.Scope}
		if reason, ok := want[key]; ok && w.Reason != reason {
			t.Errorf("%v: got %q, want %q", key, w.Reason, reason)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("not withheld: %v", want)
	}
}

func TestRunThatCompletesNothingIsNotAccepted(t *testing.T) {
	s := header + "workload: {clients: [{name: a, requests: 20, arrivals: {closed: {concurrency: 4}}, prompt: {fixed: 100}, output: {fixed: 2}}]}\nframe: {stop: {horizon: SECONDS}}\n"
	if r := run(t, strings.Replace(s, "SECONDS", "0.001", 1), "", plainWorld()); r.Accepted || len(r.Failures) != 1 || r.Requests.Measured.Completed != 0 {
		t.Errorf("a horizon before the first completion: accepted %v, %v, %+v", r.Accepted, r.Failures, r.Requests.Measured)
	}
	if r := run(t, strings.Replace(s, "SECONDS", "1", 1), "", plainWorld()); !r.Accepted {
		t.Errorf("a horizon after one: got %v", r.Failures)
	}
}

// A request at 1e9 s, the next at 2e9 s, and so on: the last time a run may reach
// is 1e12 s.
func TestRunPastTheLatestTimeIsRefused(t *testing.T) {
	for _, c := range []struct {
		requests, frame, want string
	}{{"999", "{}", ""}, {"1002", "{}", "frame.stop.horizon: is not stated, and the run passes 1e12"}, {"1002", "{stop: {horizon: 1e9}}", ""}} {
		text := header + "workload: {clients: [{name: a, requests: " + c.requests + ", arrivals: {constant: {rate: 1e-9}}, prompt: {fixed: 10}, output: {fixed: 2}}]}\nframe: " + c.frame + "\n"
		s, err := spec.Parse("s", []byte(strings.Replace(text, "ARGS", "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Run(s, plainWorld()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s requests, frame %s: got %v, want %q", c.requests, c.frame, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	keep.Rule(t, "SIM-1", "SIM-2")
	cases := []struct{ old, new, want string }{
		{"kind: plain", "kind: plane", "engine.kind: plane: is not an engine of this build"},
		{`version: "1"`, `version: "2"`, "engine.version: 2: is not the plain release"},
		{"ARGS", "seqs: 0", "engine.args.seqs: 0: runs nothing"},
		{"ARGS", "seqs: 1", ""},
	}
	for _, c := range cases {
		s, err := spec.Parse("s", []byte(strings.Replace(strings.Replace(closedLoop, c.old, c.new, 1), "ARGS", "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Run(s, plainWorld()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// A Result names the definitions behind its figures' ids, not the ids alone.
func TestResultNamesItsMetricDefinitions(t *testing.T) {
	keep.Rule(t, "DEV-7")
	r := run(t, closedLoop, "", plainWorld())
	defined := metric.All()
	same, err := canon.Hash(defined)
	defined[0].Formula += "."
	other, err2 := canon.Hash(defined)
	if err != nil || err2 != nil || r.Inputs.MetricsSHA256 != same || other == same {
		t.Errorf("got %s, want %s and not %s (%v, %v)", r.Inputs.MetricsSHA256, same, other, err, err2)
	}
}
