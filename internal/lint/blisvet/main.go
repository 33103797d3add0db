// Command blisvet runs this module's own analyzers under go vet:
//
//	go vet -vettool="$(go tool -n blisvet)" ./...
package main

import (
	"github.com/inference-sim/accuracy-dashboard/internal/lint/determinism"
	"github.com/inference-sim/accuracy-dashboard/internal/lint/fma"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(determinism.Analyzer, fma.Analyzer) }
