package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

// A relative output, sharded and merged, is a site and nothing beside it.
func TestRelativeOutputsLeaveNothingBeside(t *testing.T) {
	units := strings.Join(short(t, 2), ",")
	t.Chdir(t.TempDir())
	chosen := []string{"--role", "fit", "--charts", "", "--units", units}
	must(t, append(chosen, "--shard", "1/1", "--out", "part")...)
	must(t, "merge", "--charts", "", "part")
	must(t, "verify", "public")
	must(t, append(chosen, "--out", "rel")...)
	must(t, "verify", "rel")
	if got, want := names(t, "."), []string{"part", "public", "rel"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A run that fails after the simulation says where its trials are; one that fails before has none.
func TestAFailedRunSaysWhereItsTrialsAre(t *testing.T) {
	units := strings.Join(short(t, 2), ",")
	t.Chdir(t.TempDir())
	args := []string{"--role", "fit", "--records-only", "--out", "rel", "--units", units}
	code, _, errs := score(t, append(args, "--junit", filepath.Join("none", "j.xml"))...)
	if want := "2 finished trials are kept in rel.trials: --resume goes on from them"; code != exit.Refused || !strings.Contains(errs, want) {
		t.Errorf("exit %d, %s, want %q", code, errs, want)
	}
	must(t, append(args, "--resume")...)
	if code, _, errs := score(t, "--units", "none", "--out", "other"); code == exit.Done || strings.Contains(errs, "kept in") {
		t.Errorf("exit %d, %s, want no trials named", code, errs)
	}
	if got, want := names(t, "."), []string{"rel"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
