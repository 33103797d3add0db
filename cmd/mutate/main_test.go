package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The recorded traces notice nine of ten broken lines of the ported functions.
func TestTheTracesKillBrokenLines(t *testing.T) {
	if os.Getenv("BLIS_NIGHTLY") == "" {
		t.Skip("half an hour; runs nightly")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	traces, err := filepath.Glob(filepath.Join(root, "engines/vllm/testdata/oracle/*.json*"))
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	cmd := exec.Command("go", append([]string{"run", "./cmd/mutate"}, traces...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
