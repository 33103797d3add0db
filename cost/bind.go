package cost

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// work is what the operators of one rank see of a step.
type work struct {
	tokens   float64 // rows after padding
	gathered float64 // rows of every lockstep rank together
	sampled  float64 // sequences that sample

	seqs, query float64 // decoding sequences and tokens of each
	attended    []int64 // plan.DecodeBatch.Attended

	chunk        plan.Chunk // the prompt chunk being priced; zero while decodes are
	extendTokens float64    // prompt tokens of the step
	extendSeqs   float64

	point form.Point // of the operator priced last
}

// operator is a form bound to a lowered layer. call is what one launch takes, and
// whether it lies inside the range its curve was fitted on; it fills p in.
type operator interface {
	call(w *work, p *form.Point) (seconds float64, inside bool)
}

// bound prices shape(w) with a compiled form, share times over.
type bound[S form.Shape] struct {
	op    *form.Op[S]
	shape func(w *work) S
	share func(w *work) float64 // nil is 1
}

func (b *bound[S]) call(w *work, p *form.Point) (seconds float64, inside bool) {
	seconds, inside = b.op.Call(b.shape(w), p)
	if b.share != nil {
		f := b.share(w)
		seconds *= f
		p.Flops, p.Bytes, p.Link, p.Ideal = p.Flops*f, p.Bytes*f, p.Link*f, p.Ideal*f
	}
	return seconds, inside
}

// launched adds the launches of kernels whose form holds the moving of bytes alone.
type launched struct {
	operator
	extra float64 // seconds
}

func (l *launched) call(w *work, p *form.Point) (seconds float64, inside bool) {
	seconds, inside = l.operator.call(w, p)
	return seconds + l.extra, inside
}

// sample is a step every operator has work in, for the sizes a layer fixes.
var sample = work{
	tokens: 16, gathered: 16, sampled: 1, seqs: 1, query: 1,
	chunk: plan.Chunk{Query: 16, Context: 16}, extendTokens: 16, extendSeqs: 1,
}

// tie compiles shape for a layer with a curve.
func tie[S form.Shape](chip form.Chip, curve *form.Curve, shape func(w *work) S, share func(w *work) float64) (operator, error) {
	w := sample
	w.attended = sampleAttended
	op, err := form.Compile(chip, curve, shape(&w))
	if err != nil {
		return nil, err
	}
	return &bound[S]{op, shape, share}, nil
}

// sampleAttended is long enough for any plan's groups.
var sampleAttended = func() []int64 {
	a := make([]int64, 64)
	for i := range a {
		a[i] = 32
	}
	return a
}()

// bind makes the operator of one lowered layer from its curve.
func bind(chip form.Chip, l *plan.LoweredLayer, curve *form.Curve) (operator, error) {
	switch l.Primitive {
	case plan.GEMM:
		return tie(chip, curve, gemmShape(l), nil)
	case plan.GroupedGEMM:
		return tie(chip, curve, moeShape(l), nil)
	case plan.AttentionExtend:
		return tie(chip, curve, prefillShape(l), chunkShare)
	case plan.AttentionDecode:
		return tie(chip, curve, decodeShape(l), nil)
	case plan.MLAExtend:
		return tie(chip, curve, latentPrefillShape(l), chunkShare)
	case plan.MLADecode:
		return tie(chip, curve, latentDecodeShape(l), nil)
	case plan.RecurrentExtend, plan.RecurrentDecode:
		return tie(chip, curve, recurrentShape(l), nil)
	case plan.SparseIndex:
		return tie(chip, curve, indexShape(l), nil)
	case plan.Elementwise, plan.Quantize, plan.Sampling:
		return tie(chip, curve, streamShape(l), launches(l))
	}
	return tie(chip, curve, collectiveShape(l), nil)
}

// rows is how many rows of l a rank launches.
func rows(l *plan.LoweredLayer, w *work) float64 {
	switch l.Shape.Rows {
	case plan.RowsSampled:
		return w.sampled
	case plan.RowsGathered:
		return w.gathered
	case plan.RowsExpert:
		return w.gathered * float64(max(1, l.Shape.TopK)) / float64(max(1, l.Shape.ExpertRanks))
	}
	return w.tokens
}

func gemmShape(l *plan.LoweredLayer) func(*work) form.GEMM {
	g := form.GEMM{N: float64(l.Shape.N), K: float64(l.Shape.K), Operands: format(l).Operands()}
	return func(w *work) form.GEMM {
		g := g
		g.M = rows(l, w)
		return g
	}
}

func moeShape(l *plan.LoweredLayer) func(*work) form.MoE {
	s := &l.Shape
	m := form.MoE{
		Hidden: float64(s.Hidden), Inter: float64(s.Inter), TopK: float64(s.TopK), Experts: float64(s.Experts),
		TP: float64(max(1, s.ExpertTensor)), EP: float64(max(1, s.ExpertRanks)), Operands: format(l).Operands(),
		Skew: routingSkew,
	}
	return func(w *work) form.MoE {
		m := m
		m.Tokens = w.gathered
		return m
	}
}

// routingSkew is the exponent of the power law over experts at which the operator
// tables were taken; the tables' own 1.01 and 1.2 agree within their noise.
const routingSkew = 1.2

func collectiveShape(l *plan.LoweredLayer) func(*work) form.Collective {
	c := form.Collective{Ranks: float64(l.Collective.Ranks), ScaleOut: l.Collective.CrossNode}
	times := float64(l.Collective.BytesPerRow)
	switch l.Primitive {
	case plan.AllReduce:
		c.Pattern = form.AllReduce
	case plan.AllGather:
		c.Pattern, times = form.AllGather, times*c.Ranks
	case plan.ReduceScatter:
		c.Pattern = form.ReduceScatter
	case plan.AllToAll:
		c.Pattern = form.AllToAll
	case plan.SendRecv: // half of a two-rank gather: one rank's whole payload crosses once
		c.Pattern, c.Ranks, times = form.AllGather, 2, 2*times
	}
	return func(w *work) form.Collective {
		c := c
		c.Bytes = rows(l, w) * times
		return c
	}
}

func streamShape(l *plan.LoweredLayer) func(*work) form.Elementwise {
	each := float64(l.Shape.BytesPerRow) / float64(max(1, l.Shape.Launches))
	return func(w *work) form.Elementwise { return form.Elementwise{Bytes: rows(l, w) * each} }
}

func launches(l *plan.LoweredLayer) func(*work) float64 {
	n := float64(max(1, l.Shape.Launches))
	return func(*work) float64 { return n }
}
