package convert

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	xrand "math/rand/v2"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
	"gonum.org/v1/gonum/stat/distuv"
)

func read(t *testing.T, names ...string) []File {
	t.Helper()
	var out []File
	for _, n := range names {
		b, err := os.ReadFile("testdata/" + n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, File{n, b})
	}
	return out
}

// sent is a request as a replay hands it over when every response is immediate.
type sent struct {
	at             int64
	prompt, output int
	session        int64
	segments       []workload.Segment
}

// drain converts, opens and replays; each request ends service later.
func drain(t *testing.T, format string, service int64, files []File) []sent {
	t.Helper()
	var b bytes.Buffer
	if err := To(&b, format, files); err != nil {
		t.Fatal(err)
	}
	sources, _, err := workload.OpenTrace("t.jsonl", b.Bytes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	var out []sent
	for _, s := range sources {
		for s.Due() != workload.Never {
			now := s.Due()
			var r workload.Request
			s.Take(now, &r)
			out = append(out, sent{now, r.PromptTokens(), r.Length, r.Session, append([]workload.Segment(nil), r.Prompt...)})
			s.Ended(now+service, workload.End{Session: r.Session, Completed: true, Output: r.Length})
		}
	}
	return out
}

func TestMooncakeKeepsTimesLengthsAndSharedBlocks(t *testing.T) {
	keep.Rule(t, "DEV-7")
	files := read(t, "mooncake.jsonl")
	got := drain(t, "mooncake", 0, files)
	for i, line := range strings.Split(strings.TrimSpace(string(files[0].Data)), "\n") {
		var r struct {
			Timestamp, Input_length, Output_length int
			Hash_ids                               []int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if got[i].at != int64(r.Timestamp)*1000 || got[i].prompt != r.Input_length || got[i].output != r.Output_length {
			t.Errorf("request %d: got %+v, want %+v", i, got[i], r)
		}
		at := 0
		for _, s := range got[i].segments {
			for k := 0; k < s.Count; k += mooncakeBlock {
				if id := (s.Start + k) / mooncakeBlock; id != r.Hash_ids[at] {
					t.Errorf("request %d, block %d: got id %d, want %d", i, at, id, r.Hash_ids[at])
				}
				at++
			}
		}
	}
}

func TestAzureKeepsTimesAndLengths(t *testing.T) {
	files := read(t, "azure.csv")
	got := drain(t, "azure", 0, files)
	rows, _ := csv.NewReader(bytes.NewReader(files[0].Data)).ReadAll()
	if len(got) != len(rows)-1 {
		t.Fatalf("got %d requests, want %d", len(got), len(rows)-1)
	}
	for i, r := range rows[1:] {
		if p, _ := strconv.Atoi(r[1]); got[i].prompt != p {
			t.Errorf("row %d: got %d prompt tokens, want %d", i, got[i].prompt, p)
		}
	}
	if got[1].at != 52_000 { // 18:17:03.9799600 to 18:17:04.0319600
		t.Errorf("second request at %d us, want 52000", got[1].at)
	}
	for _, at := range []string{"2023-11-16 18:17:09,1,1\n2023-11-16 18:17:09.0070000,1,1\n", "2024-05-10 00:00:00+00:00,1,1\n2024-05-10 01:00:00.007000+01:00,1,1\n"} {
		got := drain(t, "azure", 0, []File{{"a", []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n" + at)}})
		if len(got) != 2 || got[0].at != 0 || got[1].at != 7000 {
			t.Errorf("%s: got %v, want 0 and 7000 us", at, got)
		}
	}
}

// Times count from the earliest request, wherever it is listed.
func TestRowsOutOfTimeOrder(t *testing.T) {
	const second, first = "2023-11-16 18:17:03.0000000,7,1\n", "2023-11-16 18:17:01.0000000,5,1\n"
	for format, data := range map[string]string{
		"azure":          "TIMESTAMP,ContextTokens,GeneratedTokens\n" + second + first,
		"vllm":           `{"request_rate": 2.0, "input_lens": [7, 5], "output_lens": [1, 1], "start_times": [9, 7]}`,
		"inference-perf": `{"spans": [` + otelCall("a", "10:00:02") + `, ` + otelCall("b", "10:00:00") + `]}`,
	} {
		got := drain(t, format, 0, []File{{"f", []byte(data)}})
		if len(got) != 2 || got[0].at != 0 || got[1].at != 2_000_000 {
			t.Errorf("%s: got %+v, want requests at 0 and 2 s", format, got)
		}
	}
}

// Files of one recording keep the time between them.
func TestFilesShareOneOrigin(t *testing.T) {
	keep.Rule(t, "DEV-7")
	const tables = `{"0": {"input_tokens": "{5: 1}", "output_tokens": "{5: 1}"}}`
	for format, files := range map[string][]File{
		"azure":          {{"b", []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:27:01.0000000,5,1\n")}, {"a", []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:01.0000000,5,1\n")}},
		"inference-perf": {{"b", []byte(`{"spans": [` + strings.ReplaceAll(otelCall("a", "10:10:00"), "10:00:09", "10:10:09") + `]}`)}, {"a", []byte(`{"spans": [` + otelCall("b", "10:00:00") + `]}`)}},
		"servegen":       {{"b-trace.csv", []byte("600,1,1,Gamma,1,1\n")}, {"b-dataset.json", []byte(tables)}, {"a-trace.csv", []byte("0,1,1,Gamma,1,1\n")}, {"a-dataset.json", []byte(tables)}},
	} {
		got := drain(t, format, 0, files) // the later file first
		k := slices.IndexFunc(got[1:], func(s sent) bool { return s.at < got[0].at }) + 1
		if k == 0 || got[0].at < 600_000_000 || got[k].at > 20_000_000 {
			t.Errorf("%s: files begin at %d and %d us, want ten minutes apart from 0", format, got[0].at, got[k].at)
		}
	}
}

// Where a file lies changes no draw; another name is another client.
func TestDrawsAreNamedByTheFileAlone(t *testing.T) {
	keep.Rule(t, "DEV-6")
	const trace, tables = "0,1,1,Gamma,1,1\n", `{"0": {"input_tokens": "{5: 0.5, 9: 0.5}", "output_tokens": "{5: 1}"}}`
	at := func(name string) string {
		return fmt.Sprint(drain(t, "servegen", 0, []File{{name + "-trace.csv", []byte(trace)}, {name + "-dataset.json", []byte(tables)}}))
	}
	if at("x") != at("some/where/x") || at("x") == at("y") {
		t.Error("the draws of x are not its own, wherever it lies")
	}
}

// otelCall is a span of an OpenTelemetry trace of its own.
func otelCall(id, start string) string {
	return fmt.Sprintf(`{"trace_id": %q, "span_id": %[1]q, "start_time": "2026-02-26T%s", "end_time": "2026-02-26T10:00:09", "attributes": {"gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 1}}`, id, start)
}

func TestInferencePerfKeepsSessions(t *testing.T) {
	keep.Rule(t, "DEV-7")
	got := drain(t, "inference-perf", 1_000_000, read(t, "otel_prefix_sharing.json"))
	lengths := map[int64][]int{}
	for _, s := range got {
		lengths[s.session] = append(lengths[s.session], s.prompt)
	}
	if want := "map[0:[50] 1:[45] 2:[100 180 270 380] 3:[40]]"; fmt.Sprint(lengths) != want {
		t.Errorf("prompt tokens by session: got %v, want %v", lengths, want)
	}
}

func TestBenchmarkServingIsAClosedLoopInListOrder(t *testing.T) {
	f := File{"run.json", []byte(`{"request_rate": "inf", "max_concurrency": 2, "input_lens": [5, 6, 7, 8], "output_lens": [1, 2, 3, 4]}`)}
	got := drain(t, "vllm", 10, []File{f})
	var order []int
	for _, s := range got {
		order = append(order, s.prompt)
	}
	if fmt.Sprint(order) != "[5 6 7 8]" || got[2].at != 10 {
		t.Errorf("got %v, third at %d", order, got[2].at)
	}
}

// ServeGen's windows are drawn from, so the check is a two-sample test against
// draws by an independent implementation of its families and tables.
func TestServeGenDrawsItsOwnModel(t *testing.T) {
	keep.Rule(t, "DEV-7")
	got := drain(t, "servegen", 0, read(t, "reason-deepseek-r1-chunk-2-trace.csv", "reason-deepseek-r1-chunk-2-dataset.json"))
	windows, err := serveGenWindows(read(t, "reason-deepseek-r1-chunk-2-trace.csv")[0])
	if err != nil || len(windows) != 1 {
		t.Fatalf("%d active windows, %v", len(windows), err)
	}
	w := windows[0]
	if want := w.rate * serveGenWindow; float64(len(got)) < 0.7*want || float64(len(got)) > 1.3*want {
		t.Errorf("got %d requests, want about %.0f", len(got), want)
	}
	var gaps []float64
	for i := 1; i < len(got); i++ {
		gaps = append(gaps, float64(got[i].at-got[i-1].at)/1e6)
	}
	var own []float64
	src := xrand.NewPCG(1, 2)
	for range 3000 {
		g := distuv.Gamma{Alpha: w.shape, Beta: w.shape * w.rate, Src: src}.Rand()
		if w.family == "Weibull" {
			d := distuv.Weibull{K: w.shape, Lambda: 1, Src: src}
			g = d.Rand() / d.Mean() / w.rate
		}
		own = append(own, g)
	}
	if p := analysis.TwoSample(gaps, own); p < 0.001 {
		t.Errorf("gaps between arrivals: p = %v", p)
	}
	tables, err := serveGenTables(read(t, "reason-deepseek-r1-chunk-2-dataset.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	m := tables.at(w.start).input
	var inputs, table []float64
	for _, s := range got {
		inputs = append(inputs, float64(s.prompt))
	}
	pick := distuv.Uniform{Min: 0, Max: m.cumulative[len(m.cumulative)-1], Src: src}
	for range 3000 {
		u, i := pick.Rand(), 0
		for m.cumulative[i] < u {
			i++
		}
		table = append(table, float64(m.values[i]))
	}
	if p := analysis.TwoSample(inputs, table); p < 0.001 {
		t.Errorf("input lengths: p = %v", p)
	}
}

// Of ServeGen's two files, the smallest change that is refused.
func TestServeGenRefusals(t *testing.T) {
	keep.Rule(t, "SIM-9")
	const trace, tables = "600,1,1,Gamma,1,1\n", `{"600": {"input_tokens": "{10: 1}", "output_tokens": "{1: 0.5, 2: 0.5}"}}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"Gamma", "Weibull", ""},
		{"Gamma", "Poisson", "x-trace.csv:1: family: Poisson: is not Gamma or Weibull with a positive shape"},
		{"Gamma,1,", "Gamma,0,", "x-trace.csv:1: family: Gamma: is not Gamma or Weibull with a positive shape"},
		{"600,1,", "600,-1,", "is not Gamma or Weibull with a positive shape"},
		{"600,1,", "600,x,", "x-trace.csv:1: x: is no number of a window"},
		{"600,1,", "600,1000000001,", "x-trace.csv:1: 1000000001: is no number of a window"},
		{"600,1,1,", "600,1,", "x-trace.csv:1: [600 1 Gamma 1 1]: is not start, rate, cv, family and two parameters"},
		{"600,1,", "600,\"1,", "x-trace.csv: "},
		{`"600"`, `"601"`, "x-dataset.json: 600: has no token table at or before an active window"},
		{`"600"`, `"599"`, ""},
		{`"600"`, `"now"`, "x-dataset.json: now: is not a time"},
		{"{10: 1}", "{10: 1.01}", "x-dataset.json: 600.input_tokens: \"10: 1.01\" is not length: probability"},
		{"{10: 1}", "{10: 0}", "x-dataset.json: 600.input_tokens: the probabilities add up to nothing"},
		{"{1: 0.5,", "{-1: 0.5,", "x-dataset.json: 600.output_tokens: \"-1: 0.5\" is not length: probability"},
	} {
		edit := func(s string) []byte { return []byte(strings.Replace(s, c.old, c.new, 1)) }
		err := To(new(bytes.Buffer), "servegen", []File{{"x-trace.csv", edit(trace)}, {"x-dataset.json", edit(tables)}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// The smallest change to an accepted input that is refused.
func TestRefusals(t *testing.T) {
	keep.Rule(t, "SIM-9")
	cases := []struct{ format, name, data, want string }{
		{"mooncake", "m", `{"timestamp": 0, "input_length": 513, "output_length": 1, "hash_ids": [1]}`, "m:1: hash_ids: 1: do not cover 513 tokens"},
		{"mooncake", "m", `{"timestamp": -1, "input_length": 5, "output_length": 1, "hash_ids": [1]}`, "m:1: timestamp: -1: is out of range"},
		{"mooncake", "m", `{"timestamp": 1000000000000001, "input_length": 5, "output_length": 1, "hash_ids": [1]}`, "m:1: timestamp: 1000000000000001: is out of range"},
		{"mooncake", "m", `{"timestamp": 1000000000000000, "input_length": 5, "output_length": 1, "hash_ids": [1]}`, ""},
		{"mooncake", "m", `{"timestamp": 0.5, "input_length": 5, "output_length": 1, "hash_ids": [1]}`, "timestamp: 0.5: is of the wrong type or out of its range"},
		{"mooncake", "m", `{"input_length": 5, "output_length": 1, "hash_ids": [1]}`, "m:1: timestamp: is missing"},
		{"mooncake", "m", `{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [-1]}`, "m:1: hash_ids[0]: -1: is out of range"},
		{"mooncake", "m", `{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [0]}`, ""},
		{"mooncake", "m", `{"timestamp": 0, "input_length": 5, "output_length": 0, "hash_ids": [0]}`, "m:1: output_length: 0: is out of range"},
		{"mooncake", "m", `{"timestamp": 0, "input_length": 5, "output_length": 2147483648, "hash_ids": [0]}`, "m:1: output_length: 2147483648: is out of range"},
		{"mooncake", "m", `{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}`, ""},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,0,10\n", "a:2: ContextTokens: 0: is out of range"},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n\n2023-11-16 18:17:03.9799600,1,99999999999\n", "a:3: GeneratedTokens: 99999999999: is out of range"},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16,1,10\n", "a:2: TIMESTAMP: 2023-11-16: is not a time"},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,1\n", "a:2: "},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,1,10\n", ""},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5], "output_lens": [1]}`, "start_times"},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5], "output_lens": [1], "start_times": [3]}`, ""},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5], "output_lens": [2147483648], "start_times": [3]}`, "v: output_lens[0]: 2147483648: is out of range"},
		{"servegen", "x-trace.csv", "0,1,1,Gamma,1,1\n", "has no x-dataset.json"},
		{"inference-perf", "i", `{"spans": [{"trace_id": "a", "span_id": "b", "start_time": "2026-02-26T10:00:00.0", "end_time": "2026-02-26T10:00:01.0", "attributes": {}}]}`, "spans.b: states no gen_ai.usage"},
		{"csv", "c", "", "--from: csv: is not a format"},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "a: holds no request"},
		{"azure", "a", "TIMESTAMP,ContextTokens,Generated\n", "a:1: TIMESTAMP,ContextTokens,Generated: is not the header"},
		{"azure", "a", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,1.5,10\n", "a:2: ContextTokens: 1.5: is not a count of tokens"},
		{"vllm", "v", `{"request_rate": 2.0, "start_times": [3]}`, "v: input_lens: 0: and output_lens do not list the requests"},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5, 5], "output_lens": [1], "start_times": [3]}`, "v: input_lens: 2: and output_lens do not list the requests"},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5], "output_lens": [0], "start_times": [3]}`, "v: output_lens[0]: 0: is a failed request"},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5, 5], "output_lens": [1, 1], "start_times": [0, 1.1e12]}`, "v: start_times[1]: 1.1e+12: is a time no run reaches"},
		{"vllm", "v", `{"request_rate": 2.0, "input_lens": [5, 5], "output_lens": [1, 1], "start_times": [0, 1e12]}`, ""},
		{"inference-perf", "i", `{"spans": [` + strings.Replace(otelCall("a", "10:00:09"), "10:00:09\", \"attr", "10:00:08\", \"attr", 1) + `]}`, "i: spans.a: 2026-02-26T10:00:09: has no start and end time in order"},
		{"inference-perf", "i", `{"spans": [` + otelCall("a", "10:00:09") + `]}`, ""},
		{"inference-perf", "i", `{"spans": [` + otelCall("a", "10:00:01") + "," + otelCall("a", "10:00:09") + `]}`, "i: spans.a: 5: does not continue the call before it"},
		{"inference-perf", "i", `{"spans": [` + otelCall("a", "10:00:01") + "," + strings.Replace(otelCall("a", "10:00:09"), `prompt_tokens": 5`, `prompt_tokens": 7`, 1) + `]}`, ""},
	}
	for _, c := range cases {
		err := To(new(bytes.Buffer), c.format, []File{{c.name, []byte(c.data)}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.format, c.data, err, c.want)
		}
	}
	twin := []File{{"a/x-trace.csv", []byte("0,1,1,Gamma,1,1\n")}, {"a/x-dataset.json", nil}, {"b/x-trace.csv", []byte("0,1,1,Gamma,1,1\n")}, {"b/x-dataset.json", nil}}
	if err := To(new(bytes.Buffer), "servegen", twin); err == nil || !strings.Contains(err.Error(), "b/x-trace.csv: has the name of another client's file") {
		t.Errorf("two clients of one name: got %v", err)
	}
}
