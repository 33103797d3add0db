package ledger

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func benchServing(t testing.TB) (results []Input, launch Input) {
	t.Helper()
	for _, name := range []string{"sweep_c8.json", "sweep_c4.json", "launch.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", "benchserving", name))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, Input{name, data})
	}
	return results[:2], results[2]
}

func TestBenchmarkServingResultsBecomeUnits(t *testing.T) {
	results, launch := benchServing(t)
	l, err := IngestBenchmarkServing(results, launch, Published{SeedSHA256: zeros})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Units) != 2 || l.Report.RoleKeys != 1 || l.Report.Records != (Records{Read: 2, Kept: 2}) {
		t.Fatalf("got %d units, %d role keys, %+v, want 2 units of one sweep", len(l.Units), l.Report.RoleKeys, l.Report.Records)
	}
	u, r := recordOf(t, l, "sweep_c4")
	if r.Line != 1 || u.Concurrency != 4 || *u.MeasuredDate != "2026-01-02" || u.Version() != "0.22.0" {
		t.Errorf("got line %d, concurrency %d, %s, %s", r.Line, u.Concurrency, *u.MeasuredDate, u.Version())
	}
	for id, want := range map[string]float64{"ttft_mean": 0.101, "ttft_p50": 0.0909, "ttft_p99": 0.202, "tpot_p90": 0.01313} {
		if got, ok := u.Measured(id); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: got %v, %v, want %v", id, got, ok, want)
		}
	}
	if c, ok := u.AchievedConcurrency(); !ok || math.Abs(c-3.92) > 1e-9 {
		t.Errorf("concurrency: got %v, %v, want 40 requests in 51 s of 4.998 s each", c, ok)
	}
	c, _ := u.RecordedConfiguration()
	if *c.Client.NumPrompts != 40 || *c.Client.MaxConcurrency != 4 || *c.Client.NumWarmups != 2 || c.Client.RandomRangeRatio != 0.8 {
		t.Errorf("client: got %+v", c.Client)
	}
}

// What is ingested is written, read back and written again as the same bytes.
func TestBenchmarkServingLedgerRoundTrips(t *testing.T) {
	results, launch := benchServing(t)
	launch.Data = []byte(strings.Replace(string(launch.Data), `"metadata"`, `"logged":{"resolved":{"max-model-len":8192},"libraries":{"flashinfer":"0.7"}},"metadata"`, 1))
	l, err := IngestBenchmarkServing(results, launch, Published{SeedSHA256: zeros})
	if err != nil {
		t.Fatal(err)
	}
	fsys := mapFS(t, l)
	again, err := Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range mapFS(t, again) {
		if string(f.Data) != string(fsys[name].Data) {
			t.Errorf("%s: other bytes after reading", name)
		}
	}
	if c, _ := again.Units[0].RecordedConfiguration(); c.Logged == nil || c.Logged.Libraries["flashinfer"] != "0.7" || fmt.Sprint(c.Logged.Resolved["max-model-len"]) != "8192" {
		t.Errorf("the engine's log: got %+v", c.Logged)
	}
}

