package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// The page of rules says how their checks ended where a run of this commit is given, and that it
// was made without one where none is.
func TestThePageOfRulesShowsTheRun(t *testing.T) {
	records, err := invariants.Records()
	if err != nil {
		t.Fatal(err)
	}
	run := invariants.Run{Schema: invariants.RunSchema, Commit: revision(), Tree: "t"}
	for _, r := range records {
		run.Rules = append(run.Rules, invariants.Measured{ID: r.ID, Declared: r.Status, Checks: len(r.Checks)})
	}
	run.Rules[0].Failed = []string{records[0].Checks[0].Test}
	write := func(commit string) string {
		run.Commit = commit
		data, err := canon.Indent(run)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for file, want := range map[string]string{"": "this page was made without one", write(revision()): " rules held and 1 failed, "} {
		pages, err := (&options{rules: file}).reference()
		if err != nil {
			t.Fatal(err)
		}
		page, err := fs.ReadFile(pages, "invariants.md")
		if err != nil || !strings.Contains(string(page), want) || !strings.Contains(string(page), "url: /reference/invariants/") {
			t.Errorf("--rules %q: %v, got no %q", file, err, want)
		}
		if index, err := fs.ReadFile(pages, "index.md"); err != nil || !strings.Contains(string(index), "Reference") {
			t.Errorf("--rules %q: the other pages: %v", file, err)
		}
	}
	for _, c := range []struct{ file, want string }{
		{write("another"), "commit: another: is not the commit of this program"},
		{filepath.Join(t.TempDir(), "none"), "--rules"},
	} {
		if code, _, errs := score(t, "--rules", c.file, "--out", filepath.Join(t.TempDir(), "out")); code != exit.Refused || !strings.Contains(errs, c.want) {
			t.Errorf("got exit %d, %s, want %q", code, errs, c.want)
		}
	}
}
