package cost

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// corrected scales an operator by what whole runs ask of its kernel on this chip:
// one factor where compute bounds the call, one where memory or links do. Near the
// ridge the larger of the two shares decides, so the time has no step there.
type corrected struct {
	operator
	peak, hbm       float64 // FLOP/s and bytes/s
	compute, memory float64
}

func (c *corrected) call(w *work, p *form.Point) (seconds float64, inside bool) {
	seconds, inside = c.operator.call(w, p)
	if p.Link > 0 || !(p.Ideal > 0) {
		return seconds * c.memory, inside
	}
	return seconds * max(c.compute*(p.Flops/c.peak)/p.Ideal, c.memory*(p.Bytes/c.hbm)/p.Ideal), inside
}

// correct applies the factors kept for exactly e's kernel on the chip (VAL-8).
// Absent ones are 1 and leave no trace.
func (m *Model) correct(e *entry, chip *form.Chip) {
	c := &corrected{operator: e.op, peak: chip.Peak(format(e.layer).Compute()), hbm: chip.HBM, compute: 1, memory: 1}
	kernel := registry.ForKernel(e.layer.Kernel)
	for _, f := range []struct {
		to  *float64
		key registry.Key
	}{
		{&c.compute, registry.Key{Primitive: registry.KernelCompute, Kernel: kernel, Chip: chip.Name, Boundary: registry.Host}},
		{&c.memory, registry.Key{Primitive: registry.KernelMemory, Kernel: kernel, Chip: chip.Name, Boundary: registry.Host}},
	} {
		found, err := m.registry.Lookup(f.key)
		if err != nil || found.Entry.Kernel != kernel {
			continue
		}
		*f.to = *found.Entry.Value
		e.factors = append(e.factors, found)
		e.method = max(e.method, found.Method)
	}
	if len(e.factors) > 0 {
		e.op = c
	}
}
