package docgen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

func sample() Input {
	c := &cobra.Command{Use: "tool", Short: "do it"}
	sub := &cobra.Command{Use: "sub FILE", Short: "one | thing", RunE: func(*cobra.Command, []string) error { return nil }}
	sub.Flags().Int("jobs", 2, "how many")
	c.AddCommand(sub)
	return Input{Commands: []*cobra.Command{c}, Layers: "NONE < a;", Records: []invariants.Record{{
		ID: "X6", Title: "Same inputs, same output", Statement: "s", Why: "w", Section: "§4", Kind: invariants.Automated, Status: invariants.CI,
		Checks: []invariants.Check{{Test: "a.TestA", When: "test", Bad: "a.TestABad"}},
	}}}
}

func TestFilesSayWhatTheirOwnersSay(t *testing.T) {
	files, err := Files(sample())
	if err != nil {
		t.Fatal(err)
	}
	has := func(page, text string) {
		t.Helper()
		if !strings.Contains(string(files[dir+page]), text) {
			t.Errorf("%s lacks %q:\n%s", page, text, files[dir+page])
		}
	}
	for _, d := range metric.All() {
		has("metrics.md", "`"+d.ID+"`")
	}
	has("commands.md", "## tool sub")
	has("commands.md", "| `--jobs` | how many | `2` |")
	has("commands.md", `One \| thing.`)
	has("rules.md", "## X6: Same inputs, same output {#x6}")
	has("rules.md", "`a.TestA`")
	has("imports.md", "NONE < a;")
	for _, n := range SchemaNames() {
		has("schemas.md", n)
	}
}

func TestSchemasCompileAndReject(t *testing.T) {
	for _, n := range SchemaNames() {
		compile(t, n)
	}
	p := record.Point{UnitID: "u", Differences: []string{}, Conditions: []record.Condition{}, Metrics: map[string]record.Metric{}}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, "point", b); err != nil {
		t.Errorf("a point was rejected: %v", err)
	}
	if err := validate(t, "point", []byte(strings.Replace(string(b), `"unit_id"`, `"unitid"`, 1))); err == nil {
		t.Error("a point with an unknown key was accepted")
	}
	if _, err := Schema("pint"); err == nil || !strings.Contains(err.Error(), "has no schema") {
		t.Errorf("got %v, want a refusal", err)
	}
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	b, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func validate(t *testing.T, name string, b []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, name).Validate(doc)
}
