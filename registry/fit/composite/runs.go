package composite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Runs simulates measured runs of role fit at trial values of the parameters.
type Runs struct {
	World *world.World
	Jobs  int

	units []*ledger.Unit
	left  map[string]int // units not run, by reason
}

// weights of the two metrics: a run's TTFT repeats about twice as badly as its
// TPOT, and depends on more that is not priced.
var weights = map[string]float64{"tpot_mean": 1, "ttft_mean": 0.25}

// Problem tries every fit unit of an engine once at the parameters' start and
// takes those that run.
func (r *Runs) Problem(ctx context.Context, l *ledger.Ledger, engine string, params []Parameter) (*Problem, error) {
	var units []*ledger.Unit
	for u := range l.ByRole(ledger.Fit) {
		if u.Framework == engine {
			units = append(units, u)
		}
	}
	trials, err := r.try(ctx, params, starts(params), units)
	if err != nil {
		return nil, err
	}
	points, err := scorer.Points(trials)
	if err != nil {
		return nil, err
	}
	p := &Problem{Parameters: params, Rounds: 3}
	r.left = map[string]int{}
	for i := range points {
		if points[i].Grade == record.G5 {
			r.left[string(points[i].Reason)]++
			continue
		}
		r.units = append(r.units, units[i])
		p.Observations = append(p.Observations, observe(units[i], &points[i])...)
	}
	p.Simulate = func(values []float64, which []int) ([]float64, error) { return r.simulate(ctx, params, values, which) }
	return p, nil
}

// Left counts the fit units that did not run, by the reason the harness gave.
func (r *Runs) Left() map[string]int { return r.left }

// metrics are observed in this order for each unit.
var metrics = [...]string{"tpot_mean", "ttft_mean"}

func observe(u *ledger.Unit, p *record.Point) []Observation {
	var out []Observation
	for _, m := range metrics {
		out = append(out, Observation{
			Unit: u.ID, Curve: fmt.Sprint(u.RoleKey), Lane: p.Lane, Metric: m,
			Measured: p.Metrics[m].Measured, Weight: weights[m], Capacity: p.KVLimited,
		})
	}
	return out
}

// simulate runs each unit that some wanted observation belongs to, once.
func (r *Runs) simulate(ctx context.Context, params []Parameter, values []float64, which []int) ([]float64, error) {
	var units []*ledger.Unit
	at := map[int]int{} // unit of r.units to place in units
	for _, i := range which {
		if _, ok := at[i/len(metrics)]; !ok {
			at[i/len(metrics)] = len(units)
			units = append(units, r.units[i/len(metrics)])
		}
	}
	trials, err := r.try(ctx, params, values, units)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(which))
	for k, i := range which {
		t := &trials[at[i/len(metrics)]]
		if t.Result == nil {
			return nil, fmt.Errorf("unit %s ran at the start and not at %v: %+v", t.Unit.ID, values, t.Refusal)
		}
		f, ok := t.Result.Figure(metrics[i%len(metrics)], "cluster")
		if !ok {
			return nil, fmt.Errorf("unit %s: its result has no %s: %s", t.Unit.ID, metrics[i%len(metrics)], strings.Join(t.Result.Failures, ", "))
		}
		out[k] = f.Value
	}
	return out, nil
}

func (r *Runs) try(ctx context.Context, params []Parameter, values []float64, units []*ledger.Unit) ([]record.Trial, error) {
	var trial []*registry.Entry
	for _, s := range Sets(r.World.Catalog, params, &Fit{Values: values}, Evidence{}) {
		trial = append(trial, s.Entries...)
	}
	w := *r.World
	var err error
	if w.Registry, err = w.Registry.With(trial...); err != nil {
		return nil, err
	}
	h := &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: w.Run}
	return h.Run(ctx, units, harness.Options{Jobs: r.Jobs})
}

func starts(params []Parameter) []float64 {
	var out []float64
	for _, p := range params {
		out = append(out, p.Start)
	}
	return out
}

// Evidence is what the entries of f cite.
func (r *Runs) Evidence(p *Problem, f *Fit) Evidence {
	e := Evidence{Units: len(r.units)}
	var ids []string
	for _, u := range r.units {
		ids = append(ids, u.ID)
		if ref, ok := r.World.Catalog.Resolve(u.Source, u.Hardware); ok && !slices.Contains(e.Chips, ref.Name) {
			e.Chips = append(e.Chips, ref.Name)
		}
	}
	slices.Sort(ids)
	slices.Sort(e.Chips)
	e.SHA256 = canon.Sum([]byte(strings.Join(ids, "\n") + "\n"))
	if t := p.Errors(f.LeftOut, false); len(t) > 0 { // the first row is TPOT over all lanes
		e.Error = &registry.Error{Held: t[0].Count, Median: digits(t[0].Median), Bias: digits(t[0].Bias), P95: digits(p.p95(f.LeftOut))}
	}
	return e
}

// p95 is the 95th percentile of the absolute TPOT error.
func (p *Problem) p95(predicted []float64) float64 {
	var e []float64
	for i := range p.Observations {
		if o := &p.Observations[i]; o.Metric == metrics[0] && !o.Capacity {
			e = append(e, math.Abs(predicted[i]/o.Measured-1))
		}
	}
	slices.Sort(e)
	return e[len(e)*95/100]
}
