package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
)

// seats varies how many requests a batch may hold; two options are one configuration.
const seats = `schema: blis.search/1
base: s.yaml
axes:
- name: seats
  options:
  - {name: one, set: {engine.args.max-num-seqs: 1}}
  - {name: base, set: {}}
  - {name: stated, set: {engine.args.max-num-seqs: 32}}
- {name: layout, path: engine.args.tensor-parallel-size, values: [1, 3]}
rank: [{metric: ttft_mean}]
`

func searched(t *testing.T, dir string, args ...string) *search.Report {
	t.Helper()
	code, out, complaint := blisIn(t, dir, append([]string{"search", "seats.yaml", "--json"}, args...)...)
	r := new(search.Report)
	if err := json.Unmarshal([]byte(out), r); err != nil || code != exit.Done || complaint != "" {
		t.Fatalf("got %d, %v, %s", code, err, complaint)
	}
	return r
}

// A search finds what is better by construction, ties what is one configuration, and
// refuses a layout in the engine's own words.
func TestSearchRanksTiesAndRefuses(t *testing.T) {
	keep.Rule(t, "CFG-4", "T-M2")
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": seats})
	r := searched(t, dir)
	if len(r.Arms) != 6 || len(r.Order) != 3 || r.Order[2] != 1 || r.Arms[0].Standing != search.Worse {
		t.Fatalf("got the order %v, a queue of one is %q", r.Order, r.Arms[0].Standing)
	}
	if a := r.Arms[4]; r.Arms[2].Standing != search.Best || a.Standing != search.NotTold || a.Differences[0].Value != 0 || !a.Differences[0].Equivalent {
		t.Errorf("one configuration twice: got %q and %+v", r.Arms[2].Standing, a)
	}
	for _, n := range []int{1, 3, 5} {
		if a := r.Arms[n]; a.Status != "refused" || !strings.Contains(a.Reason, "must be divisible by tensor parallel size (3)") || a.Standing != "" {
			t.Errorf("TP3: got %s, %q", a.Status, a.Reason)
		}
	}
	if a := r.Arms[2].Run; a.Method == "" || a.Upstream.Version == "" || a.Scenario == "" || a.Accelerators != 1 {
		t.Errorf("got %+v", a)
	}
	code, out, complaint := blisIn(t, dir, "search", "seats.yaml")
	for _, want := range []string{"6 arms of s.yaml, each run with the seeds 1 to 5", "1=     base", "1=     stated", "not told apart, 0.0% [0.0%, 0.0%] equivalent", "\n3 comparisons: differences beyond", "Not ranked:", "least trusted method: ", "not known whether an extrapolation: no summary", "Experimental: "} {
		if code != exit.Done || !strings.Contains(out, want) {
			t.Errorf("got %d, %s%s, want %q", code, out, complaint, want)
		}
	}
}

