package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// TestValidateResolvesAScenario: what run refuses is not called valid.
func TestValidateResolvesAScenario(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"as it was":        {"", "", ""},
		"a model":          {"llama-3.1-8b", "llama-9", "s.yaml:3:1: model: llama-9: is not in the catalog"},
		"a chip":           {"h100_sxm", "h900", "s.yaml:4:1: hardware: h900: is not in the catalog"},
		"a tensor size":    {"max-num-seqs: 32", "tensor-parallel-size: 3", "s.yaml:2:"},
		"an argument":      {"max-num-seqs", "max-num-seq", "s.yaml:2:"},
		"an engine":        {"kind: vllm", "kind: trtllm", "trtllm: is not an engine of this build"},
		"another release":  {"main-2f41c894", "v0.1.0", "v0.1.0"},
		"a negative count": {"requests: 40", "requests: -1", "s.yaml:7"},
	} {
		dir := withFiles(t, map[string]string{"s.yaml": strings.Replace(chatScenario, c.from, c.to, 1)})
		code, out, complaint := blisIn(t, dir, "schema", "validate", "scenario", "s.yaml")
		if (code == exit.Done) != (c.want == "") || strings.Contains(out, "a valid") != (c.want == "") || !strings.Contains(complaint, c.want) {
			t.Errorf("%s: got %d, %s%s, want %q", name, code, out, complaint, c.want)
		}
	}
	data := withFiles(t, map[string]string{"x": ""})
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	if code, _, _ := blisIn(t, dir, "schema", "validate", "scenario", "s.yaml", "--catalog", data); code != exit.Refused {
		t.Errorf("another catalog: got %d, want %d", code, exit.Refused)
	}
}

// TestTheFirstViolationIsTheSame: a document with many errors tells the one that comes first.
func TestTheFirstViolationIsTheSame(t *testing.T) {
	dir := withFiles(t, map[string]string{"p.json": `{"point": {"metrics": 1, "grade": 2, "zz": 1, "yy": 1, "conditions": 3}, "trial": 4, "a": 1, "b": 2}`,
		"q.json": `{"point": {"metrics": {}, "isl": "a", "differences": [1, 2, 3]}}`, "r.json": `{"point": 1, "trial": 4}`})
	for file, want := range map[string]string{
		"p.json": "p.json: additional properties 'a', 'b' not allowed",
		"q.json": "q.json: point: missing properties",
		"r.json": "r.json: point: got number, want object",
	} {
		for range 20 {
			if _, _, complaint := blisIn(t, dir, "schema", "validate", "point", file); !strings.Contains(complaint, want) {
				t.Fatalf("got %s, want %q", complaint, want)
			}
		}
	}
}

// TestAFileOfLinesHoldsADocumentEach: what the ledger writes is valid, and what is wrong is named by line.
func TestAFileOfLinesHoldsADocumentEach(t *testing.T) {
	units, err := os.ReadFile("../../ledger/data/units.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(units), "\n")
	second, _, _ := strings.Cut(rest, "\n")
	for name, c := range map[string]struct{ text, out, want string }{
		"two":     {first + "\n" + second + "\n", "u.jsonl: 2 lines, each a valid unit\n", ""},
		"changed": {first + "\n" + strings.Replace(second, `"concurrency":`, `"concurrence":`, 1) + "\n", "", "u.jsonl:2: "},
		"cut":     {first + "\n" + second[:100], "", "u.jsonl:2"},
		"a gap":   {first + "\n\n" + second + "\n", "", "u.jsonl:2: is empty"},
		"nothing": {"", "", "u.jsonl: is empty"},
	} {
		dir := withFiles(t, map[string]string{"u.jsonl": c.text})
		if code, out, complaint := blisIn(t, dir, "schema", "validate", "unit", "u.jsonl"); (code == exit.Done) != (c.want == "") || out != c.out || !strings.Contains(complaint, c.want) {
			t.Errorf("%s: got %d, %s%s, want %q, %q", name, code, out, complaint, c.out, c.want)
		}
	}
}

// Every file is checked, whatever is wrong with another.
func TestValidateChecksEveryFile(t *testing.T) {
	dir := withFiles(t, map[string]string{"a.yaml": strings.Replace(chatScenario, "model:", "modell:", 1), "b.yaml": chatScenario, "c.yaml": strings.Replace(chatScenario, "hardware:", "hard:", 1)})
	code, out, complaint := blisIn(t, dir, "schema", "validate", "scenario", "a.yaml", "b.yaml", "c.yaml")
	for _, want := range []string{"refused: a.yaml:", "b.yaml: a valid scenario\n", "refused: c.yaml:"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
	if code != exit.Refused || !strings.Contains(complaint, "2 of 3 files refused, the first: a.yaml:") {
		t.Errorf("got %d, %s", code, complaint)
	}
}

// TestAPublishedPointIsValid: the document beside a point's page has a schema.
func TestAPublishedPointIsValid(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	_, result, _ := blisIn(t, dir, "run", "s.yaml")
	r := new(spec.Result)
	if err := json.Unmarshal([]byte(result), r); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(record.PointFile{Point: &record.Point{}, Trial: &record.Trial{Scenario: r.Inputs.Scenario, Result: r}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "point.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, complaint := blisIn(t, dir, "schema", "validate", "point", "point.json"); code != exit.Done {
		t.Errorf("got %d, %s", code, complaint)
	}
}

// TestAPreRegistrationIsReadAsTheGateReadsIt: what its schema cannot say is judged too.
func TestAPreRegistrationIsReadAsTheGateReadsIt(t *testing.T) {
	const whole = "schema: blis.preregistration/1\nchange: a-change\nhypothesis: h\nlayer: method\ntarget: {lane: vllm, metric: tpot_mean}\n" +
		"criteria: {target: better, others: not worse}\npredicted_change: {low: -0.05, high: -0.01}\n"
	for name, c := range map[string]struct{ from, to, want string }{
		"as it was":         {"", "", ""},
		"low above high":    {"-0.05", "0.05", "predicted_change: 0.05 to -0.01"},
		"another metric":    {"tpot_mean", "tpot", "target.metric: tpot"},
		"the commit it has": {"layer:", "commits: {}\nlayer:", "commits"},
	} {
		dir := withFiles(t, map[string]string{"r.yaml": strings.Replace(whole, c.from, c.to, 1)})
		code, out, complaint := blisIn(t, dir, "schema", "validate", "pre-registration", "r.yaml")
		if (code == exit.Done) != (c.want == "") || !strings.Contains(complaint, c.want) {
			t.Errorf("%s: got %d, %s%s, want %q", name, code, out, complaint, c.want)
		}
	}
}
