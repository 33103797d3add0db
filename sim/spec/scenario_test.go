package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

const whole = `schema: blis.scenario/1
engine:
  kind: vllm
  version: main-2f41c894
  args: {tensor-parallel-size: 1, enable-prefix-caching: false}
  env: {A: "1"}
model: m
hardware: h
workload:
  inferencex: {release: inferencex-843c6254, isl: 1024, osl: 1024, range_ratio: 0.8, num_prompts: 640, concurrency: 64}
`

const open = `schema: blis.scenario/1
engine: {kind: vllm, version: v}
model: m
hardware: h
workload:
  clients:
  - name: a
    requests: 10
    arrivals: {poisson: {rate: 20}}
    prompt: {fixed: 512}
    output: {normal: {mean: 128, std: 10, min: 1, max: 256}}
`

func TestParseFillsDefaults(t *testing.T) {
	s, err := Parse("s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if got := *s.Workload.InferenceX.Warmups; got != 128 {
		t.Errorf("warm-ups: got %d, want 128", got)
	}
	if s.Cluster.Instances != 1 || s.Router.Policy != "round_robin" || s.Frame.Generator != Generator {
		t.Errorf("defaults: got %+v %+v %+v", s.Cluster, s.Router, s.Frame)
	}
	if v := s.Engine.Args["enable-prefix-caching"]; v != false {
		t.Errorf("args: got %v, want the value as written", v)
	}
}

func TestAcceptThatIsStatedIsNotReplaced(t *testing.T) {
	for frame, want := range map[string]Accept{
		"":                               {Failed: 0.05, Unfinished: 1},
		"frame: {accept: {failed: 0}}":   {},
		"frame: {accept: {failed: 0.2}}": {Failed: 0.2},
	} {
		s, err := Parse("s.yaml", []byte(whole+frame))
		if err != nil || *s.Frame.Accept != want {
			t.Errorf("%q: got %+v, %v, want %+v", frame, s.Frame.Accept, err, want)
		}
	}
}

// second is another client of class c.
func second(ttft int) string {
	return fmt.Sprintf("  - {name: b, class: c, objectives: {ttft: %d}, requests: 1, arrivals: {closed: {concurrency: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}\n", ttft)
}

