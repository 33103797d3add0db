package sim

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

var update = flag.Bool("update", false, "write the byte gate's results; only in a change that says what it changes of the model")

// TestByteGate runs a fixed set of scenarios over every feature of the simulator,
// on the plain engine and on the ports of this build, and compares whole Results.
// Prices are a fixed formula, so a coefficient does not move it. It runs on every
// platform the project supports: GOARCH=arm64, and GOOS=js GOARCH=wasm under node.
func TestByteGate(t *testing.T) {
	keep.Rule(t, "DEV-2", "DEV-12", "SIM-4", "SIM-10", "X6", "X13")
	scenarios, err := filepath.Glob("testdata/gate/*/scenario.yaml")
	if err != nil || len(scenarios) < 7 {
		t.Fatalf("found %d scenarios, %v", len(scenarios), err)
	}
	for _, path := range scenarios {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := gated(t, path)
			golden := filepath.Join(dir, "result.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the result changed:\n%s", firstDifference(got, want))
			}
		})
	}
}

// gated runs a scenario and gives its Result laid out for a diff.
func gated(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	w := gateWorld(t)
	w.Files = os.DirFS(filepath.Dir(path))
	r, err := Run(s, w)
	if err != nil {
		t.Fatal(err)
	}
	b, err := canon.Indent(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Kernel = []des.Option{des.WithQueue(des.NewCalendar())}
	again, err := Run(s, w)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := canon.Indent(again); !bytes.Equal(b, c) {
		t.Errorf("a second run under the other queue differs:\n%s", firstDifference(c, b))
	}
	return b
}

func firstDifference(got, want []byte) []byte {
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			return append(append([]byte("got  "), g[i]...), append([]byte("\nwant "), w[i]...)...)
		}
	}
	return []byte("one is longer")
}

// Whatever an engine counts as steady, and however many tokens it streams at a time, a
// request's gaps add up to its last token less its first (SIM-12). Chunks change the
// gaps alone.
func TestGapsAddUpOnEveryEngine(t *testing.T) {
	keep.Rule(t, "SIM-1")
	for _, name := range []string{"gate/vllm_measured", "gate/vllm_sync_no_prefix", "gate/vllm_preemption", "gate/vllm_pipeline", "run/sglang_measured"} {
		text, err := os.ReadFile("testdata/" + name + "/scenario.yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := spec.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		var before spec.Figure
		for _, chunk := range []int{1, 4} {
			s.Engine.Args["stream-interval"] = chunk
			r, err := Run(s, gateWorld(t))
			if err != nil {
				t.Fatal(err)
			}
			itl, _ := r.Figure("itl_mean", "cluster")
			gaps := itl.Value * float64(itl.Count)
			decode := (value(t, r, "e2e_mean", "cluster") - value(t, r, "ttft_mean", "cluster")) * float64(r.Requests.Measured.Completed)
			if math.Abs(gaps/decode-1) > 1e-9 {
				t.Errorf("%s, chunks of %d: gaps add up to %v s, decoding took %v s", name, chunk, gaps, decode)
			}
			if last := before.Value * float64(before.Count); chunk > 1 && (math.Abs(gaps/last-1) > 1e-9 || 3*itl.Count > before.Count) {
				t.Errorf("%s, chunks of %d: %d gaps of %v s in all, token by token %d of %v s", name, chunk, itl.Count, gaps, before.Count, last)
			}
			before = itl
		}
	}
}