func TestBenchmarkServingRefusals(t *testing.T) {
	for _, c := range []struct{ name, old, new, want, accepted string }{
		{"unknown key", `"completed"`, `"completely"`, "completely: unknown key", `"completed"`},
		{"another model", "example/model-8b", "example/model-9b", "is another run's", "example/model-8b"},
		{"no mean", `"mean_ttft_ms": 101`, `"mean_ttft_ms": null`, "mean_ttft_ms: null: is missing or not above 0", `"mean_ttft_ms": 101`},
		{"not a number", `"mean_tpot_ms": 10.1`, `"mean_tpot_ms": "10.1"`, "mean_tpot_ms", `"mean_tpot_ms": 10.1`},
		{"open loop", `"max_concurrency": 4`, `"max_concurrency": null`, "max_concurrency: null: is missing or not a count", `"max_concurrency": 5`},
		{"percentiles fall", `"p99_ttft_ms": 202`, `"p99_ttft_ms": 100`, "ttft.p99: 100: is not a percentile", `"p99_ttft_ms": 131.4`},
		{"no date", "20260102-030405", "today", "date: ", "20260102-030406"},
		{"repeated key", `"completed": 40`, `"completed": 40, "completed": 41`, "repeats a key", `"completed": 39`},
		{"endless", `"duration": 51.0`, `"duration": 1e999`, "duration: 1e999", `"duration": 1e99`},
	} {
		t.Run(c.name, func(t *testing.T) {
			try := func(with string) error {
				results, launch := benchServing(t)
				if !strings.Contains(string(results[1].Data), c.old) {
					t.Fatalf("the fixture does not hold %s", c.old)
				}
				results[1].Data = []byte(strings.ReplaceAll(string(results[1].Data), c.old, with))
				_, err := IngestBenchmarkServing(results, launch, Published{})
				return err
			}
			if err := try(c.new); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "sweep_c4.json") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err := try(c.accepted); err != nil {
				t.Errorf("closest accepted: got %v", err)
			}
		})
	}
}

func TestBenchmarkServingLaunchRefusals(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"moving version (D3)", `"0.22.0"`, `"latest"`, "version: latest: is not a revision"},
		{"moving branch (D3)", `"0.22.0"`, `"main"`, "version: main: is not a revision"},
		{"unknown version (D3)", `"0.22.0"`, `"unknown"`, "version: unknown: is not a revision"},
		{"no hardware", `"h200_sxm"`, `""`, "hardware: is missing"},
		{"speculation", `"speculation": "none"`, `"speculation": "off"`, "speculation: off"},
		{"no length", `"input_len": 1000`, `"input_len": 0`, "client.input_len: 0"},
		{"count stated twice", `"num_prompts": null`, `"num_prompts": 40`, "client.num_prompts: is stated here"},
		{"unknown key", `"hardware"`, `"hard ware"`, "unknown key"},
	} {
		results, launch := benchServing(t)
		launch.Data = []byte(strings.Replace(string(launch.Data), c.old, c.new, 1))
		if _, err := IngestBenchmarkServing(results, launch, Published{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	_, launch := benchServing(t)
	if _, err := IngestBenchmarkServing(nil, launch, Published{}); err == nil || !strings.Contains(err.Error(), "no result files") {
		t.Errorf("an empty directory: got %v", err)
	}
}

// A program shown a unit that is unmeasured can read no value of it.
func TestUnmeasuredHoldsNoValue(t *testing.T) {
	keep.Rule(t, "X8")
	results, launch := benchServing(t)
	l, err := IngestBenchmarkServing(results, launch, Published{})
	if err != nil {
		t.Fatal(err)
	}
	u := &l.Units[0]
	blind := u.Unmeasured()
	for _, id := range Metrics() {
		if v, ok := blind.Measured(id); ok {
			t.Errorf("%s: got %v, want nothing", id, v)
		}
		if _, ok := u.Measured(id); !ok {
			t.Errorf("%s: the unit itself lost its value", id)
		}
	}
	if blind.Measurements[0].Totals != nil || len(blind.Configurations) != 1 || blind.ID != u.ID {
		t.Errorf("got %+v, want identity and configuration alone", blind)
	}
}

func mapFS(t testing.TB, l *Ledger) fstest.MapFS {
	t.Helper()
	files, err := l.Files()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: data}
	}
	return fsys
}

func FuzzIngestBenchmarkServing(f *testing.F) {
	results, launch := benchServing(f)
	f.Add(results[0].Data, launch.Data)
	f.Fuzz(func(t *testing.T, result, launch []byte) {
		l, err := IngestBenchmarkServing([]Input{{"r.json", result}}, Input{"launch.json", launch}, Published{SeedSHA256: zeros})
		if err != nil {
			return
		}
		if _, err := Open(mapFS(t, l)); err != nil {
			t.Fatalf("Open refuses what the ingest made: %v", err)
		}
	})
}
