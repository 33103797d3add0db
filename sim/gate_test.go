package sim

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

var update = flag.Bool("update", false, "write the byte gate's results; only in a change that says what it changes of the model")

// TestByteGate runs a fixed set of scenarios over every feature of the simulator
// on the plain engine and compares whole Results. It runs on every platform the
// project supports: GOARCH=arm64, and GOOS=js GOARCH=wasm under node.
func TestByteGate(t *testing.T) {
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
	w := plainWorld()
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
