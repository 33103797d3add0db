// Package sim runs a scenario: clients, a router, front ends and engine instances
// as components of one Parallel DEVS model, every engine step priced.
//
// In: a spec.Scenario and a World (the engines of this build, what they may ask,
// where data came from). Out: a spec.Result, or a refusal. Equal inputs give equal
// bytes on every platform, whatever the queue and with or without an observer.
// The package and everything it drives has no clock, no environment, no goroutine,
// no file and no global randomness. Source: Target Design §8. Rules kept: DEV-1 to
// DEV-9, DEV-13, SIM-1, SIM-2, SIM-7, SIM-8, SIM-10, SIM-12.
package sim

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// World is what a run may use besides its scenario.
type World struct {
	Kinds       []engines.Kind
	Environment engines.Environment
	Data        []spec.Source // what Environment was read from; copied into the Result
	Files       fs.FS         // where a scenario's trace paths are opened; nil refuses them
	Observer    Observer      // nil watches nothing
	// Stop is asked every thousand rounds or so, if it is there; an error ends the run with it.
	Stop   func(Load) error
	Export io.Writer    // gets the run's trace; nil writes none
	Kernel []des.Option // never change a Result
}

// priced is an environment that also prices the way to the engine.
type priced interface {
	FrontEnd(p *plan.PoolPlan) (cost.FrontEnd, error)
}

// zeroTime bounds how often a component may change state at one instant. A client
// whose every request is refused at once goes round this often at most.
const zeroTime = 1 << 20

// Run simulates s. A refusal of the scenario, the engine or the data is a
// *diag.Refusal; any other error is a defect.
func Run(s *spec.Scenario, w World) (*spec.Result, error) {
	if err := s.Complete(); err != nil {
		return nil, err
	}
	m, err := build(s, w)
	if err != nil {
		return nil, s.Placed(err)
	}
	if err := m.loop(); err != nil {
		return nil, err
	}
	if t := m.generator.trace; t != nil {
		if err := t.Close(); err != nil {
			return nil, fmt.Errorf("sim: writing the trace: %w", err)
		}
	}
	return m.result()
}

// model is the coupled model of one run.
type model struct {
	scenario  *spec.Scenario
	world     World
	kind      engines.Kind
	kernel    *des.Kernel[message]
	generator *generator
	record    *recorder
	instances []*instance
	inputs    *inputs
	settings  []engines.Resolved
	horizon   des.Time
	fault     error
	pool      pool
	rounds    int
}

// build couples generator -> router -> front ends -> instances -> generator. A
// single instance needs no router; a front end that costs nothing is left out.
func build(s *spec.Scenario, w World) (*model, error) {
	kind, err := Kind(s, w.Kinds)
	if err != nil {
		return nil, err
	}
	m := &model{scenario: s, world: w, kind: kind, kernel: des.New[message](w.Kernel...), record: newRecorder(w.Observer), horizon: des.Never}
	if h := s.Frame.Stop.Horizon; h > 0 {
		m.horizon = des.Time(h * float64(second))
	}
	if m.inputs, err = openInputs(s, w.Files); err != nil {
		return nil, err
	}
	m.record.steady = s.Frame.Kind == "steady_state"
	for i := range m.inputs.labels {
		m.record.judged = append(m.record.judged, m.inputs.labels[i].Goal != spec.Objectives{})
	}
	m.generator = newGenerator(m.inputs.sources, &s.Frame, m.record, &m.pool)
	if w.Export != nil {
		m.generator.trace = workload.NewTraceWriter(w.Export, "", m.inputs.clients)
	}
	client := m.kernel.Add("generator", m.generator, zeroTime)
	targets, err := m.addInstances(client)
	if err != nil {
		return nil, err
	}
	m.generator.target = targets[0]
	if len(targets) > 1 {
		m.generator.target = m.kernel.Add("router", &roundRobin{targets: targets}, zeroTime)
	}
	return m, nil
}

// Kind finds the port the scenario asks for, at its one release (LIF-6).
func Kind(s *spec.Scenario, kinds []engines.Kind) (engines.Kind, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name()
		if names[i] != s.Engine.Kind {
			continue
		}
		if v := k.Upstream().Version; v != s.Engine.Version {
			return nil, &diag.Refusal{Field: "engine.version", Value: s.Engine.Version, Problem: "is not the " + names[i] + " release of this build, and no released build runs it", Accept: v, Rule: "LIF-6"}
		}
		return k, nil
	}
	return nil, &diag.Refusal{Field: "engine.kind", Value: s.Engine.Kind, Problem: "is not an engine of this build", Accept: diag.OneOf(s.Engine.Kind, names), Rule: "SIM-1"}
}

// EngineSpec is what a scenario tells each of its engines.
func EngineSpec(s *spec.Scenario) engines.Spec {
	return engines.Spec{Model: s.Model, Checkpoint: s.Checkpoint, Hardware: s.Hardware, Nodes: s.Cluster.Nodes, Fabric: s.Cluster.Fabric, Args: s.Engine.Args, Env: s.Engine.Env}
}

