package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

const chatScenario = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {max-num-seqs: 32}}
model: llama-3.1-8b
hardware: h100_sxm
workload:
  clients:
  - {name: a, requests: 40, arrivals: {poisson: {rate: 20}}, prompt: {uniform: {min: 10, max: 400}}, output: {fixed: 20}}
`

// blis runs the command in a directory with the given files.
func blisIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaint bytes.Buffer
	t.Chdir(dir)
	code = exit.Run(context.Background(), root(), args, &out, &complaint)
	return code, out.String(), complaint.String()
}

func withFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunPrintsOneResultWhateverWatches(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	code, plain, complaint := blisIn(t, dir, "run", "s.yaml")
	if code != 0 {
		t.Fatal(complaint)
	}
	var r spec.Result
	if err := json.Unmarshal([]byte(plain), &r); err != nil || r.Requests.Measured.Completed != 40 {
		t.Fatalf("got %v, %+v", err, r.Requests)
	}
	_, watched, _ := blisIn(t, dir, "run", "s.yaml", "--timeline", "t.json", "--plot", "p.svg", "--watch")
	if watched != plain {
		t.Error("watching a run changed its result")
	}
	b, err := os.ReadFile(filepath.Join(dir, "t.json"))
	var trace struct{ TraceEvents []map[string]any }
	if err != nil || json.Unmarshal(b, &trace) != nil || len(trace.TraceEvents) < 200 {
		t.Errorf("timeline: %v, %d events", err, len(trace.TraceEvents))
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "p.svg")); err != nil || !bytes.Contains(svg, []byte(">s.yaml: llama-3.1-8b on h100_sxm, vllm<")) || bytes.Contains(svg, []byte(">instance 0<")) {
		t.Errorf("plot: %v, %d bytes, want a title and no legend", err, len(svg))
	}
}

func TestRunLeavesNothingPartial(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": strings.Replace(chatScenario, "llama-3.1-8b", "llama-9", 1)})
	code, out, complaint := blisIn(t, dir, "run", "s.yaml", "--timeline", "t.json")
	if code != exit.Refused || out != "" || !strings.Contains(complaint, "llama-9: is not in the catalog") {
		t.Errorf("got %d, %q, %q", code, out, complaint)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left %d files, want the scenario alone", len(left))
	}
	if code, _, complaint = blisIn(t, dir, "run", "s.yaml", "--plot", "no/such/p.svg"); code != exit.Refused || !strings.Contains(complaint, "no/such/p.svg: cannot be written") {
		t.Errorf("unwritable: got %d, %q", code, complaint)
	}
}

func TestExportThenReplayGivesTheSameFigures(t *testing.T) {
	keep.Rule(t, "DEV-7")
	drafts := strings.NewReplacer("max-num-seqs: 32", "tensor-parallel-size: 8, speculative-config: {method: mtp, num_speculative_tokens: 1}", "llama-3.1-8b", "deepseek-r1", "h100_sxm", "h200_sxm",
		"workload:", "workload:\n  acceptance: {per_position: [0.6]}").Replace(chatScenario)
	for _, scenario := range []string{chatScenario, drafts} {
		dir := withFiles(t, map[string]string{"s.yaml": scenario})
		_, want, _ := blisIn(t, dir, "run", "s.yaml")
		if code, _, complaint := blisIn(t, dir, "trace", "export", "s.yaml", "--out", "t.jsonl"); code != 0 {
			t.Fatal(complaint)
		}
		code, got, complaint := blisIn(t, dir, "replay", "s.yaml", "t.jsonl")
		if code != 0 {
			t.Fatal(complaint)
		}
		var a, b spec.Result
		if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || len(a.Figures) != len(b.Figures) || len(a.Figures) == 0 {
			t.Fatalf("%d and %d figures", len(a.Figures), len(b.Figures))
		}
		for i := range a.Figures {
			if a.Figures[i].Value != b.Figures[i].Value {
				t.Errorf("%s: got %v, want %v", a.Figures[i].Metric, b.Figures[i].Value, a.Figures[i].Value)
			}
		}
	}
}

// A frame that fails is told in one line and by the exit code, beside the Result.
func TestRunThatItsFrameRejectsFails(t *testing.T) {
	cut := func(horizon string) string { return chatScenario + "frame: {stop: {horizon: " + horizon + "}}\n" }
	dir := withFiles(t, map[string]string{"cut.yaml": cut("0.001"), "s.yaml": cut("1"), "steps.yaml": strings.Replace(chatScenario, "poisson: {rate: 20}", "constant: {rate: 1000}", 1) + "frame: {stop: {horizon: 0.003}}\n"})
	for _, file := range []string{"cut.yaml", "steps.yaml"} {
		code, out, complaint := blisIn(t, dir, "run", file)
		var r spec.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Accepted || len(r.Failures) != 1 {
			t.Fatalf("%s: got %v, %v", file, err, r.Failures)
		}
		if want := "blis: " + file + ": frame: the run is not accepted: " + r.Failures[0] + "\n"; code != exit.Failed || complaint != want {
			t.Errorf("%s: got %d, %q, want %q", file, code, complaint, want)
		}
	}
	if code, _, complaint := blisIn(t, dir, "run", "s.yaml"); code != exit.Done || complaint != "" {
		t.Errorf("accepted: got %d, %q", code, complaint)
	}
	for file, want := range map[string]int{"cut.yaml": exit.Failed, "s.yaml": exit.Done} {
		if code, _, complaint := blisIn(t, dir, "trace", "export", file, "--out", "t.jsonl"); code != want {
			t.Errorf("export of %s: got %d, %q, want %d", file, code, complaint, want)
		}
	}
}

// A steady state that was not reached is told like a frame that fails, with what to change.
func TestRunThatDoesNotSettleFails(t *testing.T) {
	keep.Rule(t, "DEV-10")
	steady := func(rate, horizon string) string {
		return strings.NewReplacer("requests: 40, ", "", "rate: 20", "rate: "+rate, "fixed: 20", "fixed: 200").Replace(chatScenario) + "frame: {kind: steady_state, accept: {failed: 1, unfinished: 1}, stop: {horizon: " + horizon + "}}\n"
	}
	dir := withFiles(t, map[string]string{"short.yaml": steady("5", "10"), "over.yaml": steady("200", "20"), "s.yaml": strings.Replace(steady("5", "200"), "poisson", "constant", 1)})
	for file, want := range map[string]struct {
		code int
		says []string
	}{
		"short.yaml": {exit.Failed, []string{"blis: short.yaml: frame.kind: the steady state is incomplete: no figure is reported, since ", "ttft has ", "; raise frame.stop.horizon\n"}},
		"over.yaml":  {exit.Failed, []string{"blis: over.yaml: frame.kind: the steady state is overloaded: the backlog grows", "lower the load"}},
		"s.yaml":     {exit.Done, []string{""}},
	} {
		code, out, complaint := blisIn(t, dir, "run", file)
		var r spec.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil || !r.Accepted || code != want.code || (complaint == "") != (code == exit.Done) {
			t.Errorf("%s: got %d, %v, %q", file, code, err, complaint)
		}
		for _, w := range want.says {
			if !strings.Contains(complaint, w) {
				t.Errorf("%s: got %q, want %q", file, complaint, w)
			}
		}
	}
}

func TestDirectoryIsNoOutputFile(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "old.svg": ""})
	for _, args := range [][]string{{"run", "s.yaml", "--plot", "."}, {"run", "s.yaml", "--timeline", "."}, {"trace", "export", "s.yaml", "--out", "."}} {
		want := args[len(args)-2] + ": .: is a directory"
		if code, out, complaint := blisIn(t, dir, args...); code != exit.Refused || out != "" || !strings.Contains(complaint, want) {
			t.Errorf("%v: got %d, %q, want %q", args, code, complaint, want)
		}
	}
	if code, _, complaint := blisIn(t, dir, "run", "s.yaml", "--plot", "old.svg"); code != exit.Done {
		t.Errorf("a file that exists: got %d, %q", code, complaint)
	}
}

func TestReplayScaleHasARange(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	if code, _, complaint := blisIn(t, dir, "trace", "export", "s.yaml", "--out", "t.jsonl"); code != 0 {
		t.Fatal(complaint)
	}
	for scale, want := range map[string]string{"0": "--scale: 0: is out of range", "-1": "--scale: -1: is out of range", "1e300": "--scale: 1e+300: is out of range", "1e-9": ""} {
		code, _, complaint := blisIn(t, dir, "replay", "s.yaml", "t.jsonl", "--scale="+scale)
		if (code == exit.Done) != (want == "") || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %q, want %q", scale, code, complaint, want)
		}
	}
}

func TestCompareHasThreeOutcomes(t *testing.T) {
	keep.Rule(t, "CFG-2", "CFG-3", "CFG-4", "DEV-11")
	dir := withFiles(t, map[string]string{"a.yaml": chatScenario, "b.yaml": strings.Replace(chatScenario, "max-num-seqs: 32", "max-num-seqs: 1", 1)})
	if code, out, complaint := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--metric", "ttft_mean"); code != 0 || !strings.Contains(out, "worse") {
		t.Errorf("a queue of one: got %d, %s%s", code, out, complaint)
	}
	if code, out, complaint := blisIn(t, dir, "compare", "a.yaml", "a.yaml", "--metric", "ttft_mean", "--margin", "0.01"); code != 0 || !strings.Contains(out, "not distinguished (equivalent)") {
		t.Errorf("itself: got %d, %s%s", code, out, complaint)
	}
	_, first, _ := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--metric", "ttft_mean", "--json")
	if _, again, _ := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--metric", "ttft_mean", "--json"); first == "" || again != first {
		t.Errorf("compared twice: got %s, then %s", first, again)
	}
	for name, c := range map[string]struct {
		from, to, want string
		code           int
	}{
		"a setting the engine does not have": {"max-num-seqs", "max-num-seq", "max-num-seq", exit.Refused},
		"a run outside its conditions":       {"workload:", "frame: {stop: {horizon: 0.3}, drain: measured, accept: {failed: 0, unfinished: 0}}\nworkload:", "yaml: frame: the run is not accepted: ", exit.Failed},
	} {
		b := strings.Replace(chatScenario, c.from, c.to, 1)
		dir := withFiles(t, map[string]string{"a.yaml": b, "b.yaml": b})
		if code, out, complaint := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--metric", "ttft_mean"); code != c.code || !strings.Contains(complaint, c.want) {
			t.Errorf("%s: got %d, %s%s", name, code, out, complaint)
		}
		if code, out, complaint := blisIn(t, dir, "replicate", "b.yaml", "--metric", "ttft_mean"); code != c.code || !strings.Contains(complaint, c.want) {
			t.Errorf("%s, replicated: got %d, %s%s", name, code, out, complaint)
		}
	}
	for _, command := range [][]string{{"compare", "a.yaml", "b.yaml"}, {"replicate", "b.yaml"}} {
		for want, flags := range map[string][]string{
			"--metric: ttft_p98: is not a metric":  {"--metric", "ttft_p98"},
			"--metric: ttft_mean: is stated twice": {"--metric", "ttft_mean", "--metric", "ttft_mean"},
		} {
			if code, _, complaint := blisIn(t, dir, append(command, flags...)...); code != exit.Refused || !strings.Contains(complaint, want) {
				t.Errorf("%s: got %d, %s, want %q", command[0], code, complaint, want)
			}
		}
	}
	if code, _, complaint := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--seeds", "4"); code != exit.Refused || !strings.Contains(complaint, "too few") {
		t.Errorf("four seeds: got %d, %s", code, complaint)
	}
}

// A comparison says under what it was made and what differs in the workloads, and
// refuses two experiments.
func TestCompareSaysWhatItCompares(t *testing.T) {
	keep.Rule(t, "DEV-8", "DEV-11")
	framed := func(frame string) string {
		return strings.Replace(chatScenario, "workload:", "frame: "+frame+"\nworkload:", 1)
	}
	dir := withFiles(t, map[string]string{"a.yaml": chatScenario, "b.yaml": strings.Replace(chatScenario, "requests: 40", "requests: 30", 1),
		"seed.yaml": framed("{seed: 9, scopes: [instance]}"), "stop.yaml": framed("{stop: {requests: 20}}")})
	code, out, complaint := blisIn(t, dir, "compare", "a.yaml", "b.yaml", "--metric", "ttft_mean", "--margin", "0.1", "--json")
	var r comparison
	if code != exit.Done || json.Unmarshal([]byte(out), &r) != nil || len(r.Rows) != 1 {
		t.Fatalf("got %d, %s%s", code, out, complaint)
	}
	if r.Scope != "cluster" || r.Level != 0.95 || r.Margin != 0.1 || !strings.Contains(r.Method, "Holm") || r.First != 1 || r.Runs != 5 || len(r.Scenarios[0].SHA256) != 64 || r.Scenarios[0].SHA256 == r.Scenarios[1].SHA256 {
		t.Errorf("got %+v", r)
	}
	if want := (unlike{"workload.clients[0].requests", "40", "30"}); len(r.Workload) != 1 || r.Workload[0] != want {
		t.Errorf("got %v, want %v", r.Workload, want)
	}
	for b, want := range map[string]string{
		"b.yaml":    "workload.clients[0].requests: 40 in A, 30 in B",
		"seed.yaml": "One workload, with the same seeds, met both.",
		"stop.yaml": "stop.yaml: frame.stop.requests: 20: is not as in a.yaml: frame.stop.requests: absent in A, 20 in B",
	} {
		code, out, complaint := blisIn(t, dir, "compare", "a.yaml", b, "--metric", "ttft_mean")
		if (code == exit.Refused) != (b == "stop.yaml") || !strings.Contains(out+complaint, want) {
			t.Errorf("%s: got %d, %s%s, want %q", b, code, out, complaint, want)
		}
	}
	for _, command := range []string{"compare a.yaml a.yaml", "replicate a.yaml"} {
		code, out, complaint := blisIn(t, dir, append(strings.Fields(command), "--metric", "ttft_p99")...)
		if code != exit.Refused || !strings.Contains(complaint, "a.yaml: ttft_p99: 40 samples a run: leave none beyond the percentile") || !strings.Contains(complaint, "100 or more samples") {
			t.Errorf("%s: got %d, %s%s", command, code, out, complaint)
		}
	}
	for flag, want := range map[string]string{"--margin=2": "--margin: 2: is no share of a figure", "--level=1": "--level: 1: is no confidence level"} {
		if code, _, complaint := blisIn(t, dir, "compare", "a.yaml", "a.yaml", flag); code != exit.Refused || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %s", flag, code, complaint)
		}
	}
	for flag, want := range map[string]string{"--width=-1": "--width: -1: is out of range", "--level=1": "--level: 1: is out of range\nhint: accepted: above 0", "--limit=1": "--limit: 1: is out of range"} {
		if code, _, complaint := blisIn(t, dir, "replicate", "a.yaml", flag); code != exit.Refused || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %s", flag, code, complaint)
		}
	}
}

func TestSchemaValidateAndMetrics(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "bad.yaml": strings.Replace(chatScenario, "rate: 20", "rate: -1", 1), "r.json": `{"schema": 3}`})
	if code, out, complaint := blisIn(t, dir, "schema", "validate", "scenario", "s.yaml"); code != 0 || !strings.Contains(out, "a valid scenario") {
		t.Errorf("got %d, %s%s", code, out, complaint)
	}
	if code, _, complaint := blisIn(t, dir, "schema", "validate", "scenario", "bad.yaml"); code != exit.Refused || !strings.Contains(complaint, "bad.yaml:7") {
		t.Errorf("got %d, %s", code, complaint)
	}
	if code, _, complaint := blisIn(t, dir, "schema", "validate", "result", "r.json"); code != exit.Refused || !strings.Contains(complaint, "r.json: ") {
		t.Errorf("got %d, %s", code, complaint)
	}
	_, result, _ := blisIn(t, dir, "run", "s.yaml")
	for name, c := range map[string]struct {
		old, new string
		code     int
	}{
		"a frame without metrics": {"", "", exit.Done},
		"with some":               {`"metrics":null`, `"metrics":["ttft_p99"]`, exit.Done},
		"with a word":             {`"metrics":null`, `"metrics":"ttft_p99"`, exit.Refused},
	} {
		dir := withFiles(t, map[string]string{"r.json": strings.Replace(result, c.old, c.new, 1)})
		if code, _, complaint := blisIn(t, dir, "schema", "validate", "result", "r.json"); code != c.code {
			t.Errorf("%s: got %d, %s, want %d", name, code, complaint, c.code)
		}
	}
	if code, out, _ := blisIn(t, dir, "metrics", "ttft_p99"); code != 0 || !strings.Contains(out, "ttft_p99") {
		t.Errorf("got %d, %s", code, out)
	}
	if code, _, complaint := blisIn(t, dir, "metrics", "ttft_p98"); code != exit.Refused || !strings.Contains(complaint, "did you mean ttft_p9") {
		t.Errorf("got %d, %s", code, complaint)
	}
}

func TestBenchNamesItsWorkloads(t *testing.T) {
	dir := t.TempDir()
	code, out, complaint := blisIn(t, dir, "bench", "--workload", "w1", "--requests", "300", "--repeat", "1", "--json")
	var f benchFigures
	if code != 0 || json.Unmarshal([]byte(out), &f) != nil || f.Rate <= 0 || f.FloorRatio <= 0 {
		t.Errorf("got %d, %s%s", code, out, complaint)
	}
	code, out, complaint = blisIn(t, dir, "bench", "--workload", "mooncake", "--requests", "200", "--repeat", "1", "--json")
	if f = (benchFigures{}); code != 0 || json.Unmarshal([]byte(out), &f) != nil || f.Rate <= 0 || f.FloorRatio <= 0 {
		t.Errorf("a trace: got %d, %s%s", code, out, complaint)
	}
	if code, _, complaint := blisIn(t, dir, "bench", "--workload", "w2"); code != exit.Refused || !strings.Contains(complaint, "w1-64") {
		t.Errorf("got %d, %s", code, complaint)
	}
}

func TestReplicateStopsAtTheWidth(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "fixed.yaml": strings.Replace(strings.Replace(chatScenario, "poisson", "constant", 1), "uniform: {min: 10, max: 400}", "fixed: 50", 1)})
	code, out, complaint := blisIn(t, dir, "replicate", "s.yaml", "--metric", "ttft_mean", "--width", "0.9", "--json")
	var r replicated
	if code != 0 || json.Unmarshal([]byte(out), &r) != nil || len(r.Figures) != 1 || r.Figures[0].Interval.Runs != 5 || r.Runs != 5 || r.First != 1 || r.Scenario.Path != "s.yaml" || len(r.Scenario.SHA256) != 64 {
		t.Errorf("a wide interval: got %d, %s%s", code, out, complaint)
	}
	code, out, complaint = blisIn(t, dir, "replicate", "s.yaml", "--metric", "ttft_mean", "--width", "1e-9", "--limit", "6", "--json")
	if code != exit.Failed || json.Unmarshal([]byte(out), &r) != nil || r.Figures[0].Interval.Runs != 6 || r.Runs != 6 || !strings.Contains(complaint, "s.yaml: --width: 1e-09 is not reached within --limit 6: ttft_mean reached 0.") {
		t.Errorf("the limit: got %d, %s%s", code, out, complaint)
	}
	cut := withFiles(t, map[string]string{"cut.yaml": strings.Replace(chatScenario, "workload:", "frame: {stop: {horizon: 1}, drain: excluded}\nworkload:", 1)})
	code, out, complaint = blisIn(t, cut, "replicate", "cut.yaml", "--metric", "ttft_mean", "--width", "9", "--json")
	if code != exit.Done || json.Unmarshal([]byte(out), &r) != nil || r.Figures[0].Unfinished < 5 {
		t.Errorf("runs that end early: got %d, %s%s, want the unfinished of all", code, out, complaint)
	}
	t.Chdir(dir)
	if code, _, complaint = blisIn(t, dir, "replicate", "fixed.yaml"); code != exit.Refused || !strings.Contains(complaint, "has no random input") {
		t.Errorf("no random input: got %d, %s", code, complaint)
	}
}
