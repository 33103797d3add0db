package docgen

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// everyDefault states what no scenario of the project does, so that each default is tried.
const everyDefault = `{schema: blis.scenario/1, model: m, hardware: h, engine: {kind: plain, version: "1"},
cluster: {instances: 1, nodes: 1}, router: {policy: round_robin},
workload: {clients: [{name: a, requests: 9, arrivals: {poisson: {rate: 4, windows: [{start: 0, end: 5, factor: 0}]}},
  prompt: {fixed: 9}, output: {fixed: 9}, prefixes: [{name: p, tokens: 9, share: 0}],
  session: {rounds: {fixed: 2}, think: {uniform: {min: 0, max: 1}}}},
  {name: b, requests: 9, arrivals: {closed: {concurrency: 1, think: {normal: {mean: 0, std: 0, min: 0, max: 1}}}}, prompt: {fixed: 9}, output: {fixed: 9}}]},
frame: {kind: terminating, seed: 0, generator: sha256-pcg/1, initial_state: empty, drain: measured, unfinished: excluded, accept: {failed: 0, unfinished: 0}}}`

const everyDefaultOfTheRest = `{schema: blis.scenario/1, model: m, hardware: h, engine: {kind: plain, version: "1"}, workload: `

// scenarios are those of the project, by file, and those above.
func scenarios(t *testing.T) map[string][]byte {
	out := map[string][]byte{
		"defaults": []byte(everyDefault),
		"trace":    []byte(everyDefaultOfTheRest + "{trace: {path: t.jsonl, scale: 1}}}"),
		"template": []byte(everyDefaultOfTheRest + "{inferencex: {release: inferencex-843c6254, isl: 100, osl: 9, range_ratio: 0.5, num_prompts: 9, concurrency: 2, chat_template: {subtract: 0, add: 0}}}}"),
	}
	root := os.DirFS("..")
	for _, pattern := range []string{"sim/testdata/*/*/scenario.yaml", "sim/search/testdata/*.yaml"} {
		files, err := fs.Glob(root, pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			text, err := fs.ReadFile(root, f)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "schema: "+spec.Schema) {
				out[f] = text
			}
		}
	}
	return out
}

// TestTheSchemaRefusesNoScenarioThatRuns leaves each key of each scenario out in turn: what the
// program takes, the schema takes, and where it states a default the two scenarios are one.
func TestTheSchemaRefusesNoScenarioThatRuns(t *testing.T) {
	keep.Rule(t, "SUB-19")
	text, err := Schema("scenario")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"given that all before it were accepted; " + spec.FromShares, "mean and std are of the natural logarithm"} {
		if !strings.Contains(string(text), says) {
			t.Errorf("the schema does not say %q", says)
		}
	}
	p := prober{schema: compile(t, "scenario"), raw: raw, tried: map[string]bool{}}
	all := scenarios(t)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		var doc map[string]any
		if err := yaml.Unmarshal(all[file], &doc); err != nil {
			t.Fatal(err)
		}
		if whole, refused := p.judge(t, doc); whole == "" || refused != nil {
			t.Fatalf("%s: the program takes it: %v; the schema: %v", file, whole != "", refused)
		}
		p.walk(t, doc, doc, raw["$ref"].(string), file)
	}
	for name, d := range raw["$defs"].(map[string]any) {
		for key, property := range d.(map[string]any)["properties"].(map[string]any) {
			if _, ok := property.(map[string]any)["default"]; ok && !p.tried[name+"."+key] {
				t.Errorf("no scenario states %s.%s, which has a default", name, key)
			}
		}
	}
}

type prober struct {
	schema *jsonschema.Schema
	raw    map[string]any
	tried  map[string]bool // definition.key of each default seen
}

// judge gives the hash of the scenario that the program reads, "" when it refuses it, and
// what the schema says.
func (p *prober) judge(t *testing.T, doc map[string]any) (hash string, refused error) {
	t.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := spec.Parse("s", b); err == nil {
		if hash, err = s.Hash(); err != nil {
			t.Fatal(err)
		}
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return hash, p.schema.Validate(v)
}

// walk leaves out each key of a mapping that is of a definition, and goes on below it.
func (p *prober) walk(t *testing.T, doc, in map[string]any, ref, at string) {
	name := path.Base(ref)
	properties := p.raw["$defs"].(map[string]any)[name].(map[string]any)["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(in)) {
		value, property := in[key], properties[key].(map[string]any)
		delete(in, key)
		without, refused := p.judge(t, doc)
		if without != "" && refused != nil {
			t.Errorf("%s.%s: the program takes a %s without it, the schema does not: %v", at, key, name, refused)
		}
		if standard, ok := property["default"]; ok {
			p.tried[name+"."+key] = true
			in[key] = standard
			if with, _ := p.judge(t, doc); with != without {
				t.Errorf("%s.%s: %v is not what its absence means", at, key, standard)
			}
		}
		in[key] = value
		p.below(t, doc, value, property, at+"."+key)
	}
}

// below goes into the mappings of a value.
func (p *prober) below(t *testing.T, doc map[string]any, value any, property map[string]any, at string) {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := property["$ref"].(string); ok {
			p.walk(t, doc, v, ref, at)
		}
	case []any:
		if items, ok := property["items"].(map[string]any); ok {
			for _, e := range v {
				p.below(t, doc, e, items, at)
			}
		}
	}
}
