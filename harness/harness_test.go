package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// port is an engine kind that only has a name and a field list.
type port struct {
	engines.Kind
	name string
	list *fields.List
}

func (p port) Name() string               { return p.name }
func (p port) Upstream() engines.Upstream { return engines.Upstream{Version: "main-test"} }
func (p port) Fields() *fields.List       { return p.list }
func (p port) Explain(engines.Spec, engines.Environment) ([]engines.Resolved, *plan.PoolPlan, error) {
	return nil, nil, errors.New("not called")
}

// world runs every scenario to one fixed figure.
func world(t testing.TB, kinds ...engines.Kind) *World {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return &World{Catalog: c, Engines: kinds, Build: map[string]string{"program": "test"},
		Simulate: func(s *spec.Scenario) (*spec.Result, error) {
			return &spec.Result{Schema: spec.ResultSchema, Accepted: true, Engines: []spec.EngineRun{{Accelerators: 1}}, Settings: []spec.Setting{{Name: "block-size", Value: "16"}}}, nil
		}}
}

func measured(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// list builds a field list; each row is a JSON object without its evidence.
func list(t testing.TB, rows ...string) *fields.List {
	t.Helper()
	for i, r := range rows {
		rows[i] = strings.Replace(r, "{", `{"evidence":"test",`, 1)
	}
	l, err := fields.Parse("fields.json", []byte(`{"engine":"e","version":"v","coverage":"","fields":[`+strings.Join(rows, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// everything models every argument and variable that occurs in the ledger.
func everything(t testing.TB, l *ledger.Ledger) *fields.List {
	names := map[string]string{}
	for i := range l.Units {
		for _, c := range l.Units[i].Configurations {
			for _, p := range leaves(c.ServerArgs) {
				names[p.path] = "argument"
			}
			for k := range c.Env {
				names[k] = "environment"
			}
		}
	}
	var rows []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, `{"name":"`+n+`","kind":"`+names[n]+`","status":"modelled"}`)
	}
	return list(t, rows...)
}

// unit is a copy of an embedded fit unit with the given server arguments.
func unit(t testing.TB, args string) *ledger.Unit {
	t.Helper()
	l := measured(t)
	for u := range l.ByRole(ledger.Fit) {
		if c, _ := u.RecordedConfiguration(); u.Framework == "vllm" && c != nil && c.Match == "unique" {
			b, err := canon.JSON(u)
			if err != nil {
				t.Fatal(err)
			}
			cp := new(ledger.Unit)
			if err := json.Unmarshal(b, cp); err != nil {
				t.Fatal(err)
			}
			if args != "" {
				cp.Configurations[0].ServerArgs, cp.Configurations[0].Env = nil, nil
				dec := json.NewDecoder(strings.NewReader(args))
				dec.UseNumber()
				if err := dec.Decode(&cp.Configurations[0].ServerArgs); err != nil {
					t.Fatal(err)
				}
			}
			return cp
		}
	}
	t.Fatal("no vLLM unit on the fit list")
	return nil
}

func try(t testing.TB, w *World, u *ledger.Unit) *record.Trial {
	t.Helper()
	trial, err := w.Try(u)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

// §11.4: code that the modelled release does not ship comes before every reason but
// its own, and what the release ships stays with the field's status.
func TestCodeNotVisible(t *testing.T) {
	keep.Rule(t, "COV-5")
	rows := []string{
		`{"name":"worker-cls","kind":"argument","status":"not_modelled","loads_code":true,"values":["auto"]}`,
		`{"name":"logits-processors","kind":"argument","status":"not_modelled","loads_code":true}`,
		`{"name":"other","kind":"argument","status":"not_modelled"}`,
	}
	for _, c := range []struct {
		args string
		want record.Reason
	}{
		{`{"worker-cls":"mine.Worker","other":1}`, record.CodeNotVisible},
		{`{"other":1,"worker-cls":"mine.Worker"}`, record.CodeNotVisible},
		{`{"worker-cls":"auto"}`, record.FieldNotModelled},
		{`{"worker-cls":"vllm.v1.worker.Worker"}`, record.FieldNotModelled},
		{`{"logits-processors":["vllm.a.B","mine.C"]}`, record.CodeNotVisible},
		{`{"logits-processors":["vllm.a.B"]}`, record.FieldNotModelled},
		{`{"other":1}`, record.FieldNotModelled},
	} {
		l := list(t, slices.Clone(rows)...)
		l.Engine = "vllm"
		got := try(t, world(t, port{name: "vllm", list: l}), unit(t, c.args)).Refusal
		if got == nil || got.Reason != c.want {
			t.Errorf("%s: got %+v, want %s", c.args, got, c.want)
		}
	}
}

// §11.4, X4: no policy of llm-d can be stated in a scenario, so a run behind any router is not
// scored, llm-d's own included, and what the router table says of it is the reason.
func TestRouters(t *testing.T) {
	keep.Rule(t, "COV-5", "X4")
	overlay := fstest.MapFS{
		"sources/theirs.yaml": {Data: []byte("schema: blis.source/v1\nid: theirs\ntitle: T\nrepository: o/r\nrevision: 71f4f0999f95b96c49a9d0c4afbd18dfdb943c26\npath: p\nlicence: none stated\n")},
		"routers/r.yaml": {Data: []byte("schema: blis.router/v1\nname: r\ntitle: R\nmodes:\n" +
			"  - {mode: turn, policy: round-robin, evidence: both take turns, sources: [theirs, theirs]}\n" +
			"  - {mode: tree, none_close: it guesses hits, evidence: both scorers, sources: [theirs, theirs]}\n")},
	}
	c, err := catalog.Open(catalog.EmbeddedFS(), overlay)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		router *ledger.Router
		says   string // of the refusal; empty: scored
	}{
		{nil, ""},
		{&ledger.Router{Name: "llm-d", Mode: "any"}, "router llm-d any: no policy of it is simulated"},
		{&ledger.Router{Name: "r", Mode: "turn"}, "router r turn: the router table maps it to llm-d round-robin, which is not simulated"},
		{&ledger.Router{Name: "r", Mode: "turn", Affinity: "on"}, "router r turn on: the router table has no entry"},
		{&ledger.Router{Name: "r", Mode: "tree"}, "it guesses hits"},
		{&ledger.Router{Name: "q", Mode: "turn"}, "does not know it"},
	} {
		w := world(t, port{name: "vllm", list: list(t)})
		w.Catalog = c
		u := unit(t, "{}")
		u.Configurations[0].Router = k.router
		got := try(t, w, u)
		if (got.Refusal == nil) != (k.says == "") || got.Refusal != nil && (got.Refusal.Reason != record.RouterUnsupported || !strings.Contains(got.Refusal.Detail, k.says)) {
			t.Errorf("%+v: got %+v, want %q", k.router, got.Refusal, k.says)
		}
	}
}

// Every unit of both engines: the engine block says exactly what the run passed,
// and the frame what the client was given (COV-3, COV-10).
func TestScenarioEqualsTheRecord(t *testing.T) {
	keep.Rule(t, "COV-3", "COV-10", "X19")
	l := measured(t)
	all := everything(t, l)
	w := world(t, port{name: "vllm", list: all}, port{name: "sglang", list: all})
	stated := 0
	for i := range l.Units {
		u := &l.Units[i]
		trial := try(t, w, u)
		if trial.Refusal != nil {
			continue
		}
		stated++
		c, _ := u.RecordedConfiguration()
		got, want := flat(trial.Scenario.Engine.Args), flat(c.ServerArgs)
		if !maps.Equal(got, want) || !maps.Equal(trial.Scenario.Engine.Env, c.Env) {
			t.Errorf("unit %s: states %v %v, recorded %v %v", u.ID, got, trial.Scenario.Engine.Env, want, c.Env)
		}
		x, k := trial.Scenario.Workload.InferenceX, c.Client
		if x.ISL != k.InputLen || x.OSL != k.OutputLen || x.RangeRatio != k.RandomRangeRatio || x.Prompts != *k.NumPrompts || x.Concurrency != *k.MaxConcurrency {
			t.Errorf("unit %s: frame %+v, recorded %+v", u.ID, x, k)
		}
		if k.NumWarmups != nil && *x.Warmups != *k.NumWarmups {
			t.Errorf("unit %s: %d warm-ups, recorded %d", u.ID, *x.Warmups, *k.NumWarmups)
		}
	}
	if stated < 600 {
		t.Errorf("stated %d units, want most of the launched ones", stated)
	}
}

// flat reads nested arguments independently of package code: path to JSON text.
func flat(args map[string]any) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			for k, e := range m {
				walk(path+"."+k, e)
			}
			return
		}
		b, _ := json.Marshal(v)
		path = strings.TrimPrefix(path, ".")
		if top, rest, ok := strings.Cut(path, "."); ok {
			path = strings.ReplaceAll(top, "_", "-") + "." + rest
		}
		out[path] = string(b)
	}
	walk("", args)
	return out
}

