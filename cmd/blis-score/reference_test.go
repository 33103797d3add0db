package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/doccheck"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
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

// TestPagesAndHelpNameCommandsThatExist keeps X26 for this program.
func TestPagesAndHelpNameCommandsThatExist(t *testing.T) {
	keep.Rule(t, "X26")
	m, err := invariants.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	tree := (&doccheck.Tree{Module: m, Commands: []*cobra.Command{root()}}).Index()
	found := doccheck.Help(tree.Commands[0], tree)
	for p, text := range m.Files {
		if filepath.Ext(p) == ".md" {
			found = append(found, doccheck.Commands(p, text, tree)...)
		}
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestOnlyAReleaseOfAllAnchorUnitsIsNoExperiment keeps COV-2.
func TestOnlyAReleaseOfAllAnchorUnitsIsNoExperiment(t *testing.T) {
	whole := options{role: "anchor", release: "v1.0.0"}
	if why := experimental(whole); why != "" {
		t.Errorf("a release of all anchor units: got %q, want none", why)
	}
	for name, spoil := range map[string]func(*options){
		"another ledger":  func(o *options) { o.ledger = "dir" },
		"another catalog": func(o *options) { o.Catalog = "dir" },
		"laid over":       func(o *options) { o.RegistryOverlays = []string{"dir"} },
		"fit units":       func(o *options) { o.role = "fit" },
		"some units":      func(o *options) { o.units = []string{"ab"} },
		"one lane":        func(o *options) { o.lane = "vllm" },
		"no release":      func(o *options) { o.release = "" },
	} {
		o := whole
		spoil(&o)
		if experimental(o) == "" {
			t.Errorf("%s: not called experimental (COV-2)", name)
		}
	}
}
