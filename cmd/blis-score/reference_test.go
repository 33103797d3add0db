package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/docgen"
)

var update = flag.Bool("update", false, "write the generated page")

func TestCommandPageIsCurrent(t *testing.T) {
	name, page := docgen.Program(root())
	file := filepath.Join("..", "..", filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(file, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page) {
		t.Errorf("%s is stale\n\tfix: go test ./cmd/blis-score -run TestCommandPageIsCurrent -update", name)
	}
}

// TestOnlyAReleaseOfAllAnchorUnitsIsNoExperiment keeps COV-2.
func TestOnlyAReleaseOfAllAnchorUnitsIsNoExperiment(t *testing.T) {
	whole := options{role: "anchor", release: "v1.0.0"}
	if why := experimental(whole); why != "" {
		t.Errorf("a release of all anchor units: got %q, want none", why)
	}
	for name, spoil := range map[string]func(*options){
		"another ledger": func(o *options) { o.ledger = "dir" },
		"fit units":      func(o *options) { o.role = "fit" },
		"some units":     func(o *options) { o.units = []string{"ab"} },
		"one lane":       func(o *options) { o.lane = "vllm" },
		"no release":     func(o *options) { o.release = "" },
	} {
		o := whole
		spoil(&o)
		if experimental(o) == "" {
			t.Errorf("%s: not called experimental (COV-2)", name)
		}
	}
}
