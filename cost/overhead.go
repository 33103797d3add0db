package cost

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// overheads are the costs of a step that no operator carries.
type overheads struct {
	gap      scalar // a step, between one result and the next launch
	sequence scalar // a running sequence, between the two
	eager    scalar // a kernel launched without a graph
	launch   scalar // a captured elementwise or quantise launch, besides its bytes
	schedule scalar // host work of a step that can run ahead
	prepare  scalar // of a running sequence
	stream   scalar // of a response chunk
	method   plan.Method
}

// scalar is one number of the registry with what it rests on.
type scalar struct {
	value float64
	found registry.Resolved
}

func (m *Model) overheads(p *plan.PoolPlan) (*overheads, error) {
	o := &overheads{}
	for _, c := range []struct {
		to   *scalar
		name plan.Primitive
	}{
		{&o.gap, registry.HostStep}, {&o.sequence, registry.HostSequence}, {&o.eager, registry.HostLaunch},
		{&o.launch, registry.StreamLaunch}, {&o.schedule, registry.HostSchedule}, {&o.prepare, registry.HostPrepare},
		{&o.stream, registry.HostStream},
	} {
		s, err := m.host(p, c.name)
		if err != nil {
			return nil, err
		}
		*c.to = s
		if s.value > 0 { // a cost that is not charged is not used
			o.method = max(o.method, s.found.Method)
		}
	}
	return o, nil
}

// host looks up work of the host's loop, which a library may have at its own price.
func (m *Model) host(p *plan.PoolPlan, name plan.Primitive) (scalar, error) {
	return m.number(registry.Key{Primitive: name, Kernel: registry.ForHost(p.Host.Library), Chip: p.Hardware, Boundary: registry.Host})
}

// scalar looks a number up by name and chip; scalars stand for the host and what
// it launches together (VAL-9).
func (m *Model) scalar(chip string, name plan.Primitive) (scalar, error) {
	return m.number(registry.Key{Primitive: name, Chip: chip, Boundary: registry.Host})
}

func (m *Model) number(k registry.Key) (scalar, error) {
	found, err := m.registry.Lookup(k)
	if err != nil {
		return scalar{}, err
	}
	return scalar{*found.Entry.Value, found}, nil
}

// FrontEnd is what a request pays outside the engine's steps, between the client
// and the scheduler (host boundary, eager).
type FrontEnd struct {
	FixedSeconds     float64 // on the way in and out, whatever the load
	PerPromptToken   float64 // tokenising and carrying one prompt token
	SerialPerRequest float64 // one front end takes requests one after the other
	Method           plan.Method
}

// FrontEnd prices the request path of a pool on its chip's hosts.
func (m *Model) FrontEnd(p *plan.PoolPlan) (FrontEnd, error) {
	var f FrontEnd
	for _, c := range []struct {
		to   *float64
		name plan.Primitive
	}{{&f.FixedSeconds, registry.HostRequest}, {&f.PerPromptToken, registry.HostToken}, {&f.SerialPerRequest, registry.HostBurst}} {
		s, err := m.host(p, c.name)
		if err != nil {
			return f, err
		}
		*c.to = math.Max(0, s.value)
		f.Method = max(f.Method, s.found.Method)
	}
	return f, nil
}