// Each case changes one thing in an accepted scenario; want "" stays accepted.
var parseCases = []struct{ name, base, old, new, want string }{
	{"engine_version", whole, "model: m", "engine_version: v0.9", "s.yaml:7:1: engine_version: was replaced by engine: {kind, version}"},
	{"no version", whole, "  version: main-2f41c894\n", "", "s.yaml:2:1: engine.version: is missing"},
	{"unknown key", whole, "model: m", "modle: m", "s.yaml:7:1: modle: unknown key"},
	{"ratio above one", whole, "range_ratio: 0.8", "range_ratio: 1.01", "s.yaml:10:68: workload.inferencex.range_ratio: 1.01: is not a share"},
	{"deadline of no time", open, "requests: 10", "requests: 10\n    deadline: 9e-7", "s.yaml:9:5: workload.clients[0].deadline: 9e-07: is shorter than time is counted in"},
	{"shortest deadline", open, "requests: 10", "requests: 10\n    deadline: 1e-6", ""},
	{"no deadline", open, "requests: 10", "requests: 10\n    deadline: 0", ""},
	{"lengths of a prefix beside joint", open, "    prompt: {fixed: 512}\n    output: {normal: {mean: 128, std: 10, min: 1, max: 256}}\n", "    joint: [{prompt: 1, output: 1, weight: 1}]\n    prefixes: [{name: p, tokens: 1, share: 1, prompt: {fixed: 2}}]\n", "workload.clients[0].prefixes[0]: p: states lengths beside joint"},
	{"prefix beside joint", open, "    prompt: {fixed: 512}\n    output: {normal: {mean: 128, std: 10, min: 1, max: 256}}\n", "    joint: [{prompt: 1, output: 1, weight: 1}]\n    prefixes: [{name: p, tokens: 1, share: 1}]\n", ""},
	{"ratio of one", whole, "range_ratio: 0.8", "range_ratio: 1", ""},
	{"ratio of no output", whole, "osl: 1024, range_ratio: 0.8", "osl: 10, range_ratio: 0.0999", "s.yaml:10:66: workload.inferencex.range_ratio: 0.0999: draws prompts from 102 and outputs from 0 tokens"},
	{"least ratio", whole, "osl: 1024, range_ratio: 0.8", "osl: 10, range_ratio: 0.1", ""},
	{"ratio of no prompt", whole, "isl: 1024, osl: 1024, range_ratio: 0.8", "isl: 1, osl: 1024, range_ratio: 0.5", "draws prompts from 0 and outputs from 512 tokens"},
	{"a template's prompt", whole, "isl: 1024, osl: 1024, range_ratio: 0.8", "isl: 1, osl: 1024, range_ratio: 0.5, chat_template: {subtract: 0, add: 1}", ""},
	{"unknown release", whole, "release: inferencex-843c6254", "release: inferencex", "workload.inferencex.release: inferencex: is not known"},
	{"zero concurrency", whole, "concurrency: 64", "concurrency: 0", "concurrency: 0: is out of range"},
	{"concurrency of one", whole, "concurrency: 64", "concurrency: 1", ""},
	{"unknown workload", whole, "inferencex:", "inferencez:", "workload.inferencez: unknown key"},
	{"two workloads", whole, "workload:\n", "workload:\n  trace: {path: a}\n", "workload: inferencex and trace: states more than one kind"},
	{"no schema", whole, "schema: blis.scenario/1", "schema: blis.scenario/2", "schema: blis.scenario/2: is not known"},
	{"open loop", open, "", "", ""},
	{"no end", open, "    requests: 10\n", "", "frame.stop: is not stated"},
	{"two processes", open, "arrivals: {", "arrivals: {closed: {concurrency: 1}, ", "workload.clients[0].arrivals: poisson and closed: states more than one kind"},
	{"rate zero", open, "rate: 20", "rate: 0", "s.yaml:9:26: workload.clients[0].arrivals.poisson.rate: 0: is out of range"},
	{"shape of poisson", open, "rate: 20", "rate: 20, shape: 2", "shape: 2: has no meaning here"},
	{"shape of gamma", open, "poisson: {rate: 20", "gamma: {rate: 20, shape: 2", ""},
	{"prompt of zero", open, "fixed: 512", "fixed: 0", "prompt.fixed: 0: is out of range"},
	{"prompt of one", open, "fixed: 512", "fixed: 1", ""},
	{"range out of reach", open, "min: 1, max: 256", "min: 159, max: 256", "lies more than three standard deviations"},
	{"range in reach", open, "min: 1, max: 256", "min: 158, max: 256", ""},
	{"unknown metric", open, "model: m", "model: m\nframe: {metrics: [ttft_p98]}", "frame.metrics[0]: ttft_p98: is not a metric"},
	{"prompt above the range", open, "fixed: 512", "fixed: 2147483648", "s.yaml:10:14: workload.clients[0].prompt.fixed: 2147483648: is out of range"},
	{"longest prompt", open, "fixed: 512", "fixed: 2147483647", ""},
	{"part of a token", open, "fixed: 512", "fixed: 1024.5", "prompt.fixed: 1024.5: is not a whole number"},
	{"a whole float", open, "fixed: 512", "fixed: 1024.0", ""},
	{"uniform part of a token", open, "fixed: 512", "uniform: {min: 1.5, max: 2}", "uniform.min: 1.5: is not a whole number"},
	{"uniform of one", open, "fixed: 512", "uniform: {min: 2, max: 2}", ""},
	{"output above the range", open, "normal: {mean: 128, std: 10, min: 1, max: 256}", "fixed: 1e19", "output.fixed: 1e+19: is out of range"},
	{"exponential above the range", open, "fixed: 512", "exponential: {mean: 1e10}", "exponential.mean: 1e+10: is out of range"},
	{"exponential in range", open, "fixed: 512", "exponential: {mean: 1e9}", ""},
	{"lognormal of the value itself", open, "fixed: 512", "lognormal: {mean: 500, std: 200, min: 1, max: 4000}", "s.yaml:10:26: workload.clients[0].prompt.lognormal.mean: 500: is the mean of the logarithm, and outside the logarithms of min and max"},
	{"lognormal below its range", open, "fixed: 512", "lognormal: {mean: 2.3, std: 1, min: 10, max: 4000}", "lognormal.mean: 2.3: is the mean"},
	{"lognormal in its range", open, "fixed: 512", "lognormal: {mean: 2.31, std: 1, min: 10, max: 4000}", ""},
	{"lognormal of one value", open, "fixed: 512", "lognormal: {mean: 0, std: 1, min: 1, max: 1}", "lognormal.max: 1: is too small"},
	{"lognormal of another deviation", open, "fixed: 512", "lognormal: {mean: 6, std: 200, min: 1, max: 4000}", "lognormal.std: 200: is out of range"},
	{"lognormal wait from 0", open, "poisson: {rate: 20}", "closed: {concurrency: 1, think: {lognormal: {mean: -3, std: 1, min: 0, max: 9}}}", ""},
	{"rate too slow", open, "rate: 20", "rate: 9e-10", "poisson.rate: 9e-10: is out of range"},
	{"slowest rate", open, "rate: 20", "rate: 1e-9", ""},
	{"window beyond time", open, "rate: 20", "rate: 20, windows: [{start: 0, end: 1000000001, factor: 0}]", "windows[0].end: 1000000001: is out of range"},
	{"longest window", open, "rate: 20", "rate: 20, windows: [{start: 0, end: 1e9, factor: 0}]", ""},
	{"think beyond time", open, "poisson: {rate: 20}", "closed: {concurrency: 1, think: {fixed: 1000000001}}", "closed.think.fixed: 1000000001: is out of range"},
	{"longest think", open, "poisson: {rate: 20}", "closed: {concurrency: 1, think: {fixed: 1e9}}", ""},
	{"horizon beyond time", open, "model: m", "model: m\nframe: {stop: {horizon: 1000000001}}", "frame.stop.horizon: 1000000001: is out of range"},
	{"longest horizon", open, "model: m", "model: m\nframe: {stop: {horizon: 1e9}}", ""},
	{"too many rounds", open, "name: a", "name: a\n    session: {rounds: {fixed: 4097}}", "session.rounds.fixed: 4097: is out of range"},
	{"most rounds", open, "name: a", "name: a\n    session: {rounds: {fixed: 4096}}", ""},
	{"too many requests", open, "requests: 10", "requests: 1000000001", "requests: 1000000001: is out of range"},
	{"most requests", open, "requests: 10", "requests: 1000000000", ""},
	{"no instance", open, "model: m", "model: m\ncluster: {instances: 0}", "s.yaml:4:11: cluster.instances: 0: is out of range"},
	{"one instance", open, "model: m", "model: m\ncluster: {instances: 1}", ""},
	{"no node", open, "model: m", "model: m\ncluster: {nodes: 0}", "s.yaml:4:11: cluster.nodes: 0: is out of range"},
	{"one node", open, "model: m", "model: m\ncluster: {nodes: 1, instances: }", ""},
	{"scale of zero", whole, "inferencex: {release: inferencex-843c6254, isl: 1024, osl: 1024, range_ratio: 0.8, num_prompts: 640, concurrency: 64}", "trace: {path: a, scale: 0}", "workload.trace.scale: 0: is out of range"},
	{"least scale", whole, "inferencex: {release: inferencex-843c6254, isl: 1024, osl: 1024, range_ratio: 0.8, num_prompts: 640, concurrency: 64}", "trace: {path: a, scale: 1e-9}", ""},
	{"part of an observed token", open, "fixed: 512", "empirical: {values: [1, 1.5]}", "prompt.empirical.values[1]: 1.5: is not a whole number"},
	{"observed tokens", open, "fixed: 512", "empirical: {values: [1, 2.0]}", ""},
	{"fabric of one node", open, "model: m", "model: m\ncluster: {fabric: f}", "s.yaml:4:11: cluster.fabric: f: joins the nodes"},
	{"fabric of two nodes", open, "model: m", "model: m\ncluster: {nodes: 2, fabric: f}", ""},
	{"warm-up of a terminating run", open, "model: m", "model: m\nframe: {warmup: {requests: 1}}", "s.yaml:4:9: frame.warmup: is stated for a terminating run"},
	{"warm-up of a steady state", open, "model: m", "model: m\nframe: {kind: steady_state, warmup: {requests: 1}}", ""},
	{"two warm-ups", open, "model: m", "model: m\nframe: {kind: steady_state, warmup: {requests: 1, seconds: 1}}", "frame.warmup: states two rules"},
	{"a metric twice", open, "model: m", "model: m\nframe: {metrics: [ttft_p99, ttft_p99]}", "frame.metrics[1]: ttft_p99: is stated twice"},
	{"two metrics", open, "model: m", "model: m\nframe: {metrics: [ttft_p99, ttft_p95]}", ""},
	{"a scope twice", open, "model: m", "model: m\nframe: {scopes: [class, class]}", "frame.scopes[1]: class: is stated twice"},
	{"a class of two aims", open, "  - name: a", second(2) + "  - name: a\n    class: c\n    objectives: {ttft: 1}", "workload.clients[1].objectives: {ttft: 1, tpot: 0, e2e: 0}: are not those of another client of class c"},
	{"a class of one aim", open, "  - name: a", second(1) + "  - name: a\n    class: c\n    objectives: {ttft: 1}", ""},
	{"no class, two aims", open, "  - name: a", second(2) + "  - name: a\n    objectives: {ttft: 1}", ""},
	{"an objective of nothing", open, "name: a", "name: a\n    objectives: {ttft: 1, e2e: 0}", "s.yaml:8:27: workload.clients[0].objectives.e2e: 0: is an objective that nothing meets"},
	{"an objective of little", open, "name: a", "name: a\n    objectives: {ttft: 1e-9, e2e: }", ""},
	{"an empty client", open, "  - name: a", "  -\n  - name: a", "s.yaml:7:4: workload.clients[0]: is an empty entry"},
	{"an acceptance of both", open, "workload:", "workload:\n  acceptance: {profile: a, per_position: [0.5]}", "workload.acceptance: profile and per_position: states more than one kind"},
	{"an acceptance above one", open, "workload:", "workload:\n  acceptance: {per_position: [1, 1.01]}", "s.yaml:6:34: workload.acceptance.per_position[1]: 1.01: is not a share"},
	{"a certain acceptance", open, "workload:", "workload:\n  acceptance: {per_position: [1, 1]}", ""},
	{"no client release", whole, "release: inferencex-843c6254, ", "", "workload.inferencex.release: is missing"},
	{"window that ends as it starts", open, "rate: 20", "rate: 20, windows: [{start: 1, end: 1, factor: 0}]", "s.yaml:9:57: workload.clients[0].arrivals.poisson.windows[0].end: 1: is too small"},
	{"shortest window", open, "rate: 20", "rate: 20, windows: [{start: 1, end: 1.0001, factor: 0}]", ""},
	{"two clients of one name", open, "  - name: a", second(3) + second(3) + "  - name: a", "workload.clients[1].name: b: repeats another client's name"},
	{"two clients of two names", open, "  - name: a", second(3) + "  - name: a", ""},
	{"shares above one", open, "name: a", "name: a\n    prefixes: [{name: p, tokens: 1, share: 0.5}, {name: q, tokens: 1, share: 0.51}]", "workload.clients[0].prefixes: 1.01: shares add up to more than 1"},
	{"shares of one", open, "name: a", "name: a\n    prefixes: [{name: p, tokens: 1, share: 0.5}, {name: q, tokens: 1, share: 0.5}]", ""},
	{"no output", open, "    output: {normal: {mean: 128, std: 10, min: 1, max: 256}}\n", "", "workload.clients[0]: states no lengths"},
	{"joint beside prompt", open, "name: a", "name: a\n    joint: [{prompt: 1, output: 1, weight: 1}]", "workload.clients[0].joint: stands beside prompt or output"},
	{"joint alone", open, "    prompt: {fixed: 512}\n    output: {normal: {mean: 128, std: 10, min: 1, max: 256}}\n", "    joint: [{prompt: 1, output: 1, weight: 1}]\n", ""},
	{"nothing observed", open, "fixed: 512", "empirical: {values: []}", "prompt.empirical.values: is empty"},
	{"weights of other values", open, "fixed: 512", "empirical: {values: [1, 2], weights: [1]}", "prompt.empirical.weights: 1: does not match the number of values"},
	{"weights of nothing", open, "fixed: 512", "empirical: {values: [1, 2], weights: [0, 0]}", "prompt.empirical.weights: 0: add up to nothing"},
	{"weight of one value", open, "fixed: 512", "empirical: {values: [1, 2], weights: [0, 1]}", ""},
	{"NaN argument", whole, "tensor-parallel-size: 1", "x: .nan", "engine.args.x: .nan: is not a finite number"},
}

