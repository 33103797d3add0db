package composite

import (
	"fmt"
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// synthetic is runs whose time is known: a fixed device time, a gap and a cost a
// sequence, the floor of a launch on every third run.
func synthetic(truth []float64, noise float64) *Problem {
	p := &Problem{Rounds: 4, Parameters: []Parameter{
		{Key: registry.Key{Primitive: registry.HostStep}, Unit: "s", Scale: 1e-3},
		{Key: registry.Key{Primitive: registry.HostSequence}, Unit: "s", Scale: 1e-5},
		{Key: registry.Key{Primitive: registry.HostLaunch}, Unit: "s", Start: 1e-3, Scale: 1e-3},
		{Key: registry.Key{Primitive: registry.HostBurst}, Unit: "s", Scale: 1e-3}, // reaches no run
	}}
	type run struct{ device, seqs, eager float64 }
	var runs []run
	for lane := range 6 {
		for c := range 8 {
			r := run{device: 2e-3 * float64(lane+1) * (1 + 0.1*float64(c)), seqs: float64(int(1) << c)}
			if c%3 == 0 {
				r.eager = 30 + 10*float64(lane)
			}
			runs = append(runs, r)
			p.Observations = append(p.Observations, Observation{Unit: fmt.Sprint(lane, c), Lane: fmt.Sprint(lane), Curve: fmt.Sprint(lane, c%2), Metric: "tpot_mean", Weight: 1})
		}
	}
	time := func(r run, v []float64) float64 { return math.Max(r.device, r.eager*v[2]) + v[0] + r.seqs*v[1] }
	for i, r := range runs {
		p.Observations[i].Measured = time(r, truth) * (1 + noise*float64(i%5-2))
	}
	p.Simulate = func(v []float64, which []int) ([]float64, error) {
		out := make([]float64, len(which))
		for k, i := range which {
			out[k] = time(runs[i], v)
		}
		return out, nil
	}
	return p
}

func TestFitFindsWhatTheRunsWereMadeWith(t *testing.T) {
	keep.Rule(t, "D1", "SUB-4", "VAL-7")
	truth := []float64{8e-4, 1.1e-5, 1.3e-3, 0}
	p := synthetic(truth, 0.01)
	f, err := Run(p)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range truth[:3] {
		if got := f.Values[j]; math.Abs(got-want) > 0.1*want {
			t.Errorf("%s: got %v, want %v", p.Parameters[j].Key.Primitive, got, want)
		}
		if f.Low[j] > want || f.High[j] < want {
			t.Errorf("%s: interval [%v, %v] leaves out %v", p.Parameters[j].Key.Primitive, f.Low[j], f.High[j], want)
		}
	}
	if e := p.Errors(f.LeftOut, false)[0]; e.Mean > 0.03 || e.Count != 48 {
		t.Errorf("left out: got %+v, want 48 observations within 3%%", e)
	}
}

// TestOutlierDoesNotPull: one run ten times too slow moves no value by a tenth.
func TestOutlierDoesNotPull(t *testing.T) {
	truth := []float64{8e-4, 1.1e-5, 1.3e-3, 0}
	p := synthetic(truth, 0)
	p.Observations[5].Measured *= 10
	f, err := Run(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Values[0]; math.Abs(got-truth[0]) > 0.1*truth[0] {
		t.Errorf("got %v, want %v", got, truth[0])
	}
}

func TestCapacityRunsAreNotFitted(t *testing.T) {
	p := synthetic([]float64{8e-4, 1.1e-5, 1.3e-3, 0}, 0)
	for i := range p.Observations {
		if i%2 == 0 {
			p.Observations[i].Capacity = true
			p.Observations[i].Measured *= 3
		}
	}
	f, err := Run(p)
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Errors(f.Predicted, false)[0]; e.Count != 24 || e.Mean > 0.01 {
		t.Errorf("got %+v, want the 24 others within 1%%", e)
	}
	if e := p.Errors(f.Predicted, true)[0]; e.Count != 24 || e.Bias > -0.5 {
		t.Errorf("got %+v, want the 24 shown apart and far too low", e)
	}
}

func TestTooFewObservationsAreRefused(t *testing.T) {
	keep.Rule(t, "VAL-10")
	p := synthetic([]float64{0, 0, 1e-3, 0}, 0)
	p.Observations = p.Observations[:4]
	if _, err := Run(p); err == nil {
		t.Error("4 observations of 4 parameters: accepted, want a refusal")
	}
}

// TestLaneLeftOutKnowsNothingOfIt: a parameter only one lane depends on stays at its
// start when that lane is left out.
func TestLaneLeftOutKnowsNothingOfIt(t *testing.T) {
	p := synthetic([]float64{8e-4, 1.1e-5, 1.3e-3, 0}, 0)
	simulate := p.Simulate
	p.Parameters[3] = Parameter{Key: registry.Key{Primitive: registry.KernelMemory, Kernel: "k"}, Chips: []string{"c"}, Unit: "ratio", Start: 1, Scale: 0.2}
	p.Simulate = func(v []float64, which []int) ([]float64, error) {
		out, err := simulate([]float64{v[0], v[1], v[2], 0}, which)
		for k, i := range which {
			if p.Observations[i].Lane == "2" {
				out[k] *= v[3]
			}
		}
		return out, err
	}
	for i := range p.Observations {
		if p.Observations[i].Lane == "2" {
			p.Observations[i].Measured *= 1.4
		}
	}
	f, err := Run(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Values[3]; math.Abs(got-1.4) > 0.02 {
		t.Errorf("fitted factor: got %v, want 1.4", got)
	}
	if got := f.ByLane["2"][3]; got != 1 {
		t.Errorf("factor without its lane: got %v, want its start 1", got)
	}
}
