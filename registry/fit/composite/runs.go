package composite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Runs simulates measured runs of role fit at trial values of the parameters.
type Runs struct {
	World *world.World
	Jobs  int

	units []*ledger.Unit
	left  map[string]int // units not run, by reason

	watched []float64 // values of kept
	kept    map[string]outcome
}

// weights of the two metrics: a run's TTFT repeats about twice as badly as its
// TPOT, and depends on more that is not priced.
var weights = map[string]float64{"tpot_mean": 1, "ttft_mean": 0.25}

// Problem tries every fit unit of an engine once at the parameters' start and
// takes those that run.
func (r *Runs) Problem(ctx context.Context, l *ledger.Ledger, engine string, params []Parameter) (*Problem, error) {
	p := &Problem{Parameters: params, Rounds: roundsOf(engine)}
	if _, err := r.try(ctx, l, engine, p, true); err != nil {
		return nil, err
	}
	p.Simulate = func(values []float64, which []int) ([]float64, error) { return r.simulate(ctx, params, values, which) }
	p.Slopes = func(values []float64) ([]float64, [][]float64, error) { return r.slopes(ctx, params, values, p.all()) }
	return p, nil
}

// try fills p's observations with the units that run at its parameters' start, and
// returns the prediction of each.
func (r *Runs) try(ctx context.Context, l *ledger.Ledger, engine string, p *Problem, watch bool) (predicted []float64, err error) {
	var units []*ledger.Unit
	for u := range l.ByRole(ledger.Fit) {
		if u.Framework == engine {
			units = append(units, u)
		}
	}
	tried, err := r.outcomes(ctx, p.Parameters, starts(p.Parameters), units, watch)
	if err != nil {
		return nil, err
	}
	trials := make([]record.Trial, len(tried))
	for i := range tried {
		trials[i] = *tried[i].trial
	}
	points, err := scorer.Points(trials)
	if err != nil {
		return nil, err
	}
	r.left = map[string]int{}
	for i := range points {
		if points[i].Grade == record.G5 {
			r.left[string(points[i].Reason)]++
			continue
		}
		r.units = append(r.units, units[i])
		for _, o := range observe(units[i], &points[i]) {
			v, err := tried[i].figure(o.Metric)
			if err != nil {
				return nil, err
			}
			p.Observations, predicted = append(p.Observations, o), append(predicted, v)
		}
	}
	return predicted, nil
}

// Judge is the errors of an engine's fit runs at the registry in use, by lane: those
// not limited by KV capacity, then those that are.
func (r *Runs) Judge(ctx context.Context, l *ledger.Ledger, engine string) (free, limited []Errors, err error) {
	p := new(Problem)
	predicted, err := r.try(ctx, l, engine, p, false)
	if err != nil {
		return nil, nil, err
	}
	return p.Errors(predicted, false), p.Errors(predicted, true), nil
}

// Left counts the fit units that did not run, by the reason the harness gave.
func (r *Runs) Left() map[string]int { return r.left }

// metrics are observed in this order for each unit.
var metrics = [...]string{"tpot_mean", "ttft_mean"}

func observe(u *ledger.Unit, p *record.Point) []Observation {
	var out []Observation
	for _, m := range metrics {
		o := Observation{
			Unit: u.ID, Curve: fmt.Sprint(u.RoleKey), Lane: p.Lane, Metric: m,
			Measured: p.Metrics[m].Measured, Weight: weights[m], Capacity: p.KVLimited,
		}
		if m == "ttft_mean" && cold(u) {
			o.Weight = 0
		}
		out = append(out, o)
	}
	return out
}

