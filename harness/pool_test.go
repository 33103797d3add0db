package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func fitUnits(t testing.TB, n int) []*ledger.Unit {
	t.Helper()
	var out []*ledger.Unit
	for u := range measured(t).ByRole(ledger.Fit) {
		if len(out) < n {
			out = append(out, u)
		}
	}
	return out
}

func documents(t testing.TB, trials []record.Trial) []byte {
	t.Helper()
	b, err := canon.JSON(trials)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func full(t testing.TB) *World {
	all := everything(t, measured(t))
	return world(t, port{name: "vllm", list: all}, port{name: "sglang", list: all})
}

func TestWorkersAndStoreChangeNothing(t *testing.T) {
	keep.Rule(t, "X6")
	w, units := full(t), fitUnits(t, 60)
	want, err := w.Run(t.Context(), units, Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	store := &Store{Dir: t.TempDir()}
	for _, o := range []Options{{Jobs: 8}, {Jobs: 3, Store: store}, {Jobs: 2, Store: store}, {}} {
		got, err := w.Run(t.Context(), units, o)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(documents(t, got), documents(t, want)) {
			t.Errorf("jobs %d, store %v: other bytes than with one worker", o.Jobs, o.Store)
		}
	}
}

// An interrupted run keeps what it finished; the next one tries only the rest.
func TestResumeAfterInterruption(t *testing.T) {
	w, units := full(t), fitUnits(t, 40)
	var runs atomic.Int32
	simulate := w.Simulate
	w.Simulate = func(s *spec.Scenario) (*spec.Result, error) {
		runs.Add(1)
		return simulate(s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Jobs: 1, Store: &Store{Dir: filepath.Join(t.TempDir(), "trials")}}
	o.Done = func(_ *record.Trial, done, _ int) {
		if done == 25 {
			cancel()
		}
	}
	if _, err := w.Run(ctx, units, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	before := runs.Load()
	o.Done = nil
	if _, err := w.Run(t.Context(), units, o); err != nil {
		t.Fatal(err)
	}
	once := runs.Load()
	runs.Store(0)
	fresh, err := w.Run(t.Context(), units, Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if before == 0 || once != runs.Load() {
		t.Errorf("simulated %d then %d in all, want %d", before, once, runs.Load())
	}
	resumed, err := w.Run(t.Context(), units, o)
	if err != nil || !bytes.Equal(documents(t, resumed), documents(t, fresh)) {
		t.Errorf("the resumed run gives other bytes (%v)", err)
	}
	left, err := filepath.Glob(filepath.Join(o.Store.Dir, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("half-written files left: %v (%v)", left, err)
	}
}

func TestAnotherBuildIsTriedAgain(t *testing.T) {
	keep.Rule(t, "COV-6", "SIM-10", "X8")
	w, units := full(t), fitUnits(t, 20)
	store := &Store{Dir: t.TempDir()}
	if _, err := w.Run(t.Context(), units, Options{Jobs: 1, Store: store}); err != nil {
		t.Fatal(err)
	}
	ran := false
	w.Build = map[string]string{"program": "other"}
	simulate := w.Simulate
	w.Simulate = func(s *spec.Scenario) (*spec.Result, error) { ran = true; return simulate(s) }
	if _, err := w.Run(t.Context(), units, Options{Jobs: 1, Store: store}); err != nil || !ran {
		t.Errorf("ran %v (%v), want a new run", ran, err)
	}
}

func TestDefectEndsTheRunAndNamesTheUnit(t *testing.T) {
	w, units := full(t), fitUnits(t, 40)
	w.Simulate = func(*spec.Scenario) (*spec.Result, error) { return nil, errors.New("deadlock") }
	if _, err := w.Run(t.Context(), units, Options{Jobs: 2}); err == nil || !strings.Contains(err.Error(), "unit ") || !strings.Contains(err.Error(), "deadlock") {
		t.Errorf("got %v, want a defect that names its unit", err)
	}
}

func TestSpoiledStoreIsRefused(t *testing.T) {
	w, units := full(t), fitUnits(t, 1)
	store := &Store{Dir: t.TempDir()}
	if _, err := w.Run(t.Context(), units, Options{Store: store}); err != nil {
		t.Fatal(err)
	}
	path := store.path(units[0].ID)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), units, Options{Store: store}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want a refusal of %s", err, path)
	}
}

func TestUnwritableStoreIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := full(t).Run(t.Context(), fitUnits(t, 1), Options{Store: &Store{Dir: filepath.Join(file, "trials")}})
	if err == nil || !strings.Contains(err.Error(), "cannot be") {
		t.Errorf("got %v, want one clear refusal", err)
	}
}