func TestParseRefusals(t *testing.T) {
	keep.Rule(t, "SIM-1", "SIM-2", "SIM-9", "SIM-11", "SUB-12")
	for _, c := range parseCases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(strings.Replace(c.base, c.old, c.new, 1)))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A refusal that a run makes later stands where its field does, and nowhere when the
// scenario does not state it.
func TestPlaced(t *testing.T) {
	s, err := Parse("s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{"model": "s.yaml:7:1: model: x", "engine.args.y": "s.yaml:5:3: engine.args.y: x", "workload.trace.path": "s.yaml: workload.trace.path: x", "chip": "s.yaml: chip: x"} {
		if got := diag.In("s.yaml", s.Placed(&diag.Refusal{Field: field, Problem: "x"})); got.Error() != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if got := s.Placed(&diag.Refusal{File: "t.jsonl", Field: "model", Problem: "x"}); got.Error() != "t.jsonl: model: x" {
		t.Errorf("of another file: got %v", got)
	}
}

func TestHashSeesEveryDefaultWrittenOut(t *testing.T) {
	keep.Rule(t, "SIM-10", "SIM-11")
	a, _ := Parse("a", []byte(open))
	b, err := Parse("b", []byte(open+"cluster: {instances: 1, nodes: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	ha, _ := a.Hash()
	hb, _ := b.Hash()
	if ha != hb {
		t.Errorf("stating a default changed the hash: %s, %s", ha, hb)
	}
}

func TestResultCheck(t *testing.T) {
	keep.Rule(t, "DEV-9")
	r := &Result{Accepted: true, Requests: RequestCount{Created: 3, Warmup: Fates{Completed: 1}, Measured: Fates{Completed: 1, Queued: 1}}}
	if err := r.Check(); err != nil {
		t.Errorf("conserved: got %v", err)
	}
	r.Requests.Created = 4
	if r.Check() == nil {
		t.Error("one request without a fate was accepted")
	}
	r.Requests.Created, r.Figures = 3, []Figure{{}}
	if err := r.Check(); err != nil {
		t.Errorf("a figure of an accepted run: got %v", err)
	}
	if r.Accepted = false; r.Check() == nil {
		t.Error("a figure of a run whose frame was not met was accepted")
	}
}

func TestClientsAreCounted(t *testing.T) {
	keep.Rule(t, "SIM-9")
	for n, want := range map[int]string{maxClients: "", maxClients + 1: "workload.clients: 65537: are too many"} {
		s, err := Parse("s.yaml", []byte(open))
		if err != nil {
			t.Fatal(err)
		}
		one := s.Workload.Clients[0]
		s.Workload.Clients = nil
		for i := range n {
			one.Name = fmt.Sprint(i)
			s.Workload.Clients = append(s.Workload.Clients, one)
		}
		if err := s.Complete(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d clients: got %v, want %q", n, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(open))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = Parse("f", b) })
}
