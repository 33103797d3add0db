package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

const root = "../../.."

// asTool makes this test's program the tool that `go vet` runs.
const asTool = "BLISVET_AS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(asTool) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestTheCoreHoldsItsLints runs the analyzers over the core. It opens every source file
// first: what the go command reads for it is unknown to the cache of test results.
func TestTheCoreHoldsItsLints(t *testing.T) {
	keep.Rule(t, "X6", "VLM-5", "DEV-6", "RTR-6", "RTR-7")
	tool, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"vet", "-vettool=" + tool}
	for _, dir := range []string{"sim", "engines", "cost", "catalog", "registry", "ledger", "harness", "scorer", "internal"} {
		args = append(args, "./"+dir+"/...")
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".go") {
				_, err = os.ReadFile(p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir, c.Env = root, append(os.Environ(), asTool+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
