package cost

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Memory is what one rank of each stage holds besides KV, from a plan whose KV
// budget may still be empty (section 6.3). Activations are the peak of the plan's
// own profiling step; whatever the plan states in Weights and Buffers is taken as
// it stands. Nothing is left over (SUB-14).
func (m *Model) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) {
	chip, err := m.catalog.Chip(p.Hardware)
	if err != nil {
		return plan.MemoryBreakdown{}, err
	}
	var c memoryTerms
	for _, t := range []struct {
		to   *scalar
		name plan.Primitive
	}{{&c.visible, registry.Visible}, {&c.driver, registry.DriverMemory}, {&c.group, registry.GroupMemory}, {&c.graph, registry.GraphMemory}} {
		if *t.to, err = m.scalar(p.Hardware, t.name); err != nil {
			return plan.MemoryBreakdown{}, err
		}
		c.method = max(c.method, t.to.found.Method)
	}
	var b plan.MemoryBreakdown
	for i := range max(1, p.Layout.Pipeline) {
		s := plan.StageMemory{
			Device:      quantity.Bytes(float64(float64(chip.MemoryBytes()) * c.visible.value)),
			Activations: activations(p, i), Graphs: c.graphs(p, i), Context: quantity.Bytes(c.driver.value),
			Method: c.method,
		}
		if p.Layout.Ranks() > 1 {
			s.Context += quantity.Bytes(c.group.value)
		}
		for _, t := range p.Weights {
			if t.Stage == i {
				s.Weights += t.Bytes
			}
		}
		for _, t := range p.Buffers {
			if t.Stage == i {
				s.Buffers += t.Bytes
			}
		}
		b.Stages = append(b.Stages, s)
	}
	return b, nil
}

type memoryTerms struct {
	visible, driver, group, graph scalar
	method                        plan.Method
}

// graphs: every captured shape keeps its kernels' parameters, a share a layer;
// their intermediate tensors live in one pool that the largest shape sizes, which
// is no larger than the profiling step's peak and is freed into it.
func (c *memoryTerms) graphs(p *plan.PoolPlan, stage int) quantity.Bytes {
	shapes := len(p.Graphs.Full) + len(p.Graphs.Piecewise)
	layers := mixers(p.Layers, stage) + mixers(p.DraftLayers, stage)
	return quantity.Bytes(float64(shapes*layers) * c.graph.value)
}

// activations is the peak of live tensors in the profiling step: the residual
// stream, with the input, output and scratch of the layer that needs most.
func activations(p *plan.PoolPlan, stage int) quantity.Bytes {
	var peak quantity.Bytes
	for i := range p.Profile.Ranks {
		w := profileWork(&p.Profile, i)
		hidden, most := 0, 0.0
		for j := range p.Layers {
			if l := &p.Layers[j]; l.Stage == stage {
				if hidden == 0 && l.Primitive == plan.GEMM && l.Shape.Rows == plan.RowsTokens {
					hidden = l.Shape.K // the first product of a stage reads the residual stream
				}
				most = max(most, live(l, &w))
			}
		}
		peak = max(peak, quantity.Bytes(float64(4*w.tokens*float64(hidden))+most)) // hidden and residual, 2 bytes each
	}
	return peak
}

func profileWork(s *plan.StepShape, i int) work {
	w := work{tokens: float64(s.Ranks[i].Tokens()), sampled: float64(s.Ranks[i].Sampled)}
	if i < len(s.Padded) {
		w.tokens = max(w.tokens, float64(s.Padded[i].Tokens))
	}
	w.gathered = w.tokens * float64(len(s.Ranks))
	return w
}

// live is the bytes a layer holds while it runs, beside the residual stream.
// Activations between kernels are 2-byte.
func live(l *plan.LoweredLayer, w *work) float64 {
	s := &l.Shape
	n := rows(l, w)
	switch l.Primitive {
	case plan.GEMM:
		return 2 * n * float64(s.K+s.N)
	case plan.AttentionExtend, plan.MLAExtend:
		return 2 * w.tokens * float64(s.Heads*s.HeadDim+2*s.KVHeads*s.HeadDim+s.Heads*valueDim(s))
	case plan.GroupedGEMM: // one buffer for gate-up and the unreduced output in turn, one for the activation
		inter := s.Inter / max(1, s.ExpertTensor)
		return 2 * w.gathered * float64(s.Hidden+s.TopK*(max(2*inter, s.Hidden)+inter))
	case plan.AllGather:
		return n * float64(l.Collective.BytesPerRow) * float64(1+l.Collective.Ranks)
	case plan.AllReduce, plan.ReduceScatter, plan.AllToAll:
		return 2 * n * float64(l.Collective.BytesPerRow)
	case plan.Elementwise, plan.Quantize, plan.Sampling:
		if s.LivePerRow > 0 {
			return n * float64(s.LivePerRow)
		}
		return n * float64(s.BytesPerRow) / float64(max(1, s.Launches))
	}
	return 0
}
