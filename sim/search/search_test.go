package search

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func example(t *testing.T) (specification, base string) {
	t.Helper()
	var out []string
	for _, name := range []string{"layouts.yaml", "chat.yaml"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out[0], out[1]
}

// lists are the field lists of the engines of this build.
func lists(t *testing.T) func(kind string) *fields.List {
	t.Helper()
	kinds, err := builtin.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	return func(kind string) *fields.List {
		for _, k := range kinds {
			if k.Name() == kind {
				return k.Fields()
			}
		}
		return nil
	}
}

// open lays out the grid of a specification over a base.
func open(t *testing.T, specification, base string) (*Study, error) {
	t.Helper()
	return Open(Document{"s.yaml", []byte(specification)}, func(name string) (Document, error) {
		if name != "chat.yaml" {
			return Document{}, &diag.Refusal{Field: "base", Value: name, Problem: "cannot be read"}
		}
		return Document{name, []byte(base)}, nil
	}, lists(t))
}

func opened(t *testing.T, specification, base string) *Study {
	t.Helper()
	s, err := open(t, specification, base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fake gives every arm the figures that value says, of each metric and scope that its
// frame asks for; edit changes the rest of a run.
func fake(value func(s *spec.Scenario, metric, scope string, seed uint64) float64, edit func(s *spec.Scenario, r *spec.Result)) Simulate {
	return func(jobs []Job) ([]*Trial, error) {
		var out []*Trial
		for _, j := range jobs {
			t := NewTrial(j)
			for seed, more := j.First, true; more; seed++ {
				j.Scenario.Frame.Seed = seed
				r := &spec.Result{Accepted: true, Random: "arrivals", Methods: []spec.MethodUse{{Method: "roofline"}, {Method: "measured"}}}
				for i := range j.Scenario.Cluster.Instances {
					r.Engines = append(r.Engines, spec.EngineRun{Instance: i, Accelerators: 1})
				}
				for _, id := range j.Scenario.Frame.Metrics {
					scopes := []string{"cluster"}
					for i := range r.Engines {
						scopes = append(scopes, fmt.Sprint("instance:", i))
					}
					for _, scope := range scopes {
						r.Figures = append(r.Figures, spec.Figure{Metric: id, Scope: scope, Unit: "u", Value: value(j.Scenario, id, scope, seed)})
					}
				}
				if edit != nil {
					edit(j.Scenario, r)
				}
				more, _ = t.Add(r)
			}
			out = append(out, t)
		}
		return out, nil
	}
}

func ran(t *testing.T, s *Study, simulate Simulate) *Report {
	t.Helper()
	r, err := s.Run(simulate, &Evidence{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// noise is a draw that depends on its name alone, uniform on -1..1.
func noise(seed uint64, names ...string) float64 {
	f := substream.New(seed, "arm", strings.Join(names, "/"))
	s := f.At(0)
	return 2*s.Float64() - 1
}

// A specification that cannot be read as it is meant is refused at its line.
func TestSpecificationsAreRefused(t *testing.T) {
	keep.Rule(t, "CFG-4", "DEV-11")
	good, base := example(t)
	opened(t, good, base)
	for _, c := range []struct{ from, to, want string }{
		{"schema: blis.search/1", "schema: blis.search/2", "s.yaml:2:1: schema: blis.search/2: is not known"},
		{"base: chat.yaml", "base: nowhere.yaml", "s.yaml:3:1: base: nowhere.yaml: cannot be read"},
		{"base: chat.yaml\n", "base: chat.yaml\ncost: {per_hour: 2}\n", "cost: is not known: the catalog has no prices"},
		{"rank:", "ranks:", "s.yaml:12:1: ranks: unknown key"},
		{"rank:\n- {metric: output_throughput_per_accelerator}\n", "rank: []\n", "rank: 0: is not how many metrics"},
		{"metric: output_throughput_per_accelerator", "metric: output_throughput_per_acelerator", "s.yaml:13:4: rank[0].metric: output_throughput_per_acelerator: is not a metric of the registry"},
		{"{metric: output_throughput_per_accelerator}", "{metric: duration}", "rank[0].better: is missing: the metric registry gives duration no direction"},
		{"{metric: output_throughput_per_accelerator}", "{metric: ttft_mean, better: higher}", "rank[0].better: higher: is against the metric registry"},
		{"{metric: output_throughput_per_accelerator}", "{metric: duration, better: longer}", "rank[0].better: longer: is no direction"},
		{"- {metric: output_throughput_per_accelerator}\n", "- {metric: ttft_mean}\n- {metric: ttft_mean}\n", "rank[1]: ttft_mean: is stated twice"},
		{"scope: instance, aggregate: max", "scope: instances, aggregate: max", "s.yaml:15:22: constraints[0].scope: instances: is no scope"},
		{"scope: instance, aggregate: max", "scope: instance", "constraints[0].aggregate: is not how the figures of every instance become one"},
		{"scope: instance, aggregate: max", "scope: 'instance:0', aggregate: max", "constraints[0].aggregate: max: joins figures, and instance:0 has one"},
		{"scope: instance, aggregate: max", "scope: 'cluster:a'", "constraints[0].scope: cluster:a: is no scope"},
		{"scope: instance, aggregate: max", "scope: 'class:'", "constraints[0].scope: class:: is no scope"},
		{", at_most: 0.3", "", "constraints[0]: ttft_p99: states no bound, or two"},
		{"margin: 0.02", "margin: -1", "margin: -1: is no share of a figure"},
		{"margin: 0.02", "margin: 2", "s.yaml:16:1: margin: 2: is no share of a figure"},
		{"at_most: 0.3", "at_most: -0.3", "s.yaml:15:55: constraints[0].at_most: -0.3: is no value of ttft_p99"},
		{"at_most: 0.3", "at_most: 0", "constraints[0].at_most: 0: is never kept: ttft_p99 is more than 0"},
		{"metric: ttft_p99, scope: instance, aggregate: max, at_most: 0.3", "metric: attainment, at_least: 99", "constraints[0].at_least: 99: is no value of attainment, which is a share"},
		{"seeds: 5", "seeds: 4", "s.yaml:17:1: seeds: 4: is out of range"},
		{"level: 0.95", "level: 1", "level: 1: is no confidence level"},
	} {
		s := strings.Replace(good, c.from, c.to, 1)
		if s == good {
			t.Fatalf("%q is not in the example", c.from)
		}
		if _, err := open(t, s, base); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.to, err, c.want)
		}
	}
}

// What an axis sets is a place of the scenario that may vary, or the axis is refused.
func TestAxesAreRefused(t *testing.T) {
	good, base := example(t)
	const axis = "- {name: batch tokens, path: engine.args.max-num-batched-tokens, values: [1024, 4096]}"
	for _, c := range []struct{ to, want string }{
		{"- {path: engine.args.max-num-seqs}", "axes[1]: max-num-seqs: is neither a path with values nor options"},
		{"- {path: engine.args.max-num-seqs, values: [8, 8]}", "axes[1].values[1]: 8: is stated twice"},
		{"- {path: frame.seed, values: [1, 2]}", "frame.seed: does not vary"},
		{"- {path: hardwere, values: [h100_sxm]}", "hardwere: is no part of a scenario that may vary"},
		{"- {path: 'workload.clients[x]', values: [1]}", "workload.clients[x]: is no path of a scenario"},
		{"- {path: 'workload.clients[0]name', values: [1]}", "is no path of a scenario"},
		{"- {path: 'workload.clients[1].requests', values: [1]}", "has no entry [1] in the base scenario"},
		{"- {path: model.name, values: [a]}", "leads through a value that has no key name"},
		{"- {name: layout, path: model, values: [a, b]}", "axes[1].name: layout: is the name of another axis"},
		{"- {path: engine.args.tensor_parallel_size, values: [1, 2]}", "engine.args.tensor-parallel-size: is set by two axes"},
		{"- {name: x, options: [{set: {}}]}", "axes[1].options[0].name: is missing"},
		{"- {name: x, options: [{name: a, set: {engine.env: {}, engine.env.A: 1}}]}", "lies within engine.env"},
		{"- {name: x, options: [{name: a, set: {engine.args.max-num-seqs: 1, engine.args.max_num_seqs: 2}}]}", "engine.args.max_num_seqs: lies within engine.args.max-num-seqs, which the option sets too"},
		{"- {name: x, options: [{name: a, set: {engine.env: {}, engine.env-b: 1, engine.env.A: 1}}]}", "lies within engine.env"},
		{"- {path: 'workload.clients[0].request', values: [1]}", "axes[1].values[0]: 1: makes no scenario: workload.clients[0].request: unknown key"},
		{"- {path: 'workload.clients[0].arrivals.closed', values: [{concurrency: 1}]}", "axes[1].values[0]: {\"concurrency\":1}: makes no scenario: workload.clients[0].arrivals"},
		{"- {path: engine.args, values: [{max-num-seqs: 1}]}", "engine.args: is set by two axes"},
		{"- {name: x, options: [{name: a, set: {workload.clients: [], 'workload.clients[0].requests': 1}}]}", "lies within workload.clients"},
		{"- {path: cluster.instances, values: [0]}", "is set by two axes"},
		{"- {path: cluster.nodes, values: [1, 0]}", "axes[1].values[1]: 0: makes no scenario: cluster.nodes: 0: is out of range"},
	} {
		if _, err := open(t, strings.Replace(good, axis, c.to, 1), base); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.to, err, c.want)
		}
	}
	many := strings.Replace(good, axis, axis+"\n- {path: 'workload.clients[0].requests', values: ["+numbers(200)+"]}", 1)
	if _, err := open(t, many, base); err == nil || !strings.Contains(err.Error(), "more than 1000 arms") {
		t.Errorf("a grid of 1600: got %v", err)
	}
}

func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i+1))
	}
	return strings.Join(out, ",")
}

