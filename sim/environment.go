package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Environment answers what an engine may ask while it is built and run (section
// 6.3), and remembers the acceptance profiles it gave (D8).
type Environment struct {
	catalog  *catalog.Catalog
	cost     *cost.Model
	profiles *acceptance.Set
	workload *spec.Acceptance
	used     []spec.ProfileUse
	compiled []compiled
}

// compiled is a plan and what prices its steps.
type compiled struct {
	plan   *plan.PoolPlan
	pricer engines.Pricer
}

// NewEnvironment answers from the facts that m prices with, and a set of
// acceptance profiles. One belongs to one goroutine.
func NewEnvironment(c *catalog.Catalog, m *cost.Model, a *acceptance.Set) *Environment {
	return &Environment{catalog: c, cost: m, profiles: a}
}

// Profiles lists each acceptance profile handed out, in order of first use.
func (e *Environment) Profiles() []spec.ProfileUse { return e.used }

var _ engines.Environment = (*Environment)(nil)

// profilesOf is what env gave, when it is one that remembers.
func profilesOf(env engines.Environment) []spec.ProfileUse {
	if p, ok := env.(interface{ Profiles() []spec.ProfileUse }); ok {
		return p.Profiles()
	}
	return nil
}

// Model returns a catalog model.
func (e *Environment) Model(name string) (*catalog.Model, error) {
	m, err := e.catalog.Model(name)
	return m, asField("model", err)
}

// Chip returns a catalog chip.
func (e *Environment) Chip(name string) (*catalog.Chip, error) {
	c, err := e.catalog.Chip(name)
	return c, asField("hardware", err)
}

// asField names the field of a scenario that asked the catalog.
func asField(field string, err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		r.Field = field
	}
	return err
}

// Memory sizes a partial plan.
func (e *Environment) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) {
	if p.Fabric != "" {
		if _, err := e.catalog.Network(p.Fabric); err != nil {
			return plan.MemoryBreakdown{}, asField("cluster.fabric", err)
		}
	}
	return e.cost.Memory(p)
}

// Pricer compiles a plan. Instances of equal plans share one pricer and what it
// remembers.
func (e *Environment) Pricer(p *plan.PoolPlan) (engines.Pricer, error) {
	for _, c := range e.compiled {
		if reflect.DeepEqual(c.plan, p) {
			return c.pricer, nil
		}
	}
	pricer, err := e.cost.Compile(p)
	if err == nil {
		e.compiled = append(e.compiled, compiled{p, pricer})
	}
	return pricer, err
}

// FrontEnd prices the request path of a pool.
func (e *Environment) FrontEnd(p *plan.PoolPlan) (cost.FrontEnd, error) { return e.cost.FrontEnd(p) }

// Transfer prices a KV move.
func (e *Environment) Transfer(p *plan.PoolPlan, m plan.Move) (plan.Demand, error) {
	return e.cost.Transfer(p, m)
}

// Serve says how the run's workload accepts drafts; nil says nothing of it.
func (e *Environment) Serve(a *spec.Acceptance) { e.workload = a }

// Acceptance is what the scenario states of its workload, and otherwise the profile of
// a target, drafter and workload at k drafts a step, borrowing as D8 orders.
func (e *Environment) Acceptance(model, drafter string, k int) (engines.Acceptance, error) {
	const at = "workload.acceptance"
	a, key := e.workload, acceptance.Key{Target: model, Drafter: drafter, K: k}
	switch {
	case a == nil:
		return engines.Acceptance{}, &diag.Refusal{Field: at, Problem: fmt.Sprintf("is not stated, and %s drafts %d tokens a step with %s", model, k, drafter),
			Accept: e.profiles.Accepted(key, e.architecture), Rule: "D8"}
	case len(a.PerPosition) > 0 && len(a.PerPosition) != k:
		return engines.Acceptance{}, &diag.Refusal{Field: at + ".per_position", Value: fmt.Sprint(a.PerPosition), Problem: fmt.Sprintf("states the chances of %d drafts, and %d are made a step", len(a.PerPosition), k), Accept: "one chance for each draft", Rule: "D8"}
	case len(a.PerPosition) > 0:
		e.use(spec.ProfileUse{Target: model, Drafter: drafter, Drafts: k, Source: "scenario", Step: "stated"})
		return engines.Acceptance{PerPosition: a.PerPosition, Source: "scenario", Step: "stated"}, nil
	}
	key.Workload = a.Profile
	f, err := e.profiles.Lookup(key, e.architecture)
	if err != nil {
		return engines.Acceptance{}, asField(at+".profile", err)
	}
	e.use(spec.ProfileUse{Target: model, Drafter: drafter, Workload: a.Profile, Drafts: k, Source: f.Source, Step: f.Step, Differs: f.Differs})
	return engines.Acceptance{PerPosition: f.PerPosition, Source: f.Source, Step: f.Step}, nil
}

// use remembers an acceptance that was given, once.
func (e *Environment) use(u spec.ProfileUse) {
	same := func(o spec.ProfileUse) bool { return reflect.DeepEqual(o, u) }
	if !slices.ContainsFunc(e.used, same) {
		e.used = append(e.used, u)
	}
}

func (e *Environment) architecture(model string) string {
	m, err := e.catalog.Model(model)
	if err != nil {
		return "" // not in the catalog: borrows from nobody
	}
	return m.Graph.Architecture
}
