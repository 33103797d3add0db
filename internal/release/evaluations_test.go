package release

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
)

// The notes count each change's evaluations, those that did not pass too, and name the changes
// since the release before alone.
func TestNotesCountEvaluations(t *testing.T) {
	keep.Rule(t, "LIF-4")
	log, text := new(gate.Log), ""
	add := func(change string, role ledger.Role, passed bool) {
		line, err := log.Append(&gate.Evaluation{Change: change, Role: role, Report: &gate.Report{Passed: passed, Why: "no lane is worse"}})
		if err != nil {
			t.Fatal(err)
		}
		text += string(line)
	}
	said := func(want string) {
		t.Helper()
		got, err := Evaluations("e.jsonl", []byte(text))
		if want = "## Evaluations on held units\n\n" + want + "\n"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	said("None.\n")
	add("early", ledger.Held, true)
	add("release", ledger.Held, true)
	said("- early: 1 in all, the last passed: no lane is worse\n- release: 1 in all, the last passed: no lane is worse\n")
	add("b-change", ledger.Held, false)
	add("b-change", ledger.Held, true)
	add("select", ledger.Select, true)
	add("a-change", ledger.Held, false)
	add("release", ledger.Held, true)
	said("- a-change: 1 in all, the last not passed: no lane is worse\n- b-change: 2 in all, the last passed: no lane is worse\n- release: 2 in all, the last passed: no lane is worse\n")
	if _, err := Evaluations("e.jsonl", []byte(strings.Replace(text, "b-change", "c-change", 1))); err == nil {
		t.Error("a changed log was accepted")
	}
}
