package cost

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Explain takes a price apart: one part an operator of the slowest rank, in
// execution order, then what no operator carries. The parts' seconds add up to
// Price(step).Total.
func (p *Pricer) Explain(step *plan.StepShape) []plan.Part {
	st := p.stages[step.Stage]
	var parts []plan.Part
	slowest := -1.0
	for i := range step.Ranks {
		if step.Mode == plan.Prebuilt {
			break
		}
		if s := p.rank(st, step, i).seconds; s > slowest {
			slowest, parts = s, p.parts(st, step, i)
		}
	}
	o, seqs := p.over, busiest(step)
	device, launches := p.device(step)
	if floor := float64(launches * o.eager.value); floor > device.seconds {
		parts = append(parts, o.eager.part("launch without a graph", floor-device.seconds, device.seconds, floor))
	}
	parts = append(parts, o.gap.part("step gap", o.gap.value, 0, o.gap.value),
		o.sequence.part("running sequences", float64(o.sequence.value*seqs), 0, float64(o.sequence.value*seqs)))
	sum := 0.0
	for _, part := range parts {
		sum += float64(part.Seconds)
	}
	if left := float64(p.Price(step).Total) - sum; left > 1e-12 {
		parts = append(parts, o.prepare.part("host work not hidden", left, 0, left))
	}
	return parts
}

// parts are the operators of one rank.
func (p *Pricer) parts(st *stage, step *plan.StepShape, i int) []plan.Part {
	p.load(step, i)
	out := st.target.parts(&p.w, p.hbm, step.Ranks[i].Extend, 1)
	if step.Drafts.Proposed > 0 && len(st.draft.all) > 0 {
		later := float64(p.plan.Drafts.Tokens - 1)
		out = append(out, st.draft.parts(&p.w, p.hbm, step.Ranks[i].Extend, 1)...)
		p.chain(step, i)
		out = append(out, st.draft.parts(&p.w, p.hbm, nil, later)...)
	}
	return out
}

func (pg *program) parts(w *work, hbm float64, chunks []plan.Chunk, times float64) []plan.Part {
	var out []plan.Part
	for _, e := range pg.all {
		t := tally{hbm: hbm, times: float64(e.times * times), inside: true}
		if slices.Contains(pg.extend, e) {
			for _, w.chunk = range chunks {
				t.add(e.op, w)
			}
		}
		w.chunk = plan.Chunk{}
		if pg.runsOnce(e, w) {
			t.add(e.op, w)
		}
		if t.seconds > 0 {
			out = append(out, e.part(&t))
		}
	}
	return out
}

// runsOnce reports whether e runs once in the step, rather than once a chunk.
func (pg *program) runsOnce(e *entry, w *work) bool {
	switch {
	case slices.Contains(pg.decode, e):
		return w.seqs > 0
	case slices.Contains(pg.extend, e):
		return false
	case slices.Contains(pg.extendWhole, e):
		return w.extendTokens > 0
	}
	return e.layer.Primitive == plan.GroupedGEMM && w.gathered > 0 || rows(e.layer, w) > 0
}

// tally adds an operator's calls up.
type tally struct {
	hbm, times                          float64
	seconds, ideal, flops, memory, link float64
	inside                              bool
}

func (t *tally) add(op operator, w *work) {
	var p form.Point
	seconds, inside := op.call(w, &p)
	t.seconds += float64(t.times * seconds)
	t.ideal += float64(t.times * p.Ideal)
	t.flops += float64(t.times * p.Flops)
	t.memory += float64(t.times * p.Bytes)
	t.link += float64(t.times * p.Link)
	t.inside = t.inside && inside
}

func (t *tally) bound() plan.Bound {
	switch {
	case t.link > 0:
		return plan.LinkBound
	case t.memory/t.hbm > 0.99*t.ideal:
		return plan.MemoryBound
	}
	return plan.ComputeBound
}

func (e *entry) part(t *tally) plan.Part {
	low, high := widen(e.found, t.seconds, t.seconds)
	part := plan.Part{
		Name: e.layer.Name, Primitive: e.layer.Primitive, Kernel: e.layer.Kernel,
		Seconds: quantity.Seconds(t.seconds), Ideal: quantity.Seconds(t.ideal), Bound: t.bound(),
		Flops: quantity.Flops(t.flops), Bytes: quantity.Bytes(t.memory + t.link),
		Method: e.found.Effective(t.inside), Flags: e.found.Flags(t.inside), Entries: []string{e.found.Entry.Key.String()},
	}
	for _, f := range e.factors {
		low, high = widen(f, low, high)
		part.Method = max(part.Method, f.Method)
		part.Entries = append(part.Entries, f.Entry.Key.String())
	}
	if e.launch != nil {
		part.Method = max(part.Method, e.launch.found.Method)
		part.Entries = append(part.Entries, e.launch.found.Entry.Key.String())
	}
	part.Low, part.High = quantity.Seconds(low), quantity.Seconds(high)
	return part
}

// widen stretches an interval by the 95% interval of the factor common to every
// price of an entry, and by 1 too: where held-out times say that the curve is off,
// the interval reaches from the price to them. An entry that states none leaves it.
func widen(r registry.Resolved, low, high float64) (float64, float64) {
	if r.Entry.Factor.IsZero() {
		return low, high
	}
	return float64(low * min(1, r.Entry.Factor[0])), float64(high * max(1, r.Entry.Factor[1]))
}

// part is an overhead of seconds, the excess of full over base, where full scales
// with the scalar.
func (s scalar) part(name string, seconds, base, full float64) plan.Part {
	low, high := widen(s.found, full, full)
	return plan.Part{
		Name: name, Seconds: quantity.Seconds(seconds),
		Low: quantity.Seconds(max(0, low-base)), High: quantity.Seconds(max(0, high-base)),
		Method: s.found.Method, Flags: s.found.Flags(true), Entries: []string{s.found.Entry.Key.String()},
	}
}
