package fma

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"golang.org/x/tools/go/analysis/analysistest"
)

func TestAnalyzer(t *testing.T) {
	keep.Rule(t, "X6")
	analysistest.Run(t, analysistest.TestData(), Analyzer, "a")
}
