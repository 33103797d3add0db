package site

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// What browser/simulator.mjs reports.
type ranPoint struct {
	Wrong, Violations []string
	Text              string
	Again             []string // what it says, run by run
	Good              bool
	Bytes, Narrow     int
}

type ranBench struct {
	Wrong, Violations                                                []string
	Start, Published, Changed, Burst, Permalink, Back                []string
	Refused, Reloaded                                                []string // here, after a refusal; what was measured of the start, when opened again
	Claim, Another, Extrapolation, Unmeasured, URL, Refusal, Stopped string
	Took                                                             []float64 // change by change
	Parts, Narrow                                                    int
}

type simulatorReport struct {
	Light, Dark struct {
		Point     ranPoint
		Workbench ranBench
	}
	Result, Figure ranPoint
	Tampered       string
	First, Hovered []float64 // from the click to the verdict, page by page
	Abort, Deaf    stoppedRun
}

type stoppedRun struct {
	Wrong          []string
	Progress, Said string // when it was told to stop, and after
	Took           float64
}

// Bounds of what a reader waits for: the least of a few times, so that other work on the machine
// says nothing.
const (
	mostModule   = 3_000_000 // bytes that travel
	mostLoading  = 5.0       // seconds, the embedded data opened
	mostFirst    = 5.0       // seconds from a click to the first verdict, the module in the browser's cache
	mostRunning  = 1.0       // seconds of a typical unit
	mostStopping = 2.0       // seconds from Stop to the next possible run, whatever runs
	mostChange   = 2.0       // seconds from a key to the new figures
)

