package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// TestTheRunnerProvesARecord runs the checks of records on a small module: a check that
// finds its break and says its rule passes; any other verdict is a failure.
func TestTheRunnerProvesARecord(t *testing.T) {
	keep.Rule(t, "X16", "X18", "X22")
	dir := t.TempDir()
	const code = "package a\n\nfunc Add(a, b int) int { return a + b }\n"
	for name, text := range map[string]string{
		"go.mod":         "module m\n\ngo 1.26\n",
		"a/a.go":         code,
		"a/a_test.go":    "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"X1: 1 + 2 is not 3\")\n\t}\n}\n\nfunc TestEmpty(t *testing.T) {}\n\nfunc TestLeftOut(t *testing.T) { t.Skip() }\n",
		"public/junk.go": "package junk\n",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	broken := &invariants.Break{File: "a/a.go", From: "a + b", To: "a - b"}
	tree := ""
	for _, c := range []struct {
		id, test string
		brk      *invariants.Break
		want     string
	}{
		{"X1", "a.TestAdd", broken, "X1      pass"},
		{"X1", "a.TestAdd", nil, "X1      pass"},
		{"X2", "a.TestAdd", broken, "fails on its break and does not say X2"},
		{"X1", "a.TestEmpty", broken, `a module broken in a/a.go ends in "pass"`},
		{"X1", "a.TestAdd", &invariants.Break{File: "a/a.go", From: "a + b", To: "a +"}, "a/a.go:3:37: syntax error"},
		{"X1", "a.TestAdd", &invariants.Break{File: "a/a.go", From: "a * b", To: "a"}, "stands in 0 places"},
		{"X1", "a.TestAdd", &invariants.Break{File: "a/gone.go", From: "a + b", To: "a"}, "a/gone.go does not exist"},
		{"X1", "a.TestLeftOut", nil, "FAIL a.TestLeftOut (skip)"},
		{"X1", "a.TestGone", nil, "FAIL a.TestGone (not run)"},
	} {
		r := invariants.Record{ID: c.id, Checks: []invariants.Check{{Test: c.test, Bad: c.test, When: "test", Break: c.brk}}}
		var out strings.Builder
		run, err := runChecks(t.Context(), &out, io.Discard, dir, []invariants.Record{r})
		if err != nil {
			t.Fatal(err)
		}
		failed := failures(run)
		if run.Commit != "unknown" || len(run.Rules) != 1 || len(run.Tree) != 64 {
			t.Errorf("%s: got %+v, want the one rule of a tree in no repository", c.test, run)
		}
		if !strings.Contains(out.String(), c.want) || (failed == 0) != strings.HasSuffix(c.want, "pass") {
			t.Errorf("%s of %s: got %d failed, %q, want %q", c.test, c.id, failed, out.String(), c.want)
		}
		_, now, _ := strings.Cut(out.String(), "tree ")
		if now, _, _ = strings.Cut(now, ":"); len(now) != 64 || tree != "" && now != tree {
			t.Errorf("the tree is called %q, was %q", now, tree)
		}
		tree = now
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a/a.go")); err != nil || string(text) != code {
		t.Errorf("the tree itself was broken: %q, %v", text, err)
	}
}

// TestCheckReportsTheRulesAskedFor: on a tree whose ratchet holds nothing, every rule is a
// finding, and asking for one tells of that one alone.
func TestCheckReportsTheRulesAskedFor(t *testing.T) {
	dir := withFiles(t, map[string]string{"go.mod": "module m\n", "s.yaml": ""})
	if err := os.MkdirAll(filepath.Join(dir, "invariants"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "invariants/layers.txt"), []byte("NONE < a;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := blisIn(t, dir, "invariants", "check", "sim-7")
	if code != exit.Failed || !strings.Contains(out, "SIM-7 is ") || !strings.Contains(out, "fix: go test ./invariants -run TestRatchet -update\n") || strings.Contains(out, "SIM-1 ") || !strings.Contains(out, "\n1 rule, ") {
		t.Errorf("SIM-7: got %d, %s", code, out)
	}
	if _, all, _ := blisIn(t, dir, "invariants", "check"); !strings.Contains(all, "SIM-1 is ") {
		t.Errorf("without an id: got %s", all)
	}
	if code, out, complaint := blisIn(t, dir, "invariants", "check", "NOPE-1"); code != exit.Refused || out != "" || !strings.Contains(complaint, "NOPE-1: is no rule") {
		t.Errorf("NOPE-1: got %d, %q, %s", code, out, complaint)
	}
	for _, args := range [][]string{{"--out", "r.json"}, {"--run", "--out", "r.json", "X1"}} {
		if code, _, complaint := blisIn(t, dir, append([]string{"invariants", "check"}, args...)...); code != exit.Usage || !strings.Contains(complaint, "--out: r.json: says how the checks of every rule ended") {
			t.Errorf("%v: got %d, %s", args, code, complaint)
		}
	}
	if code, _, complaint := blisIn(t, dir, "invariants", "check", "--root", "none"); code != exit.Refused || !strings.Contains(complaint, "--root: none: is not a directory") {
		t.Errorf("--root: got %d, %s", code, complaint)
	}
}
