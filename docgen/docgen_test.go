package docgen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

func sample() Input {
	c := &cobra.Command{Use: "tool", Short: "do it"}
	sub := &cobra.Command{Use: "sub FILE", Short: "one | thing", RunE: func(*cobra.Command, []string) error { return nil }}
	sub.Flags().Int("count", 2, "how many")
	c.AddCommand(sub)
	l, err := invariants.ParseLayers("layers.txt", "NONE < a; a < b < c;")
	if err != nil {
		panic(err)
	}
	return Input{Commands: []*cobra.Command{c}, Layers: l, Policy: "NONE < a;", Packages: map[string]string{"a": "Package a knows a."}, Prices: []Price{{"step", 0.01, "measured"}}, Records: []invariants.Record{{
		ID: "X6", Title: "Same inputs, same output", Statement: "s", Why: "w", Section: "§4", Kind: invariants.Automated, Status: invariants.CI,
		Checks: []invariants.Check{{Test: "a.TestA", When: "test", Bad: "a.TestABad"}, {Test: "a.TestB", Bad: "a.TestB", Break: &invariants.Break{File: "a/a.go", From: "x", To: "y\n\tz"}}}, Ask: "Is it so?", Applies: "it may not be", Practice: "People do p.",
	}, {ID: "X20", Title: "In one form", Statement: "s", Why: "w", Section: "§4", Kind: invariants.Automated, Status: invariants.CI, Guidance: "Write one line."}}}
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
	has("commands.md", "| `--count` | how many | `2` |")
	has("commands.md", `One \| thing.`)
	has("invariants.md", "## X6: Same inputs, same output {#X6}")
	has("checks.md", "`a.TestA`, which must reject what `a.TestABad` feeds it")
	has("checks.md", "`a.TestB`, which must fail when `a/a.go` reads `y z` for `x`")
	has("maintainers.md", "## X6: Same inputs, same output {#X6}\n\nPeople do p.")
	has("invariants.md", "- maintainers keep: People do p.")
	has("invariants.md", "- authors of a change follow: Write one line.")
	if want := "- X20: Write one line.\n"; !strings.Contains(string(files["AGENTS.md"]), want) {
		t.Errorf("AGENTS.md lacks %q", want)
	}
	has("invariants.md", "this page was made without one")
	run := &invariants.Run{Commit: "c0ffee", Tree: "t", Rules: []invariants.Measured{{ID: "X6", Declared: invariants.CI, Checks: 2, Proven: 1, Failed: []string{"a.TestB"}}, {ID: "X20", Declared: invariants.CI}}}
	files[dir+"measured.md"] = Measured(files[dir+"invariants.md"], sample().Records, run)
	has("measured.md", "url: /reference/invariants/")
	has("measured.md", "commit `c0ffee`, whose sources have the digest `t`: 0 rules held and 1 failed, 1 have no check. Of 2 checks, 1 were seen")
	has("measured.md", "| automated | failed, 1 of 2 checks |")
	if strings.Contains(string(files[dir+"measured.md"]), "made without one") {
		t.Error("the page of a run says that it was made without one")
	}
	has("prices.md", "| step | 10 | measured |")
	has("index.md", "[Metrics](/reference/metrics/)")
	has("imports.md", "NONE < a;")
	for _, n := range SchemaNames() {
		has("schemas.md", n)
	}
}

func TestSchemasCompileAndReject(t *testing.T) {
	keep.Rule(t, "COV-11", "SUB-2", "SUB-19", "X15")
	for _, n := range SchemaNames() {
		compile(t, n)
	}
	p := record.Point{UnitID: "u", Differences: []string{}, Conditions: []record.Condition{}, Metrics: map[string]record.Metric{}}
	b, err := json.Marshal(record.PointFile{Point: &p})
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

func TestAgentsAndTemplateAskWhatRecordsAsk(t *testing.T) {
	files, err := Files(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"AGENTS.md", ".github/pull_request_template.md"} {
		if text := string(files[f]); !strings.Contains(text, "X6, when it may not be: Is it so?") {
			t.Errorf("%s does not ask:\n%s", f, text)
		}
	}
	if text := string(files["AGENTS.md"]); !strings.Contains(text, "- `a`: Package a knows a.") {
		t.Errorf("AGENTS.md lacks the folder a:\n%s", text)
	}
}

func TestGraphDrawsEveryPackageOnceAboveWhatItImports(t *testing.T) {
	svg := graph(sample().Layers)
	y := map[string]int{}
	for _, p := range []string{"a", "b", "c"} {
		if n := strings.Count(svg, ">"+p+"</text>"); n != 1 {
			t.Fatalf("%s is drawn %d times", p, n)
		}
		head, _, _ := strings.Cut(svg, ">"+p+"</text>")
		var x, at int
		if _, err := fmt.Sscanf(head[strings.LastIndex(head, "<rect"):], `<rect x="%d" y="%d"`, &x, &at); err != nil {
			t.Fatal(err)
		}
		y[p] = at
	}
	if !(y["c"] < y["b"] && y["b"] < y["a"]) {
		t.Errorf("got heights %v, want c above b above a", y)
	}
	if n := strings.Count(svg, "<path"); n != 2 { // c to a is implied
		t.Errorf("got %d edges, want 2", n)
	}
}

func TestCompareNamesEveryStaleFile(t *testing.T) {
	files := map[string][]byte{"AGENTS.md": []byte("a\nb\n"), dir + "x.md": []byte("x"), dir + "y.md": []byte("y"), dir + "z.md": []byte("a\nb\nc\n")}
	root := fstest.MapFS{"AGENTS.md": {Data: []byte("c\nc\n")}, dir + "x.md": {Data: []byte("x")}, dir + "z.md": {Data: []byte("a\nd\ne\nb\n")}, dir + "old.md": {}, dir + "other.md": {}}
	got, err := Stale(files, root, dir+"other.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`AGENTS.md:1: is "c", its owner says "a", the first of 2 lines`, dir + "y.md: is missing",
		dir + `z.md:2: is "d", its owner says "b", and has 5 lines, its owner 4`, dir + "old.md: is rendered by nothing; delete it"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
