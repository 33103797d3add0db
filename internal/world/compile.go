package world

import (
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim"
)

// Compile lowers a pool as the named engine would launch it, and prepares the
// prices of its steps.
func (w *World) Compile(kind string, s engines.Spec) (*plan.PoolPlan, *cost.Pricer, error) {
	k, err := w.Kind(kind)
	if err != nil {
		return nil, nil, err
	}
	m := cost.New(w.Catalog, w.Registry)
	_, p, err := k.Explain(s, sim.NewEnvironment(w.Catalog, m, w.Profiles))
	if err != nil {
		return nil, nil, err
	}
	pricer, err := m.Compile(p)
	return p, pricer, err
}