func TestReasons(t *testing.T) {
	keep.Rule(t, "COV-5", "COV-10")
	modelled := list(t, `{"name":"a","kind":"argument","status":"modelled"}`, `{"name":"n","kind":"argument","status":"not_modelled"}`,
		`{"name":"gone","kind":"argument","status":"removed"}`, `{"name":"E","kind":"environment","status":"modelled"}`,
		`{"name":"v","kind":"argument","status":"not_modelled","rule":{"do":"unset","reason":"r","valid_when":["1"]}}`,
		`{"name":"old","kind":"argument","status":"removed","rule":{"do":"rename","field":"a","reason":"r"}}`,
		`{"name":"lost","kind":"argument","status":"removed","rule":{"do":"rename","field":"n","reason":"r"}}`)
	configured := func(f func(*ledger.Configuration)) func(*ledger.Unit) {
		return func(u *ledger.Unit) { f(&u.Configurations[0]) }
	}
	for _, c := range []struct {
		name, args string
		change     func(*ledger.Unit)
		want       record.Reason
		detail     string
	}{
		{"other engine", "", func(u *ledger.Unit) { u.Framework = "trtllm" }, record.EngineUnsupported, "trtllm"},
		{"disaggregated", "", func(u *ledger.Unit) { u.Serving.Disagg = true }, record.TopologyUnsupported, "separate engines"},
		{"no launch facts", "", func(u *ledger.Unit) { u.Measurements[0].Configuration = nil }, record.ValueNotRecorded, "no launch facts"},
		{"ambiguous launch", "", configured(func(c *ledger.Configuration) { c.Match = "ambiguous" }), record.ValueNotRecorded, "several launches"},
		{"speculation unknown", "", configured(func(c *ledger.Configuration) { c.Speculation = "unknown" }), record.ValueNotRecorded, "speculative"},
		{"no prompts", "", configured(func(c *ledger.Configuration) { c.Client.NumPrompts = nil }), record.ValueNotRecorded, "num_prompts"},
		{"constant concurrency", "", configured(func(c *ledger.Configuration) { c.Client.MaxConcurrency = nil }), record.ValueNotRecorded, "max_concurrency"},
		{"unknown client", "", configured(func(c *ledger.Configuration) { c.Client.Repo = "x/y" }), record.ValueNotRecorded, "x/y"},
		{"other dataset", "", configured(func(c *ledger.Configuration) { c.Client.Dataset = "sharegpt" }), record.ValueNotRecorded, "sharegpt"},
		{"unknown model", "", configured(func(c *ledger.Configuration) { c.Checkpoint = new(string) }), record.NotInCatalog, "model"},
		{"unknown chip", "", func(u *ledger.Unit) { u.Hardware = "tpu" }, record.NotInCatalog, "chip tpu"},
		{"two launches", "", func(u *ledger.Unit) {
			other := u.Configurations[0]
			other.Speculation = "mtp"
			u.Configurations = append(u.Configurations, other)
		}, record.ValueConflict, "speculation"},
		{"not modelled", `{"n":1,"a":2}`, nil, record.FieldNotModelled, "n=1: test"},
		{"value outside the rule", `{"v":2}`, nil, record.FieldNotModelled, "v=2: the rule stands in for 1 alone"},
		{"removed", `{"gone":true}`, nil, record.FieldNotInRelease, "gone=true"},
		{"unclassified", `{"what":1}`, nil, record.FieldUnclassified, "what=1"},
		{"an argument is no variable", `{"E":1}`, nil, record.FieldUnclassified, "E=1"},
		{"successor not modelled", `{"lost":1}`, nil, record.FieldNotModelled, "its stand-in n is not modelled"},
		{"two names of one setting", `{"old":1,"a":2}`, nil, record.ValueConflict, "a: passed as 2 and as 1"},
		{"first reason wins", `{"gone":1,"what":2,"n":3}`, nil, record.FieldNotModelled, "n=3"},
		{"a setting before the catalog", `{"n":3}`, func(u *ledger.Unit) { u.Hardware = "tpu" }, record.FieldNotModelled, "n=3"},
		{"a router before a setting", `{"n":3}`, configured(func(c *ledger.Configuration) { c.Router = &ledger.Router{Name: "q"} }), record.RouterUnsupported, "router q"},
		{"a missing value before the catalog", "", func(u *ledger.Unit) { u.Hardware, u.Configurations[0].Client.NumPrompts = "tpu", nil }, record.ValueNotRecorded, "num_prompts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := unit(t, cmp.Or(c.args, `{"a":1}`))
			if c.change != nil {
				c.change(u)
			}
			trial := try(t, world(t, port{name: "vllm", list: modelled}), u)
			if trial.Refusal == nil || trial.Refusal.Reason != c.want || !strings.Contains(trial.Refusal.Detail, c.detail) {
				t.Errorf("got %+v, want %s with %q", trial.Refusal, c.want, c.detail)
			}
			if trial.Result != nil || trial.Scenario != nil {
				t.Error("a refused trial holds a result")
			}
		})
	}
}

// A trial names every setting that blocks it, whatever reason it is refused for.
func TestEverySettingThatBlocksIsNamed(t *testing.T) {
	keep.Rule(t, "COV-5", "COV-7")
	l := list(t, `{"name":"n","kind":"argument","status":"not_modelled"}`, `{"name":"gone","kind":"argument","status":"removed"}`)
	got := try(t, world(t, port{name: "vllm", list: l}), unit(t, `{"gone":1,"n":3,"what":2}`)).Refusal
	want := []record.Blocked{
		{Reason: record.FieldNotInRelease, Setting: "gone", Value: "1", Why: "test"}, {Reason: record.FieldNotModelled, Setting: "n", Value: "3", Why: "test"},
		{Reason: record.FieldUnclassified, Setting: "what", Value: "2", Why: "the engine's field list does not have it"},
	}
	if got == nil || got.Reason != record.FieldNotModelled || !slices.Equal(got.Settings, want) {
		t.Errorf("got %+v, want %s and %+v", got, record.FieldNotModelled, want)
	}
}
