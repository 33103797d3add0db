// Package harness turns a measured unit into a scenario, runs it, and writes down
// what became of everything the run recorded: unit in, record.Trial out.
//
// The four steps are State (copy the passed settings), Estimate (apply the
// engine's own rule where a setting is not modelled), Decide (read each field's
// status from the engine's list) and Price (run). The package holds no table of
// settings: what a setting is and what stands in for it comes from the engine's
// field list alone. It compares nothing and grades nothing. Trials come back in
// the order of the units, whatever the number of workers.
//
// Source: Target Design §11.2 to §11.4, §11.7. Rules kept: COV-3, COV-5, COV-6,
// COV-10, COV-12.
package harness

import (
	"errors"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// World is the one simulator build that every trial of a run uses (COV-6).
type World struct {
	Catalog *catalog.Catalog
	Engines []engines.Kind
	// Simulate runs a complete scenario; workers call it at the same time. A
	// *diag.Refusal by a rule of the engine, the catalog or the acceptance profiles
	// is a unit the simulator cannot run; any other error is a defect and ends the
	// whole run.
	Simulate func(*spec.Scenario) (*spec.Result, error)
	// Watch runs a scenario as Simulate does and keeps what it did over time; nil leaves
	// that out.
	Watch func(*spec.Scenario) (*spec.Result, *record.Timeline, error)
	// Typical prices a few step shapes of a finished run; nil leaves them out.
	Typical func(*spec.Scenario, *spec.Result) ([]record.TypicalStep, error)
	// Build names every input of Simulate that a scenario does not: program, catalog
	// and registry hashes. Equal builds give equal trials.
	Build map[string]string
}

// State writes u down as a scenario without running it: the trial holds the
// scenario, or a refusal with a reason of §11.4, and every setting, estimate and
// client difference met on the way.
func (w *World) State(u *ledger.Unit) (*record.Trial, error) {
	t := &record.Trial{Unit: u, EngineVersion: version(u), Settings: []record.Setting{}, Estimates: []record.Estimate{},
		Client: []string{}, Steps: []record.TypicalStep{}, Libraries: []record.Library{}}
	s, refused := w.scenario(t)
	if refused != nil {
		t.Refusal = refused
		return t, nil
	}
	if err := s.Complete(); err != nil {
		return nil, fmt.Errorf("unit %s: its scenario is not complete: %w", u.ID, err)
	}
	t.Scenario = s
	return t, nil
}

// Try states u and runs it. The trial holds a result or a refusal.
func (w *World) Try(u *ledger.Unit) (*record.Trial, error) {
	t, err := w.State(u)
	if err != nil || t.Refusal != nil {
		return t, err
	}
	if w.Watch != nil {
		t.Result, t.Timeline, err = w.Watch(t.Scenario)
	} else {
		t.Result, err = w.Simulate(t.Scenario)
	}
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		if t.Refusal = simulatorRefused(r); t.Refusal != nil {
			t.Scenario = nil
			return t, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("unit %s: %w", u.ID, err)
	}
	resolve(t)
	if w.Typical != nil {
		if t.Steps, err = w.Typical(t.Scenario, t.Result); err != nil {
			return nil, fmt.Errorf("unit %s: %w", u.ID, err)
		}
	}
	return t, nil
}
