package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
)

// sensitivity moves the n coefficients that the winners depend on most across their
// intervals, and adds to the report who wins then.
func (a *arms) sensitivity(ctx context.Context, study *search.Study, r *search.Report, n int) error {
	shares, err := a.shares(ctx, study.Winners(r))
	if err != nil || shares.total == 0 {
		return err
	}
	found := search.Sensitivity{Coefficients: []search.Coefficient{}}
	var moves []search.Move
	for _, s := range shares.widest(n) {
		c := search.Coefficient{Name: s.name, Share: s.seconds / shares.total, Ends: []search.End{}}
		if e := s.entry.Entry.Error; e != nil {
			c.ShapeError = &e.P95
		}
		found.Coefficients = append(found.Coefficients, c)
		low, high := s.ends()
		for _, factor := range []float64{low, high} {
			w := *a.world
			if w.Registry, err = a.world.Registry.With(moved(s.entry, factor)); err != nil {
				return err
			}
			other := &arms{world: &w, files: a.files, jobs: a.jobs, progress: a.progress, stage: " at moved prices"}
			moves = append(moves, search.Move{Coefficient: len(found.Coefficients) - 1, Factor: factor, Simulate: other.in(ctx)})
		}
	}
	a.stage = " at unmoved prices"
	found.Unstated = shares.unstated / shares.total
	return study.Move(r, found, a.in(ctx), moves)
}

// moved is an entry whose every price is factor times what it was, as far as the chip's
// peak lets it fall.
func moved(r registry.Resolved, factor float64) *registry.Entry {
	e := *r.Entry
	if e.Value != nil {
		v := *e.Value * factor
		e.Value = &v
		return &e
	}
	c := form.Curve{LaunchUS: r.Curve.LaunchUS, Terms: slices.Clone(r.Curve.Terms)}
	first := &c.Terms[0] // terms multiply to the utilisation that a price, its launch included, is divided by
	first.Values = slices.Clone(first.Values)
	for i, row := range first.Values {
		first.Values[i] = slices.Clone(row)
		for j := range row {
			first.Values[i][j] /= factor
		}
	}
	e.Donor, e.Curve = nil, &c
	return &e
}

// shares is how much of some steps each coefficient prices.
type shares struct {
	of              []share
	total, unstated float64 // seconds
}

type share struct {
	name    string // of the key
	seconds float64
	entry   registry.Resolved
}

// width is how far the priced seconds move between the ends of the interval.
func (s *share) width() float64 {
	low, high := s.ends()
	return s.seconds * (high - low)
}

// ends are the factors at the ends of the interval, widened to hold the price itself.
func (s *share) ends() (low, high float64) {
	f := s.entry.Entry.Factor
	if f.IsZero() {
		return 1, 1
	}
	return min(1, f[0]), max(1, f[1])
}

// every is how many steps there are to one that is taken apart.
const every = 32

// shares runs jobs once and takes some of their steps apart.
func (a *arms) shares(ctx context.Context, jobs []search.Job) (*shares, error) {
	out := &shares{}
	for _, j := range jobs {
		w := a.world.Sim()
		w.Files, w.Environment = a.files, &dissecting{a.world.Environment(), out}
		if err := replications(ctx, "", j.Scenario, w, j.First, search.NewTrial(j).Add); err != nil {
			return nil, err
		}
	}
	entries, err := a.world.Registry.Entries()
	if err != nil {
		return nil, err
	}
	for i := range out.of {
		s := &out.of[i]
		at := slices.IndexFunc(entries, func(e *registry.Entry) bool { return e.Key.String() == s.name })
		if at < 0 {
			return nil, fmt.Errorf("search: %s prices a step and is no entry of the registry", s.name)
		}
		if s.entry, err = a.world.Registry.Lookup(entries[at].Key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// widest are the n coefficients whose intervals are widest, in seconds.
func (s *shares) widest(n int) []share {
	all := slices.DeleteFunc(slices.Clone(s.of), func(x share) bool { return x.width() == 0 })
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Or(cmp.Compare(b.width(), a.width()), cmp.Compare(a.name, b.name)) })
	return all[:min(n, len(all))]
}

// add counts a part for its coefficient, and for what whole runs ask on a kernel's time.
func (s *shares) add(p *plan.Part) {
	s.total += float64(p.Seconds)
	if p.Low == p.High {
		s.unstated += float64(p.Seconds)
	}
	for i, name := range p.Entries {
		if i > 0 && !strings.HasPrefix(name, string(registry.KernelCompute)) && !strings.HasPrefix(name, string(registry.KernelMemory)) {
			continue
		}
		at := slices.IndexFunc(s.of, func(x share) bool { return x.name == name })
		if at < 0 {
			at, s.of = len(s.of), append(s.of, share{name: name})
		}
		s.of[at].seconds += float64(p.Seconds)
	}
}

// dissecting is an environment whose pricers take some of their steps apart.
type dissecting struct {
	*sim.Environment
	into *shares
}

// Pricer returns a pricer that prices as the environment's own.
func (d *dissecting) Pricer(p *plan.PoolPlan) (engines.Pricer, error) {
	pricer, err := d.Environment.Pricer(p)
	if own, ok := pricer.(*cost.Pricer); ok {
		return &sampling{Pricer: own, into: d.into}, err
	}
	return pricer, err
}

type sampling struct {
	*cost.Pricer
	into *shares
	n    int
}

// Price takes every so many steps apart.
func (s *sampling) Price(step *plan.StepShape) plan.StepEstimate {
	if s.n%every == 0 {
		for _, p := range s.Explain(step) {
			s.into.add(&p)
		}
	}
	s.n++
	return s.Pricer.Price(step)
}
