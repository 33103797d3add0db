package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

var scenarios = map[string]string{
	"measured": `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {max-num-seqs: 64, max-num-batched-tokens: 2048}}
model: llama-3.1-8b
hardware: h100_sxm
workload: {inferencex: {release: inferencex-843c6254, isl: 1024, osl: 128, range_ratio: 0.8, num_prompts: 80, concurrency: 8}}
`,
	"drawn": `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894}
model: llama-3.1-8b
hardware: h100_sxm
workload:
  clients:
  - {name: a, requests: 100, arrivals: {gamma: {rate: 30, shape: 0.7}}, prompt: {lognormal: {mean: 5, std: 1, min: 1, max: 4000}}, output: {normal: {mean: 60, std: 20, min: 1, max: 200}}}
  - {name: b, requests: 60, arrivals: {weibull: {rate: 10, shape: 0.8}}, prompt: {exponential: {mean: 200}}, output: {fixed: 30}, session: {rounds: {fixed: 3}, think: {exponential: {mean: 1}}}}
`,
}

// The embedded registry's least portable paths are its curves and the workload's
// transcendental draws: both must give the same bytes on every machine (X6).
func TestOtherMachinesGiveTheSameBytes(t *testing.T) {
	keep.Rule(t, "X6")
	node := need.Tool(t, "node", "make test needs it")
	emulator := need.Tool(t, "qemu-aarch64", "make test installs it (Debian's qemu-user)")
	for _, m := range []struct{ goos, goarch, with string }{{"js", "wasm", node}, {"linux", "arm64", emulator}} {
		t.Run(m.goarch, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "blis."+m.goarch)
			build := exec.Command("go", "build", "-o", program, ".")
			build.Env = append(os.Environ(), "GOOS="+m.goos, "GOARCH="+m.goarch, "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			args := []string{program}
			if m.goarch == "wasm" {
				args = []string{"--stack-size=8192", filepath.Join(runtime.GOROOT(), "lib/wasm/wasm_exec_node.js"), program}
			}
			for name, text := range scenarios {
				sameBytes(t, name, text, m.with, args)
			}
		})
	}
}

// sameBytes runs a scenario here and there.
func sameBytes(t *testing.T, name, text, with string, args []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var want, complaint bytes.Buffer
	if file(path, &want, &complaint) != 0 {
		t.Fatal(complaint.String())
	}
	got, err := exec.Command(with, append(args, path)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s: got %d bytes, want %d:\n%.300s\n%.300s", name, len(got), want.Len(), got, want.Bytes())
	}
}

func TestRefusalHasHints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte("schema: blis.scenario/1\nmodl: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, complaint bytes.Buffer
	if code := file(path, &out, &complaint); code != 1 || !strings.Contains(complaint.String(), "did you mean model?") {
		t.Errorf("got %d, %s", code, complaint.String())
	}
}
