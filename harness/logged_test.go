package harness

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// §11.2: what the engine logged stands beside what was launched. The same stage with
// two values is a conflict; a value that is logged as resolved alone is stated only
// where the engine models it.
func TestWhatTheEngineLogged(t *testing.T) {
	keep.Rule(t, "COV-3")
	rows := []string{`{"name":"block-size","kind":"argument","status":"modelled","values":["16","32"]}`, `{"name":"seed","kind":"argument","status":"inert"}`,
		`{"name":"n","kind":"argument","status":"not_modelled"}`}
	for _, c := range []struct {
		name   string
		log    ledger.Logged
		args   string // of the scenario; empty: refused
		settle record.Setting
	}{
		{"resolved beside passed", ledger.Logged{Resolved: map[string]any{"block-size": json.Number("16")}}, `{"block-size":32}`,
			record.Setting{Name: "block-size", Recorded: "32", Stage: "passed", Status: fields.Modelled, Covered: true, Stated: "block-size=32", Resolved: "16", Logged: "16"}},
		{"resolved alone", ledger.Logged{Resolved: map[string]any{"seed": json.Number("7")}}, `{"block-size":32,"seed":7}`,
			record.Setting{Name: "seed", Recorded: "7", Stage: "resolved", Status: fields.Inert, Covered: true, Stated: "seed=7", Logged: "7"}},
		{"resolved alone, not modelled", ledger.Logged{Resolved: map[string]any{"n": "x"}}, `{"block-size":32}`,
			record.Setting{Name: "n", Recorded: "x", Stage: "resolved", Status: fields.NotModelled, Covered: true, Logged: "x"}},
		{"logged as passed alone", ledger.Logged{Passed: map[string]any{"seed": json.Number("7")}}, `{"block-size":32,"seed":7}`,
			record.Setting{Name: "seed", Recorded: "7", Stage: "passed", Status: fields.Inert, Covered: true, Stated: "seed=7"}},
		{"logged as launched", ledger.Logged{Passed: map[string]any{"block-size": json.Number("32")}}, `{"block-size":32}`, record.Setting{}},
		{"a conflict", ledger.Logged{Passed: map[string]any{"block-size": json.Number("16")}}, "", record.Setting{}},
	} {
		u := unit(t, `{"block-size":32}`)
		u.Configurations[0].Logged = &c.log
		trial := try(t, world(t, port{name: "vllm", list: list(t, slices.Clone(rows)...)}), u)
		if c.args == "" {
			if r := trial.Refusal; r == nil || r.Reason != record.ValueConflict || r.Detail != "block-size: launched as 32 and logged as passed as 16" {
				t.Errorf("%s: got %+v, want %s", c.name, r, record.ValueConflict)
			}
			continue
		}
		if trial.Refusal != nil {
			t.Errorf("%s: refused: %+v", c.name, trial.Refusal)
			continue
		}
		if b, err := canon.JSON(trial.Scenario.Engine.Args); err != nil || string(b) != c.args {
			t.Errorf("%s: scenario states %s, %v, want %s", c.name, b, err, c.args)
		}
		if c.settle.Name != "" && !slices.Contains(trial.Settings, c.settle) {
			t.Errorf("%s: got %+v, want %+v among them", c.name, trial.Settings, c.settle)
		}
	}
	u := unit(t, `{"block-size":32}`)
	u.Configurations[0].Logged = &ledger.Logged{Libraries: map[string]string{"flashinfer": "0.7"}}
	trial := try(t, world(t, port{name: "vllm", list: list(t, slices.Clone(rows)...)}), u)
	if want := []record.Library{{Name: "flashinfer", Version: "0.7"}}; !slices.Equal(trial.Libraries, want) {
		t.Errorf("libraries: got %+v, want %+v", trial.Libraries, want)
	}
}
