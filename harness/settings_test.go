package harness

import (
	"errors"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func TestEngineWithoutAFieldListIsUnclassified(t *testing.T) {
	keep.Rule(t, "COV-3")
	trial := try(t, world(t, port{name: "vllm"}), unit(t, `{"a":1}`))
	if trial.Refusal == nil || trial.Refusal.Reason != record.FieldUnclassified {
		t.Errorf("got %+v, want %s", trial.Refusal, record.FieldUnclassified)
	}
}

func TestEstimationRules(t *testing.T) {
	keep.Rule(t, "COV-3")
	for _, c := range []struct {
		name, row, args string
		scenario        string // canonical arguments
		want            record.Estimate
	}{
		{"unset", `{"name":"x","kind":"argument","status":"not_modelled","rule":{"do":"unset","reason":"why"}}`, `{"x":1,"a":0.90}`, `{"a":0.9}`,
			record.Estimate{Field: "x", Recorded: "1", Rule: "unset", Reason: "why"}},
		{"no effect", `{"name":"x","kind":"argument","status":"removed","rule":{"do":"no_effect","reason":"why","preserves":"p"}}`, `{"x":true,"a":1}`, `{"a":1}`,
			record.Estimate{Field: "x", Recorded: "true", Rule: "no_effect", Reason: "why", Exact: true}},
		{"set", `{"name":"x","kind":"argument","status":"not_modelled","rule":{"do":"set","field":"a","value":"[1,2]","reason":"why"}}`, `{"x":"y"}`, `{"a":[1,2]}`,
			record.Estimate{Field: "x", Recorded: "y", Rule: "set", StoodIn: "a=[1,2]", Reason: "why"}},
		{"renamed key", `{"name":"j.old","kind":"argument","status":"removed","rule":{"do":"rename","field":"j.p.new","reason":"why","preserves":"all"}}`,
			`{"j":{"old":true,"p":{"q":1}}}`, `{"j":{"p":{"new":true,"q":1}}}`,
			record.Estimate{Field: "j.old", Recorded: "true", Rule: "rename", StoodIn: "j.p.new=true", Reason: "why", Exact: true}},
		{"argument for a variable", `{"name":"X","kind":"environment","status":"removed","rule":{"do":"set","field":"a","value":"marlin","reason":"why"}}`, `env X=1`, `{"a":"marlin"}`,
			record.Estimate{Field: "X", Recorded: "1", Rule: "set", StoodIn: "a=marlin", Reason: "why"}},
		{"covered by valid_when", `{"name":"x","kind":"argument","status":"not_modelled","rule":{"do":"unset","reason":"why","preserves":"p","valid_when":["auto"]}}`,
			`{"x":"auto"}`, `{}`, record.Estimate{Field: "x", Recorded: "auto", Rule: "unset", Reason: "why", Exact: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := list(t, c.row, `{"name":"a","kind":"argument","status":"modelled"}`, `{"name":"j","kind":"argument","status":"inert"}`)
			args, env, isEnv := c.args, "", false
			if env, isEnv = strings.CutPrefix(c.args, "env "); isEnv {
				args = "{}"
			}
			u := unit(t, args)
			if name, value, ok := strings.Cut(env, "="); isEnv && ok {
				u.Configurations[0].Env = map[string]string{name: value}
			}
			trial := try(t, world(t, port{name: "vllm", list: l}), u)
			if trial.Refusal != nil {
				t.Fatalf("refused: %+v", trial.Refusal)
			}
			b, err := canon.JSON(trial.Scenario.Engine.Args)
			if err != nil || string(b) != c.scenario {
				t.Errorf("scenario: got %s, want %s (%v)", b, c.scenario, err)
			}
			if len(trial.Estimates) != 1 || trial.Estimates[0] != c.want {
				t.Errorf("estimates: got %+v, want %+v", trial.Estimates, c.want)
			}
		})
	}
}

func TestValuesOutsideTheEvidenceAreMarked(t *testing.T) {
	keep.Rule(t, "VLM-3")
	l := list(t, `{"name":"a","kind":"argument","status":"modelled","values":["1","2"]}`, `{"name":"b","kind":"argument","status":"modelled"}`)
	trial := try(t, world(t, port{name: "vllm", list: l}), unit(t, `{"a":3,"b":4}`))
	if trial.Settings[0].Covered || !trial.Settings[1].Covered {
		t.Errorf("got %+v, want a uncovered, b covered", trial.Settings)
	}
}

func TestSimulatorRefusals(t *testing.T) {
	keep.Rule(t, "COV-5")
	l := list(t, `{"name":"block-size","kind":"argument","status":"modelled"}`)
	for _, c := range []struct {
		err  error
		want record.Reason
	}{
		{&diag.Refusal{Field: "block-size", Problem: "not supported", Rule: "X1"}, record.FieldNotModelled},
		{&diag.Refusal{Problem: "no such chip", Rule: "SUB-3"}, record.NotInCatalog},
		{&diag.Refusal{Problem: "no acceptance profile", Rule: "D8"}, record.ValueNotRecorded},
	} {
		w := world(t, port{name: "vllm", list: l})
		w.Simulate = func(*spec.Scenario) (*spec.Result, error) { return nil, c.err }
		if trial := try(t, w, unit(t, `{"block-size":1}`)); trial.Refusal == nil || trial.Refusal.Reason != c.want {
			t.Errorf("%v: got %+v, want %s", c.err, trial.Refusal, c.want)
		}
	}
	for _, defect := range []error{errors.New("deadlock"), &diag.Refusal{Field: "registry", Problem: "no entry"}} {
		w := world(t, port{name: "vllm", list: l})
		w.Simulate = func(*spec.Scenario) (*spec.Result, error) { return nil, defect }
		if _, err := w.Try(unit(t, `{"block-size":1}`)); !errors.Is(err, defect) {
			t.Errorf("got %v, want the defect %v", err, defect)
		}
	}
}

func TestResolvedValueStandsBesideThePassedOne(t *testing.T) {
	keep.Rule(t, "X19")
	l := list(t, `{"name":"block-size","kind":"argument","status":"modelled"}`)
	trial := try(t, world(t, port{name: "vllm", list: l}), unit(t, `{"block-size":32}`))
	if got := trial.Settings[0]; got.Resolved != "16" || got.Recorded != "32" {
		t.Errorf("got %+v, want 32 resolved to 16", got)
	}
}