// Equal inputs give equal bytes, whatever the number of workers, and the report is what
// its schema says.
func TestSearchDependsOnItsInputsAlone(t *testing.T) {
	keep.Rule(t, "CFG-2", "X6")
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": seats})
	var first string
	for i, jobs := range []string{"1", "2", "9"} {
		code, out, complaint := blisIn(t, dir, "search", "seats.yaml", "--json", "--watch", "--jobs", jobs, "--plot", jobs+".svg")
		if code != exit.Done {
			t.Fatal(complaint)
		}
		if i > 0 && out != first {
			t.Errorf("--jobs %s gives another report", jobs)
		}
		first = out
	}
	one, err := os.ReadFile("1.svg")
	if err != nil || !bytes.Contains(one, []byte("1=:  stated, 1")) {
		t.Errorf("the plot: %v, %d bytes", err, len(one))
	}
	if nine, _ := os.ReadFile("9.svg"); !bytes.Equal(one, nine) {
		t.Error("--jobs 9 gives another plot")
	}
	if err := os.WriteFile("report.json", []byte(first), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, complaint := blisIn(t, dir, "schema", "validate", "search-report", "report.json"); code != exit.Done {
		t.Error(complaint)
	}
	other := strings.Replace(seats, "rank:", "margin: 0.5\nrank:", 1)
	if _, out, _ := blisIn(t, withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": other}), "search", "seats.yaml", "--json"); out == first || out == "" {
		t.Error("another specification gives the same report")
	}
}

// What would run over a plot is shortened by whole letters, or broken before its unit.
func TestLongNamesInAPlotAreShortened(t *testing.T) {
	long := strings.Repeat("界", mostLetters+1)
	if got := shortened(long); got != strings.Repeat("界", mostLetters-1)+"…" || shortened(got) != got {
		t.Errorf("got %q", got)
	}
	axis := axisOf(&search.Figure{Metric: "output_throughput_per_accelerator", Aggregate: "max", Scope: "instance", Unit: "tokens/s"})
	if axis.Label != "max output_throughput_per_accelerator of instance\n(tokens/s)" {
		t.Errorf("got %q", axis.Label)
	}
}

// A front of two metrics is drawn with the arms that miss a constraint.
func TestSearchDrawsTheFront(t *testing.T) {
	front := strings.Replace(seats, "rank: [{metric: ttft_mean}]", "rank: [{metric: ttft_mean}, {metric: output_throughput_per_accelerator}]\nconstraints: [{metric: e2e_p99, at_most: 0.5}]", 1)
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": front})
	if code, out, complaint := blisIn(t, dir, "search", "seats.yaml", "--plot", "front.svg"); code != exit.Done || !strings.Contains(out, "constraint not met") || !strings.Contains(out, "on the front, tied with seats=base layout=1") || strings.Count(out, "\n1= ") != 2 {
		t.Fatalf("got %d, %s%s", code, out, complaint)
	}
	if svg, err := os.ReadFile("front.svg"); err != nil || !bytes.Contains(svg, []byte("triangles: a constraint is not met")) || !bytes.Contains(svg, []byte("squares: on the front")) {
		t.Errorf("%v, %d bytes", err, len(svg))
	}
}

// What cannot be searched is refused before anything runs, and nothing is left of a plot.
func TestSearchRefuses(t *testing.T) {
	keep.Rule(t, "CFG-3", "CFG-4", "CFG-5")
	for _, c := range []struct{ from, to, want string }{
		{"base: s.yaml", "base: none.yaml", "seats.yaml:2:1: base: none.yaml: cannot be read"},
		{"ttft_mean", "ttft_men", "hint: accepted: did you mean ttft_mean?"},
		{"max-num-seqs: 1}", "max-num-seq: 1}", "hint: accepted: did you mean max-num-seqs?"},
		{"max-num-seqs: 1}", "host: a}", "host: is inert in the field list of vllm"},
		{"{metric: ttft_mean}", "{metric: ttft_mean, scope: clusters}", "did you mean cluster?"},
	} {
		dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": strings.Replace(seats, c.from, c.to, 1)})
		for _, args := range [][]string{{"search", "seats.yaml", "--plot", "p.svg"}, {"schema", "validate", "search", "seats.yaml"}} {
			if code, out, complaint := blisIn(t, dir, args...); code != exit.Refused || out != "" || !strings.Contains(complaint, c.want) {
				t.Errorf("%v: got %d, %q, want %q", args, code, complaint, c.want)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("%s: left %v", c.to, left)
		}
	}
	dir := withFiles(t, map[string]string{"s.yaml": strings.Replace(chatScenario, "h100_sxm", "h1000", 1), "seats.yaml": seats, "summary.json": "{}"})
	for args, want := range map[string]string{
		"search seats.yaml --plot p.svg":             "none of 6 arms could be ranked; p.svg was not written",
		"search seats.yaml --plot s.yaml":            "--plot: s.yaml: is an input of this command too",
		"search seats.yaml --plot s.png":             "--plot: s.png: does not end in .svg",
		"search seats.yaml --jobs 0":                 "--jobs: 0: is out of range",
		"search seats.yaml --jobs -1":                "--jobs: -1: is out of range",
		"search seats.yaml --sensitivity -1":         "--sensitivity: -1: is out of range",
		"search seats.yaml --summary no.json":        "no.json: cannot be read",
		"search seats.yaml --summary summary.json":   "points.json: cannot be read",
		"search seats.yaml --plot p.svg --catalog x": "x: cannot be opened as a data directory",
	} {
		code, out, complaint := blisIn(t, dir, strings.Fields(args)...)
		wantCode := exit.Refused
		if strings.Contains(want, "could be ranked") {
			if wantCode = exit.Failed; !strings.Contains(out, "h1000: is not in the catalog") || !strings.Contains(out, "seats=one layout=1, 3 ") || !strings.Contains(out, "none of which runs") {
				t.Errorf("%s: got %s", args, out)
			}
		}
		if code != wantCode || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %q, want %q", args, code, complaint, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("left %v", left)
	}
	if code, _, complaint := blisIn(t, withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": seats}), "schema", "validate", "search", "seats.yaml"); code != exit.Done {
		t.Error(complaint)
	}
}

// A report names its release and the release's data, or says that it is experimental.
func TestSearchNamesItsReleaseOrIsExperimental(t *testing.T) {
	keep.Rule(t, "CFG-1")
	over := copied(t, catalog.EmbeddedFS(), chipFile, narrower, true)
	for _, c := range []struct {
		version      string
		paths        world.Paths
		release      string
		experimental int
	}{
		{"v1.2.3", world.Paths{}, "v1.2.3", 0},
		{"v1.2.3+dirty", world.Paths{}, "unreleased", 1},
		{"(devel)", world.Paths{}, "unreleased", 1},
		{"v1.2.3", world.Paths{CatalogOverlays: []string{over}}, "v1.2.3", 1},
		{"(devel)", world.Paths{CatalogOverlays: []string{over}}, "unreleased", 2},
	} {
		w, err := world.Open(c.paths)
		if err != nil {
			t.Fatal(err)
		}
		r := new(search.Report)
		sign(r, &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}, w)
		if r.Build.Release != c.release || r.Build.Commit != "abc+modified" || len(r.Experimental) != c.experimental || len(r.Inputs.Data) != 2 {
			t.Errorf("%s over %v: got %+v, %q", c.version, c.paths, r.Build, r.Experimental)
		}
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	own := record.Build{Catalog: w.Sources[0].SHA256, Registry: w.Sources[1].SHA256}
	other := own
	other.Registry = "another"
	for _, c := range []struct {
		accuracy     search.Accuracy
		experimental int
	}{{search.Accuracy{Build: own}, 0}, {search.Accuracy{Build: other}, 1}, {search.Accuracy{Build: own, Experimental: "Only some units."}, 1}} {
		r := &search.Report{Inputs: search.Inputs{Accuracy: &c.accuracy}}
		if sign(r, &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, w); len(r.Experimental) != c.experimental {
			t.Errorf("a summary of %+v: got %q", c.accuracy.Build, r.Experimental)
		}
	}
	r := searched(t, withFiles(t, map[string]string{"s.yaml": chatScenario, "seats.yaml": seats}), "--catalog-overlay", over)
	if len(r.Experimental) == 0 || r.Inputs.Data[0].SHA256 == "" || len(r.Inputs.SpecSHA256) != 64 || len(r.Inputs.Base.SHA256) != 64 {
		t.Errorf("got %+v, %q", r.Inputs, r.Experimental)
	}
}

// An arm that drafts names what supplied its acceptance, and in what it is another's.
func TestSearchNamesTheAcceptanceOfEachArm(t *testing.T) {
	keep.Rule(t, "CFG-5", "D8")
	base := strings.NewReplacer("max-num-seqs: 32", "tensor-parallel-size: 8", "llama-3.1-8b", "qwen3.5-397b-a17b", "h100_sxm", "h200_sxm", "requests: 40", "requests: 2",
		"workload:", "workload:\n  acceptance: {profile: coding/thinking_on}").Replace(chatScenario)
	const drafts = "schema: blis.search/1\nbase: s.yaml\naxes: [{name: drafts, options: [{name: none, set: {}}, " +
		"{name: eight, set: {engine.args.speculative-config: {method: mtp, num_speculative_tokens: 8}}}, {name: nine, set: {engine.args.speculative-config: {method: mtp, num_speculative_tokens: 9}}}]}]\n" +
		"rank: [{metric: tpot_mean}]\n"
	dir := withFiles(t, map[string]string{"s.yaml": base, "seats.yaml": drafts})
	r := searched(t, dir)
	for i, want := range []string{"", "exact", "other_k"} {
		u := r.Arms[i].Run.Acceptance
		if (len(u) == 0) != (want == "") || len(u) > 0 && (u[0].Step != want || u[0].Source == "" || (len(u[0].Differs) == 0) != (want == "exact")) {
			t.Errorf("arm %d: got %+v, want the step %q", i+1, u, want)
		}
	}
	exact := searched(t, dir, "--exact-acceptance")
	if a := exact.Arms[2]; a.Status != "refused" || !strings.Contains(a.Reason, "none may be borrowed") || !exact.Inputs.ExactAcceptance {
		t.Errorf("exact alone: got %s, %q", a.Status, a.Reason)
	}
	if _, out, _ := blisIn(t, dir, "search", "seats.yaml"); !strings.Contains(out, "(other_k, another ") {
		t.Errorf("the table does not say what is borrowed:\n%s", out)
	}
}

// The base scenario's trace is found beside it, and a search that is interrupted in its
// middle says so alone.
func TestSearchReadsBesideItsBaseAndStops(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	if err := os.Mkdir(filepath.Join(dir, "base"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, complaint := blisIn(t, dir, "trace", "export", "s.yaml", "--out", "base/t.jsonl"); code != exit.Done {
		t.Fatal(complaint)
	}
	replayed := strings.Split(chatScenario, "workload:")[0] + "workload: {trace: {path: t.jsonl}}\n"
	for file, text := range map[string]string{"base/replay.yaml": replayed, "seats.yaml": strings.Replace(seats, "s.yaml", "base/replay.yaml", 1)} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, complaint := blisIn(t, dir, "search", "seats.yaml"); code != exit.Done || !strings.Contains(out, "one run each: nothing is drawn") {
		t.Errorf("got %d, %s%s", code, out, complaint)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	err := each(ctx, 2, 50, func(ctx context.Context, i int) error {
		if i == 3 {
			cancel()
		}
		return canceled(ctx)
	}, func() { done++ })
	if err == nil || done >= 50 {
		t.Errorf("got %v after %d pieces, want an interruption", err, done)
	}
}

// The example of the page on choosing a configuration runs, and says why TP3 does not.
func TestTheExampleOfASearchRuns(t *testing.T) {
	code, out, complaint := blisIn(t, filepath.Join("..", "..", "sim", "search", "testdata"), "search", "layouts.yaml")
	for _, want := range []string{"8 arms of chat.yaml", "max ttft_p99 of instance (s) at most 0.3", "layout=TP3 batch tokens=1024, 4096  refused", "Prices moved to the ends of their 95% intervals"} {
		if code != exit.Done || !strings.Contains(out, want) {
			t.Errorf("got %d, %s%s, want %q", code, out, complaint, want)
		}
	}
}
