package cost

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
)

// Environment answers what an engine may ask while it is built and run (section
// 6.3).
type Environment struct {
	cost     *Model
	profiles *acceptance.Set
	used     []ProfileUse
}

// ProfileUse is an acceptance profile that an engine was given: the key it asked
// for and what was found (D8).
type ProfileUse struct {
	acceptance.Key
	acceptance.Found
}

// Profiles lists the acceptance profiles handed out, in order.
func (e *Environment) Profiles() []ProfileUse { return e.used }

var _ engines.Environment = (*Environment)(nil)

// NewEnvironment answers from a model and a set of acceptance profiles.
func NewEnvironment(m *Model, a *acceptance.Set) *Environment {
	return &Environment{cost: m, profiles: a}
}

// Model returns a catalog model.
func (e *Environment) Model(name string) (*catalog.Model, error) { return e.cost.catalog.Model(name) }

// Chip returns a catalog chip.
func (e *Environment) Chip(name string) (*catalog.Chip, error) { return e.cost.catalog.Chip(name) }

// Memory sizes a partial plan.
func (e *Environment) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) { return e.cost.Memory(p) }

// Pricer compiles a plan.
func (e *Environment) Pricer(p *plan.PoolPlan) (engines.Pricer, error) { return e.cost.Compile(p) }

// FrontEnd prices the request path of a pool.
func (e *Environment) FrontEnd(p *plan.PoolPlan) (FrontEnd, error) { return e.cost.FrontEnd(p) }

// Transfer prices a KV move.
func (e *Environment) Transfer(p *plan.PoolPlan, m plan.Move) (plan.Demand, error) {
	return e.cost.Transfer(p, m)
}

// Acceptance finds the profile of a target, drafter and workload at k drafts a
// step, borrowing as D8 orders.
func (e *Environment) Acceptance(model, drafter, workload string, k int) (engines.Acceptance, error) {
	key := acceptance.Key{Target: model, Drafter: drafter, Workload: workload, K: k}
	f, err := e.profiles.Lookup(key, e.architecture)
	if err != nil {
		return engines.Acceptance{}, err
	}
	e.used = append(e.used, ProfileUse{key, f})
	return engines.Acceptance{PerPosition: f.PerPosition, Source: f.Source, Step: f.Step}, nil
}

func (e *Environment) architecture(model string) string {
	m, err := e.cost.catalog.Model(model)
	if err != nil {
		return "" // not in the catalog: borrows from nobody
	}
	return m.Graph.Architecture
}