const typical = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {max-num-seqs: 64, tensor-parallel-size: 1}}
model: llama-3.1-8b
checkpoint: meta-llama/Llama-3.1-8B-Instruct
hardware: h100_sxm
workload: {inferencex: {release: inferencex-843c6254, isl: 1024, osl: 128, range_ratio: 0.8, num_prompts: 80, concurrency: 8}}
`

// simulated is a release in which the unit short was really simulated, and the scenario of long
// runs for minutes.
func simulated(t *testing.T) (in page.Input, short, long string) {
	t.Helper()
	in = sitetest.Release(60)
	var graded []*record.Point
	for i := range in.Points {
		if in.Points[i].Grade != record.G5 {
			graded = append(graded, &in.Points[i])
		}
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	var result *spec.Result
	for i, p := range graded[:3] {
		s, err := spec.Parse("typical", []byte(typical))
		if err != nil {
			t.Fatal(err)
		}
		switch x := s.Workload.InferenceX; i {
		case 0:
			if result, err = w.Run(s); err != nil {
				t.Fatal(err)
			}
		case 1:
			x.Prompts, x.Concurrency, x.OSL = 40000, 512, 2000
		case 2: // what the first becomes with another concurrency
			x.Prompts, x.Concurrency = 120, 12
			*x.Warmups = *x.Warmups * 12 / 8
		}
		p.ISL, p.OSL, p.Concurrency = s.Workload.InferenceX.ISL, s.Workload.InferenceX.OSL, s.Workload.InferenceX.Concurrency
		p.Trial.Scenario, p.Trial.Result = s, result
		for id, m := range p.Metrics {
			f, ok := result.Figure(id, "cluster")
			if !ok {
				t.Fatalf("no %s", id)
			}
			m.Simulated = f.Value
			p.Metrics[id] = m
		}
	}
	return in, graded[0].UnitID, graded[1].UnitID
}

func TestTheSimulatorRunsInABrowser(t *testing.T) {
	module, err := wasm.Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, short, long := simulated(t)
	o := options(t, filepath.Join(t.TempDir(), "public"), "")
	o.Simulator = module
	if err := Build(context.Background(), in, o); err != nil {
		t.Fatal(err)
	}
	units, err := json.Marshal(map[string]string{"short": short, "long": long})
	if err != nil {
		t.Fatal(err)
	}
	var r simulatorReport
	browse(t, o.Out, "simulator.mjs", string(units), &r)
	for scheme, s := range map[string]struct {
		Point     ranPoint
		Workbench ranBench
	}{"light": r.Light, "dark": r.Dark} {
		t.Run(scheme, func(t *testing.T) {
			regenerates(t, s.Point)
			bench(t, s.Workbench)
		})
	}
	t.Run("another result", func(t *testing.T) { differs(t, r.Result, "result.engines[0].steps") })
	t.Run("another figure", func(t *testing.T) { differs(t, r.Figure, "point.metrics.tpot_mean.simulated") })
	if d := r.Deaf; len(d.Wrong) > 0 || d.Progress != "0" || d.Said != "Stopped." || d.Took > mostStopping {
		t.Errorf("a run that hears nothing: got %+v, want it stopped within %v s", d, mostStopping)
	}
	if a := r.Abort; len(a.Wrong) > 0 || !regexp.MustCompile(`\d+ of 4\d{4} requests`).MatchString(a.Progress) || a.Said != "Stopped." || a.Took > mostStopping {
		t.Errorf("stopping a long run: got %+v, want progress, then Stopped. within %v s", a, mostStopping)
	}
	loading := math.Inf(1)
	for _, p := range []ranPoint{r.Light.Point, r.Dark.Point, r.Result, r.Figure} {
		_, took := times(t, p.Text)
		loading = min(loading, took)
	}
	if loading > mostLoading {
		t.Errorf("got %v s to load the simulator, want at most %v", loading, mostLoading)
	}
	if first, hovered := slices.Min(r.First), slices.Min(r.Hovered); first > mostFirst || hovered > first {
		t.Errorf("got %.2f s from a click to the first verdict, %.2f s with the pointer there before, want at most %v and no more than that", first, hovered, mostFirst)
	}
	t.Logf("the simulator loads in %v s; a first verdict takes %.2f s, %.2f s after a second on the button", loading, r.First, r.Hovered)
	if want := "is not the one this page names"; !strings.Contains(r.Tampered, want) {
		t.Errorf("a changed module: got %q, want that it %s", r.Tampered, want)
	}
}

func regenerates(t *testing.T, p ranPoint) {
	t.Helper()
	faults(t, p.Wrong, p.Violations, p.Narrow)
	if !p.Good || !strings.Contains(p.Text, "It regenerates.") {
		t.Errorf("got %q, want that it regenerates", p.Text)
	}
	if p.Bytes == 0 || p.Bytes > mostModule {
		t.Errorf("module: got %d bytes, want at most %d", p.Bytes, mostModule)
	}
	running := math.Inf(1)
	for _, said := range p.Again {
		took, _ := times(t, said)
		running = min(running, took)
	}
	if running > mostRunning {
		t.Errorf("got %v s to simulate, want at most %v", running, mostRunning)
	}
	t.Logf("module %d bytes; simulated in %v s", p.Bytes, running)
}

// times are the seconds that a page says it took.
func times(t *testing.T, said string) (running, loading float64) {
	t.Helper()
	m := regexp.MustCompile(`Simulated in ([\d.]+) s; loading the simulator took ([\d.]+) s`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no times in %q", said)
	}
	return number(t, m[1]), number(t, m[2])
}

func differs(t *testing.T, p ranPoint, at string) {
	t.Helper()
	faults(t, p.Wrong, p.Violations, p.Narrow)
	if p.Good || !strings.Contains(p.Text, "It does not regenerate.") || !strings.Contains(p.Text, at) {
		t.Errorf("got %q, want that it does not regenerate, and %s", p.Text, at)
	}
}

func bench(t *testing.T, b ranBench) {
	t.Helper()
	faults(t, b.Wrong, b.Violations, b.Narrow)
	if !slices.Equal(b.Start, b.Published) || !slices.Equal(b.Back, b.Published) || slices.Contains(b.Start, "–") {
		t.Errorf("the start: got %v, then %v, want the published %v", b.Start, b.Back, b.Published)
	}
	if slices.Equal(b.Changed, b.Start) || slices.Min(b.Took) > mostChange || !strings.HasSuffix(b.URL, "&concurrency=16") {
		t.Errorf("a change: got %v in %v s at %s, want other figures within %v s", b.Changed, b.Took, b.URL, mostChange)
	}
	if slices.Equal(b.Burst, b.Changed) || !slices.Equal(b.Burst, b.Permalink) {
		t.Errorf("a burst of changes: got %v, want what its address gives, %v", b.Burst, b.Permalink)
	}
	if b.Parts < 2 {
		t.Errorf("got %d parts of engine time, want 2 or more", b.Parts)
	}
	for what, c := range map[string][2]string{
		"unchanged": {b.Claim, "As measured."}, "changed to another point": {b.Another, "which is not the start"}, "changed": {b.Extrapolation, "Extrapolation."}, "error": {b.Extrapolation, "Mean absolute error of TTFT mean:"},
		"no lane": {b.Unmeasured, "No measured points"}, "refusal": {b.Refusal, "no-such-argument"}, "where the settings are": {b.Refusal, "What is accepted: the settings of vllm"}, "hint": {b.Refusal, "hint: "}, "stopped": {b.Stopped, "Stopped."},
	} {
		if !strings.Contains(c[0], c[1]) {
			t.Errorf("%s: got %q, want %q in it", what, c[0], c[1])
		}
	}
	if i := slices.IndexFunc(b.Refused, func(s string) bool { return s != "–" }); i >= 0 {
		t.Errorf("a refused scenario shows %q", b.Refused[i])
	}
	if len(b.Reloaded) == 0 || b.Reloaded[0] == "–" {
		t.Errorf("a refused scenario opened again: got %q, want what was measured of its start", b.Reloaded)
	}
	t.Logf("a change answered in %v s", slices.Min(b.Took))
}

func faults(t *testing.T, wrong, violations []string, narrow int) {
	t.Helper()
	if len(wrong)+len(violations) > 0 || narrow > 0 {
		t.Errorf("got %v, %v, %d px wider than a screen of 360; want none", wrong, violations, narrow)
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWithoutASimulatorPagesSaySo(t *testing.T) {
	in, short, _ := simulated(t)
	o := options(t, filepath.Join(t.TempDir(), "public"), "")
	if err := Build(context.Background(), in, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"points/" + short + "/index.html", "workbench/index.html"} {
		if got := read(t, o.Out, name); !strings.Contains(got, "without the simulator") || strings.Contains(got, "worker-src") {
			t.Errorf("%s: does not say that it cannot run the simulator, or allows a Worker", name)
		}
	}
}
