package determinism

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"golang.org/x/tools/go/analysis/analysistest"
)

func TestAnalyzer(t *testing.T) {
	keep.Rule(t, "DEV-6", "RTR-6", "RTR-7", "VLM-5", "X6")
	analysistest.Run(t, analysistest.TestData(), Analyzer, "a")
}

func TestScope(t *testing.T) {
	keep.Rule(t, "VLM-5")
	for _, c := range []struct {
		path, allowed string
		covered       bool
	}{
		{module + "sim/des", "", true},
		{module + "harness", "goroutine", true},
		{module + "registry/fit", "goroutine math", true},
		{module + "simulator", "", false},
		{module + "site", "", false},
	} {
		if allowed, covered := scope(c.path); allowed != c.allowed || covered != c.covered {
			t.Errorf("%s: got %q, %v, want %q, %v", c.path, allowed, covered, c.allowed, c.covered)
		}
	}
}
