package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// slower is a copy of the embedded coefficients in which each of the host's takes 10 ms.
func slower(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, registry.EmbeddedFS()); err != nil {
		t.Fatal(err)
	}
	hosts, err := filepath.Glob(filepath.Join(dir, "*", "host.yaml"))
	if err != nil || len(hosts) == 0 {
		t.Fatalf("%d files of the host, %v", len(hosts), err)
	}
	ofTime := regexp.MustCompile(`(?m)^    value: .*\n    unit: s$`)
	for _, file := range hosts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, ofTime.ReplaceAll(text, []byte("    value: 0.01\n    unit: s")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// §11.7: a run scores the data it is given, names it by its hash and is called experimental; its
// shards merge with that data alone, and no simulator of other data is published with it.
func TestDataGivenByPathIsScored(t *testing.T) {
	keep.Rule(t, "SIM-6", "COV-2")
	dir, other := t.TempDir(), slower(t)
	unit := short(t, 1)[0]
	scored := func(name string, args ...string) (points string, s *record.Summary) {
		t.Helper()
		out := filepath.Join(dir, name)
		must(t, append(args, "--records-only", "--out", out)...)
		files := tree(t, out)
		if err := json.Unmarshal([]byte(files["data/summary.json"]), &s); err != nil {
			t.Fatal(err)
		}
		return files["data/points.json"], s
	}
	plain, was := scored("plain", "--role", "fit", "--units", unit)
	for name, flag := range map[string]string{"replaced": "--registry", "overlaid": "--registry-overlay"} {
		points, is := scored(name, "--role", "fit", "--units", unit, flag, other)
		if points == plain || is.Build.Registry == was.Build.Registry || is.Build.Catalog != was.Build.Catalog || !strings.Contains(is.Experiment, "given by path") {
			t.Errorf("%s: got %+v, %q, want other figures and coefficients than of %+v, and experimental", name, is.Build, is.Experiment, was.Build)
		}
	}
	part := filepath.Join(dir, "part")
	must(t, "--role", "fit", "--units", unit, "--registry", other, "--shard", "1/1", "--out", part)
	if code, _, errs := score(t, "merge", "--records-only", "--out", filepath.Join(dir, "mixed"), part); code != exit.Refused {
		t.Errorf("a shard of other coefficients was merged with the embedded: exit %d, %s", code, errs)
	}
	scored("merged", "merge", "--registry", other, part)
	var i inputs
	i.Registry = other
	if _, err := simulator(t.Context(), i); !errors.As(err, new(wasm.Unavailable)) {
		t.Errorf("got %v, want no simulator of the embedded data", err)
	}
}
