package sim

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// gateWorld has the plain engine, every port of this build, the embedded catalog
// and formula prices.
func gateWorld(t *testing.T) World {
	t.Helper()
	kinds, err := builtin.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return World{Kinds: append([]engines.Kind{plainKind{}}, kinds...), Environment: gateEnvironment{catalog: c}}
}

type gateEnvironment struct {
	plainEnvironment
	catalog *catalog.Catalog
}

func (e gateEnvironment) Model(name string) (*catalog.Model, error) { return e.catalog.Model(name) }
func (e gateEnvironment) Chip(name string) (*catalog.Chip, error)   { return e.catalog.Chip(name) }

// Memory leaves 30 GiB of a rank for KV at a utilisation of 0.9.
func (e gateEnvironment) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) {
	b := plan.MemoryBreakdown{}
	for range max(1, p.Layout.Pipeline) {
		b.Stages = append(b.Stages, plan.StageMemory{Device: 80 << 30, Weights: 36 << 30, Activations: 6 << 30, Method: plan.Assumed})
	}
	return b, nil
}

func (e gateEnvironment) Pricer(p *plan.PoolPlan) (engines.Pricer, error) {
	if p.Fabric == "" {
		return formula{}, nil
	}
	n, err := e.catalog.Network(p.Fabric)
	if err != nil {
		return nil, err
	}
	return formula{crossing: 65 * 8192 / float64(n.Rate())}, nil
}

func (e gateEnvironment) Acceptance(_, _ string, k int) (engines.Acceptance, error) {
	return engines.Acceptance{PerPosition: []float64{0.8, 0.7, 0.6, 0.5, 0.4}[:k], Source: "the byte gate", Step: "exact"}, nil
}

// formula prices a step by its padded tokens, sequences and attended tokens, and by what the
// tokens send over the fabric that a scenario states.
type formula struct {
	crossing float64 // seconds a token
}

func (f formula) Price(s *plan.StepShape) plan.StepEstimate {
	total := 0.002
	for i := range s.Ranks {
		r := &s.Ranks[i]
		total += float64(8e-6*float64(s.Padded[i].Tokens)) + float64(2e-5*float64(r.Decode.Seqs))
		total += float64(f.crossing * float64(s.Padded[i].Tokens))
		for _, a := range r.Decode.Attended {
			total += float64(1e-9 * float64(a))
		}
		for _, c := range r.Extend {
			total += float64(2e-9 * float64(c.Query*(c.Context+c.Query)))
		}
	}
	return plan.StepEstimate{Total: quantity.Seconds(total), Method: plan.Assumed}
}