// Only what the engine's own field list calls modelled may vary: the list decides, and
// nothing else holds its names.
func TestOnlyModelledSettingsVary(t *testing.T) {
	keep.Rule(t, "CFG-3", "CFG-5")
	good, base := example(t)
	const from = "path: engine.args.max-num-batched-tokens, values: [1024, 4096]"
	for _, c := range []struct{ to, want string }{
		{"path: engine.args.max-num-batched-token, values: [1024, 4096]", "axes[1].values[0]: max-num-batched-token: is no setting of vllm main-2f41c894"},
		{"path: engine.args.host, values: [a, b]", "host: is inert in the field list of vllm main-2f41c894"},
		{"path: engine.args.enable-lora, values: [true]", "enable-lora: is not modelled in the field list of vllm"},
		{"path: engine.env.VLLM_NO_SUCH, values: ['1']", "VLLM_NO_SUCH: is no setting of vllm"},
	} {
		_, err := open(t, strings.Replace(good, from, c.to, 1), base)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.to, err, c.want)
		}
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Line != 11 {
			t.Errorf("%s: got %v, want it at line 11", c.to, err)
		}
	}
	for _, set := range []string{"engine: {kind: vllm, version: main-2f41c894, args: {host: a}}", "engine.args: {host: a}", "engine: {kind: vllm, version: main-2f41c894, env: {VLLM_NO_SUCH: a}}", "engine.env: {VLLM_NO_SUCH: a}"} {
		if _, err := open(t, "schema: blis.search/1\nbase: chat.yaml\naxes: [{name: x, options: [{name: a, set: {"+set+"}}]}]\nrank: [{metric: ttft_mean}]\n", base); err == nil || !strings.Contains(err.Error(), "s.yaml:3:") || !strings.Contains(err.Error(), "in the field list of") && !strings.Contains(err.Error(), "is no setting of") {
			t.Errorf("%s: got %v", set, err)
		}
	}
	near := strings.Replace(good, from, "path: engine.args.max-num-batched-token, values: [1024]", 1)
	if _, err := open(t, near, base); err == nil || !strings.Contains(fmt.Sprint(err.(*diag.Refusal).Hints()), "did you mean max-num-batched-tokens?") {
		t.Errorf("a slip: got %v without the nearest name", err)
	}
	row := `{"engine":"vllm","version":"v","coverage":"c","fields":[{"name":"max-num-batched-tokens","kind":"argument","status":%q,"evidence":"e"},{"name":"tensor-parallel-size","kind":"argument","status":"modelled","evidence":"e","values":["1"]}]}`
	for status, want := range map[string]string{"modelled": "", "inert": "is inert", "not_modelled": "is not modelled", "removed": "is removed"} {
		l, err := fields.Parse("f.json", fmt.Appendf(nil, row, status))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Document{"s.yaml", []byte(good)}, func(string) (Document, error) { return Document{"chat.yaml", []byte(base)}, nil }, func(string) *fields.List { return l })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", status, err, want)
		}
		if err == nil && (s.Arms[0].Refused != nil || s.Arms[2].Refused == nil || !strings.Contains(s.Arms[2].Refused.Error(), "tensor-parallel-size: 2: is not modelled at this value")) {
			t.Errorf("a value beyond the evidence: got %v and %v", s.Arms[0].Refused, s.Arms[2].Refused)
		}
	}
}

