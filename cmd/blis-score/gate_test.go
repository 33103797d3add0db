package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

const seedText = "0707070707070707070707070707070707070707070707070707070707070707"

// secret writes a ledger whose units are on no list, drawn with seedText.
func secret(t *testing.T, spoil func([]byte) []byte) string {
	t.Helper()
	read := func(name string) ledger.Input {
		data, err := os.ReadFile(filepath.Join("..", "..", "ledger", "testdata", "excerpt", name))
		if err != nil {
			t.Fatal(err)
		}
		return ledger.Input{Name: name, Data: data}
	}
	seed, err := ledger.ReadSeed(seedText)
	if err != nil {
		t.Fatal(err)
	}
	rows := read("rows.jsonl")
	rows.Data = spoil(rows.Data)
	l, err := ledger.Ingest(rows, read("launches.jsonl"), ledger.Published{SeedSHA256: canon.Sum(seed)})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ledger")
	if err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func unspoiled(b []byte) []byte { return b }

// What a candidate job hands over does not depend on a measured value, and the gate
// counts and keeps every reading of it.
func TestPredictThenGate(t *testing.T) {
	keep.Rule(t, "D7")
	dir := t.TempDir()
	l := secret(t, unspoiled)
	other := secret(t, func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"silicon_tpot_ms": "1`), []byte(`"silicon_tpot_ms": "2`))
	})
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	must(t, "predict", "--ledger", l, "--out", a)
	must(t, "predict", "--ledger", other, "--out", b)
	files := tree(t, dir)
	cut := func(s string) string { return s[strings.Index(s, `"units"`):] } // the build names the ledger
	if cut(files["a.json"]) != cut(files["b.json"]) {
		t.Error("predictions depend on measured values")
	}
	log := filepath.Join(dir, "evaluations.jsonl")
	judge := func(args ...string) (int, string) {
		code, out, errs := score(t, append([]string{"gate", "--seed-env", "ROLE_SEED_OF_TEST", "--ledger", l, "--evaluations", log}, args...)...)
		return code, out + errs
	}
	if code, text := judge("--base", a, "--candidate", a, "--run", "nightly"); code != exit.Refused || !strings.Contains(text, "is not set") {
		t.Errorf("without a seed: exit %d, %s", code, text)
	}
	t.Setenv("ROLE_SEED_OF_TEST", seedText)
	for n, want := range []string{"evaluation 1 of nightly on held units", "1 evaluations came before"} {
		if code, text := judge("--base", a, "--candidate", a, "--run", "nightly"); code != exit.Failed || !strings.Contains(text, want) || !strings.Contains(text, "no lane covers 10 units") {
			t.Errorf("run %d: exit %d, %s, want %q", n+1, code, text, want)
		}
	}
	if n := strings.Count(tree(t, dir)["evaluations.jsonl"], "\n"); n != 2 {
		t.Errorf("got %d evaluations kept, want both, though neither passed", n)
	}
	registered := filepath.Join(dir, "r.yaml")
	if err := os.WriteFile(registered, []byte(registration), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"other trees", []string{"--base", a, "--candidate", a, "--preregistration", registered, "--base-commit", strings.Repeat("a", 40), "--candidate-commit", strings.Repeat("b", 40)}, exit.Refused, "is not the commit that is judged"},
		{"no trees", []string{"--base", a, "--candidate", a, "--preregistration", registered}, exit.Usage, "base-commit"},
		{"no reason", []string{"--base", a, "--candidate", a}, exit.Usage, "at least one of the flags"},
		{"other run", []string{"--base", a, "--candidate", a, "--run", "again"}, exit.Usage, "is no run that reads held units"},
		{"no predictions", []string{"--base", registered, "--candidate", a, "--run", "release"}, exit.Refused, "r.yaml"},
	} {
		if code, text := judge(c.args...); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: exit %d, %s, want %d and %q", c.name, code, text, c.code, c.want)
		}
	}
	must(t, "select", "--seed-env", "ROLE_SEED_OF_TEST", "--ledger", l, "--evaluations", log, "--base", a, "--candidate", a)
	if out := must(t, "error", "--seed-env", "ROLE_SEED_OF_TEST", "--ledger", l, "--evaluations", log, "--candidate", a, "--json"); strings.Contains(out, "unit_id") {
		t.Errorf("the error job gave out a unit: %s", out)
	}
}

func TestPredictNeedsAUnitWithoutARole(t *testing.T) {
	code, _, errs := score(t, "predict", "--out", filepath.Join(t.TempDir(), "p"))
	if code != exit.Refused || !strings.Contains(errs, "nothing to predict") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// X13: one build is its own refactor, and a build with other coefficients is not.
func TestRefactorCheck(t *testing.T) {
	dir := t.TempDir()
	l := secret(t, unspoiled)
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	must(t, "fingerprint", "--ledger", l, "--out", a)
	if out := must(t, "refactor-check", a, a); !strings.Contains(out, "13 units are simulated alike") {
		t.Errorf("got %s", out)
	}
	text := tree(t, dir)["a.json"]
	at := strings.Index(text, `"result_sha256": "`) + len(`"result_sha256": "`)
	if err := os.WriteFile(b, []byte(text[:at]+strings.Repeat("0", 8)+text[at+8:]), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := score(t, "refactor-check", a, b)
	if code != exit.Failed || !strings.Contains(out, "its result differs") || !strings.Contains(errs, "1 of 13 units") {
		t.Errorf("exit %d, %s%s, want 3 and the unit named", code, out, errs)
	}
}