// addInstances builds the engines and returns where requests enter each.
func (m *model) addInstances(client des.ID) ([]des.ID, error) {
	s := m.scenario
	es := EngineSpec(s)
	settings, p, err := m.kind.Explain(es, m.world.Environment)
	if err != nil {
		return nil, err
	}
	m.settings = append(settings, WorkloadSettings(s, p)...)
	m.drafts(p)
	if e, ok := m.world.Environment.(interface{ Serve(*spec.Acceptance) }); ok {
		e.Serve(s.Workload.Acceptance)
	}
	es.EveryToken = p.Host.StreamInterval > 1 && m.wants("itl")
	var targets []des.ID
	for i := range s.Cluster.Instances {
		e, err := m.kind.New(es, m.world.Environment)
		if err != nil {
			return nil, err
		}
		n := newInstance(i, e, client, &stepLog{window: &m.record.window}, m)
		n.log.run.Instance, n.log.run.KVBlocks, n.log.run.Accelerators = i, e.Stats().KVBlocks, e.Plan().Layout.Ranks()
		m.instances = append(m.instances, n)
		id := m.kernel.Add("instance", n, zeroTime)
		if id, err = m.addFrontEnd(id, e.Plan()); err != nil {
			return nil, err
		}
		targets = append(targets, id)
	}
	return targets, nil
}

// drafts gives requests the numbers that decide which of their drafts are accepted,
// where the engines draft any.
func (m *model) drafts(p *plan.PoolPlan) {
	if p.Drafts.Tokens > 0 {
		f := substream.New(m.scenario.Frame.Seed, "engine", "draft acceptance")
		m.generator.drafts = &f
		m.inputs.drawn = append(m.inputs.drawn, "the acceptance of drafts")
	}
}

// WorkloadSettings is how engines of plan p read what the workload states of its text. One
// that drafts nothing takes any acceptance: arms of one search serve one workload.
func WorkloadSettings(s *spec.Scenario, p *plan.PoolPlan) []engines.Resolved {
	const at = "workload.acceptance"
	switch a := s.Workload.Acceptance; {
	case a == nil:
		return nil
	case p.Drafts.Tokens == 0:
		return []engines.Resolved{{Name: at, Value: "no effect", Source: "rule", Why: "the engine drafts nothing"}}
	case len(a.PerPosition) > 0:
		return []engines.Resolved{{Name: at + ".per_position", Value: fmt.Sprint(a.PerPosition), Source: "scenario", Why: "the chance of each draft, given that all before it were accepted; " + spec.FromShares}}
	}
	return nil
}

// wants is whether the frame asks for some statistic of a quantity.
func (m *model) wants(quantity string) bool {
	ids := m.scenario.Frame.Metrics
	return len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, quantity+"_") })
}

func (m *model) addFrontEnd(engine des.ID, p *plan.PoolPlan) (des.ID, error) {
	env, ok := m.world.Environment.(priced)
	if !ok {
		return engine, nil
	}
	price, err := env.FrontEnd(p)
	if err != nil || price == (cost.FrontEnd{Method: price.Method}) {
		return engine, err
	}
	return m.kernel.Add("front end", &frontEnd{price: price, target: engine}, zeroTime), nil
}

// loop runs the model until nothing is left to happen, or to its end.
func (m *model) loop() error {
	if err := m.kernel.Start(); err != nil {
		return err
	}
	for {
		next := m.kernel.Next()
		if next == des.Never && (m.horizon == des.Never || m.generator.spent() || m.record.load.Outstanding > 0) {
			return m.settle()
		}
		if next > m.horizon { // or what would come is not in the trace
			m.record.cut(m.horizon)
			return m.record.err
		}
		if int64(next) > workload.Latest {
			return &diag.Refusal{Field: "frame.stop.horizon", Problem: "is not stated, and the run passes 1e12 simulated seconds", Accept: "a horizon, or shorter waits", Rule: "SIM-2"}
		}
		if m.closed() && next > m.kernel.Now() {
			m.record.cut(m.kernel.Now())
			return m.record.err
		}
		if err := m.kernel.Round(); err != nil {
			return err
		}
		if m.fault != nil {
			return m.fault
		}
		if o := m.world.Observer; o != nil {
			o.Instant(m.kernel.Now(), m.record.load)
		}
		if m.rounds++; m.rounds%1024 == 0 && m.world.Stop != nil {
			if err := m.world.Stop(m.record.load); err != nil {
				return err
			}
		}
	}
}

// closed is whether the frame ends the run with the last request sent.
func (m *model) closed() bool {
	return m.scenario.Frame.Drain == "excluded" && m.generator.spent()
}

// settle is what remains when no event is left: every request must have ended.
func (m *model) settle() error {
	if n := m.record.load.Outstanding; n > 0 {
		return fmt.Errorf("sim: no event is left and %d requests have not ended (SIM-7)", n)
	}
	return m.record.err
}