// An alias of an engine's setting is the setting: in an option, over a base that uses
// another name, and where two names of one are set.
func TestAliasesAreTheSettingTheyNameInTheirEngine(t *testing.T) {
	keep.Rule(t, "CFG-3")
	_, base := example(t)
	sglang := strings.Replace(base, "{kind: vllm, version: main-2f41c894}", "{kind: sglang, version: main-0bda0b16, args: {tp-size: 1}}", 1)
	const over = "schema: blis.search/1\nbase: chat.yaml\nrank: [{metric: ttft_mean}]\naxes:\n"
	for _, path := range []string{"tensor-parallel-size", "tensor_parallel_size", "tp", "tp-size", "tp_size"} {
		s := opened(t, over+"- {path: engine.args."+path+", values: [2]}\n", sglang)
		if args := s.Arms[0].Scenario.Engine.Args; s.Arms[0].Refused != nil || len(args) != 1 || args["tp-size"] != 2 {
			t.Errorf("%s: got %v, %v", path, args, s.Arms[0].Refused)
		}
	}
	opened(t, over+"- {name: x, options: [{name: a, set: {engine: {kind: sglang, version: main-0bda0b16, args: {tp-size: 2}}}}]}\n", base)
	opened(t, over+"- {name: x, options: [{name: a, set: {engine.kind: sglang, engine.version: main-0bda0b16, engine.args.tp: 2}}]}\n", base)
	for axes, want := range map[string]string{
		"- {name: x, options: [{name: a, set: {engine.args.tensor-parallel-size: 1, engine.args.tp: 2}}]}": "axes[0].options[0].set: engine.args.tp: sets what engine.args.tensor-parallel-size sets too",
		"- {path: engine.args.tp, values: [1]}\n- {path: engine.args.tp_size, values: [1]}":                "axes[1].values[0]: engine.args.tp_size: sets what engine.args.tp sets too",
	} {
		if _, err := open(t, over+axes+"\n", sglang); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", axes, err, want)
		}
	}
	if _, err := open(t, over+"- {path: engine.args.tp, values: [1]}\n", base); err == nil || !strings.Contains(err.Error(), "tp: is no setting of vllm") {
		t.Errorf("vllm: got %v", err)
	}
}