// simulate runs each unit that some wanted observation belongs to, once.
func (r *Runs) simulate(ctx context.Context, params []Parameter, values []float64, which []int) ([]float64, error) {
	got, err := r.observed(ctx, params, values, which, false)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(which))
	for k, i := range which {
		if out[k], err = got[k].figure(metrics[i%len(metrics)]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// slopes simulates and differentiates on the way.
func (r *Runs) slopes(ctx context.Context, params []Parameter, values []float64, which []int) ([]float64, [][]float64, error) {
	got, err := r.observed(ctx, params, values, which, true)
	if err != nil {
		return nil, nil, err
	}
	predicted, out := make([]float64, len(which)), make([][]float64, len(which))
	for k, i := range which {
		metric := metrics[i%len(metrics)]
		if predicted[k], err = got[k].figure(metric); err != nil {
			return nil, nil, err
		}
		for j := range params {
			out[k] = append(out[k], got[k].slopes.by(metric, &params[j]))
		}
	}
	return predicted, out, nil
}

// outcome is one run, and its slopes when they were asked for.
type outcome struct {
	trial  *record.Trial
	slopes slopes
}

func (o *outcome) figure(metric string) (float64, error) {
	if o.trial.Result == nil {
		return 0, fmt.Errorf("unit %s ran at the start and not any more: %+v", o.trial.Unit.ID, o.trial.Refusal)
	}
	f, ok := o.trial.Result.Figure(metric, "cluster")
	if !ok {
		return 0, fmt.Errorf("unit %s: its result has no %s: %s", o.trial.Unit.ID, metric, strings.Join(o.trial.Result.Failures, ", "))
	}
	return f.Value, nil
}

// observed gives the outcome behind each observation of which.
func (r *Runs) observed(ctx context.Context, params []Parameter, values []float64, which []int, watch bool) ([]outcome, error) {
	var units []*ledger.Unit
	at := map[int]int{} // unit of r.units to place in units
	for _, i := range which {
		if _, ok := at[i/len(metrics)]; !ok {
			at[i/len(metrics)] = len(units)
			units = append(units, r.units[i/len(metrics)])
		}
	}
	got, err := r.outcomes(ctx, params, values, units, watch)
	if err != nil {
		return nil, err
	}
	out := make([]outcome, len(which))
	for k, i := range which {
		out[k] = got[at[i/len(metrics)]]
	}
	return out, nil
}

// outcomes runs units at values; the watched runs of the values last watched are
// kept.
func (r *Runs) outcomes(ctx context.Context, params []Parameter, values []float64, units []*ledger.Unit, watch bool) ([]outcome, error) {
	out := make([]outcome, len(units))
	if watch && slices.Equal(values, r.watched) {
		for i, u := range units {
			out[i] = r.kept[u.ID]
		}
		return out, nil
	}
	w, err := r.world(params, values)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	found := map[string]slopes{} // by the scenario's hash
	simulate := w.Run
	if watch {
		simulate = func(s *spec.Scenario) (*spec.Result, error) {
			result, d, err := run(w, s)
			if err == nil {
				mu.Lock()
				found[result.Inputs.ScenarioSHA256] = d
				mu.Unlock()
			}
			return result, err
		}
	}
	h := &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: simulate}
	trials, err := h.Run(ctx, units, harness.Options{Jobs: r.Jobs})
	if err != nil {
		return nil, err
	}
	for i := range trials {
		out[i].trial = &trials[i]
		if trials[i].Result != nil {
			out[i].slopes = found[trials[i].Result.Inputs.ScenarioSHA256]
		}
	}
	if watch {
		r.watched, r.kept = slices.Clone(values), map[string]outcome{}
		for i, u := range units {
			r.kept[u.ID] = out[i]
		}
	}
	return out, nil
}

// world is the one in use at trial values.
func (r *Runs) world(params []Parameter, values []float64) (*world.World, error) {
	var trial []*registry.Entry
	for _, s := range Sets(r.World.Catalog, params, &Fit{Values: values}, Evidence{}) {
		trial = append(trial, s.Entries...)
	}
	w := *r.World
	var err error
	w.Registry, err = w.Registry.With(trial...)
	return &w, err
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
