package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

// The recorded traces notice nine of ten broken lines of the ported functions, and
// what survives is explained: a sample, nightly the whole.
func TestTheTracesKillBrokenLines(t *testing.T) {
	args := []string{"run", "./cmd/mutate"}
	if os.Getenv("BLIS_NIGHTLY") == "" {
		args = append(args, "-sample", "40", "-least", "80") // of 40, nine in ten is one draw
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	traces, err := filepath.Glob(filepath.Join(root, "engines/vllm/testdata/oracle/*.json*"))
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	cmd := exec.Command("go", append(args, traces...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// Survivors and their explanations must match both ways.
func TestSurvivorsAreExplainedAndExplanationsSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "survivors.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := mutate.Break{ID: 1, File: "p/a.go", Line: 3, Function: "f", What: "one more", Text: "a + b"}
	b := mutate.Break{ID: 2, File: "p/a.go", Line: 4, Function: "f", What: "one more", Text: "a * b"}
	write("# equal either way\n" + key(a) + "\n")
	for _, c := range []struct {
		alive              []mutate.Break
		whole              bool
		unexplained, stale int
	}{
		{[]mutate.Break{a}, true, 0, 0},
		{[]mutate.Break{a, b}, true, 1, 0},
		{nil, true, 0, 1},
		{nil, false, 0, 0}, // a sample need not have drawn it
	} {
		unexplained, stale, err := explain(path, c.alive, c.whole)
		if err != nil || len(unexplained) != c.unexplained || len(stale) != c.stale {
			t.Errorf("%d alive: got %v, %v, %v, want %d unexplained, %d stale", len(c.alive), unexplained, stale, err, c.unexplained, c.stale)
		}
	}
	write("# equal either way\n" + key(a) + "\n\n" + key(b) + "\n")
	if _, _, err := explain(path, nil, true); err == nil || !strings.Contains(err.Error(), "no explanation") {
		t.Errorf("a line without a reason: got %v, want a refusal", err)
	}
}