// The grid is every combination in declared order, the last axis fastest, and a
// combination that is no scenario is an arm with the reason.
func TestGridIsInDeclaredOrder(t *testing.T) {
	specification, base := example(t)
	s := opened(t, specification, base)
	var got []string
	for _, a := range s.Arms {
		got = append(got, fmt.Sprint(strings.Join(a.Choices, ","), a.Scenario.Engine.Args["tensor-parallel-size"], a.Scenario.Engine.Args["max-num-batched-tokens"], a.Scenario.Cluster.Instances))
	}
	want := []string{"TP1,10241 1024 1", "TP1,40961 4096 1", "TP2,10242 1024 1", "TP2,40962 4096 1", "two of TP1,10241 1024 2", "two of TP1,40961 4096 2", "TP3,10243 1024 1", "TP3,40963 4096 1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
	axes := "- {path: cluster.nodes, values: [1, 2]}\n- {name: fabric, options: [{name: own, set: {}}, {name: ib, set: {cluster.fabric: ib_ndr}}]}\n"
	s = opened(t, "schema: blis.search/1\nbase: chat.yaml\naxes:\n"+axes+"rank: [{metric: ttft_mean}]\n", base)
	for i, want := range []string{"", "cluster.fabric: ib_ndr: joins the nodes of an instance, and there is one", "", ""} {
		if r := s.Arms[i].Refused; (r == nil) != (want == "") || r != nil && r.Error() != want {
			t.Errorf("arm %d: got %v, want %q", i+1, r, want)
		}
	}
	if s.Arms[0].Scenario.Cluster.Fabric != "" || s.Arms[3].Scenario.Cluster.Fabric != "ib_ndr" {
		t.Error("an option that sets nothing changed the base, or the other did not")
	}
	spelt := opened(t, strings.Replace(specification, "max-num-batched-tokens", "max_num_batched_tokens", 1), strings.Replace(base, "main-2f41c894}", "main-2f41c894, args: {max-num-batched-tokens: 7}}", 1))
	if args := spelt.Arms[0].Scenario.Engine.Args; len(args) != 2 || args["max-num-batched-tokens"] != 1024 {
		t.Errorf("another spelling of a stated setting: got %v", args)
	}
}

// A figure that the scenario states cannot be there is refused before anything runs: of
// every arm as a mistake, of some as arms.
func TestFiguresThatCannotBeAreRefused(t *testing.T) {
	keep.Rule(t, "DEV-8")
	_, base := example(t)
	const head = "schema: blis.search/1\nbase: chat.yaml\naxes: [{path: cluster.instances, values: [1, 2]}]\nrank: ["
	labelled := strings.Replace(base, "name: chat", "name: chat\n    class: chat\n    tenant: a\n    objectives: {ttft: 1}", 1)
	for _, c := range []struct{ rank, base, want string }{
		{"{metric: ttft_mean, scope: 'class:chat'}", base, "s.yaml:4:8: rank[0]: ttft_mean of class:chat: has no figure in any arm: no client states the class chat"},
		{"{metric: ttft_mean, scope: 'class:foo'}", labelled, "no client states the class foo"},
		{"{metric: ttft_mean, scope: tenant, aggregate: max}", base, "no client states the tenant"},
		{"{metric: fairness_jain}", labelled, "fewer than two clients state a tenant of their own"},
		{"{metric: fairness_jain, scope: tenant, aggregate: min}", labelled, "it is counted for the cluster alone"},
		{"{metric: goodput}", base, "no client states objectives"},
		{"{metric: output_throughput_per_accelerator, scope: 'class:chat'}", labelled, "it is counted for the cluster, pools and instances alone"},
		{"{metric: ttft_mean, scope: 'instance:2'}", base, "the last instance is instance:1"},
		{"{metric: ttft_mean, scope: 'class:chat'}, {metric: goodput, scope: 'tenant:a'}", labelled, ""},
	} {
		_, err := open(t, head+c.rank+"]\n", c.base)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.rank, err, c.want)
		}
	}
	s := opened(t, head+"{metric: ttft_mean, scope: 'instance:1'}]\n", base)
	if s.Arms[1].Refused != nil || s.Arms[0].Refused == nil || !strings.Contains(s.Arms[0].Refused.Error(), "has no figure: the last instance is instance:0") {
		t.Errorf("got %v and %v", s.Arms[0].Refused, s.Arms[1].Refused)
	}
}
