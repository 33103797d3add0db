package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// result writes the run down and checks that its requests add up.
func (m *model) result() (*spec.Result, error) {
	hash, err := m.scenario.Hash()
	if err != nil {
		return nil, err
	}
	metrics, err := spec.MetricsSHA256()
	if err != nil {
		return nil, err
	}
	up := m.kind.Upstream()
	c := m.record
	r := &spec.Result{
		Schema: spec.ResultSchema,
		Inputs: spec.Inputs{Scenario: m.scenario, ScenarioSHA256: hash, Data: slices.Concat(m.world.Data, m.inputs.data), MetricsSHA256: metrics,
			Upstream: spec.Upstream{Repository: up.Repository, Commit: up.Commit, Version: up.Version}, Acceptance: profilesOf(m.world.Environment)},
		Requests: spec.RequestCount{Created: m.generator.created, Warmup: c.fates[0].document(), Measured: c.fates[1].document(), Preemptions: c.preemptions},
		Window:   spec.MeasuredSpan{Start: seconds(c.window.start), End: seconds(max(c.window.start, c.window.end))},
		Random:   m.inputs.random(), Assumed: m.scenario.Workload.Assumed(),
		Failures: []string{}, Figures: []spec.Figure{}, Withheld: []spec.Withheld{}, Settings: []spec.Setting{}, Methods: []spec.MethodUse{}, Parts: []spec.Share{},
	}
	for w := range c.rows.all {
		r.Requests.PromptTokens += w.prompt
		r.Requests.CachedTokens += int64(w.cached)
		r.Requests.OutputTokens += int64(w.output)
	}
	unsent := m.generator.unsent()
	r.Requests.Created += unsent
	r.Requests.Measured.NotStarted = unsent
	for _, s := range m.settings {
		r.Settings = append(r.Settings, spec.Setting{Name: s.Name, Value: s.Value, Source: s.Source, Why: s.Why})
	}
	r.Events.Transitions, r.Events.Messages = m.kernel.Counts()
	if r.Validity, err = spec.Judge(m.scenario, LayoutOf(m.instances[0].engine.Plan(), m.scenario.Cluster.Nodes)); err != nil {
		return nil, err
	}
	m.engines(r)
	m.accept(r)
	if c.steady {
		r.Steady = c.verdict()
	}
	if r.Accepted {
		newFigures(m, r).all()
	}
	return r, r.Check()
}

// LayoutOf is a plan's layout on so many nodes.
func LayoutOf(p *plan.PoolPlan, nodes int) spec.Layout {
	l := p.Layout
	return spec.Layout{Tensor: max(1, l.Tensor), Pipeline: max(1, l.Pipeline), Data: max(1, l.Data), Expert: max(1, l.Expert), Context: max(1, l.Context), Nodes: nodes}
}

// engines writes what each instance did and where the priced time went.
func (m *model) engines(r *spec.Result) {
	var methods, modes [16]float64
	var steps [16]int64
	end := max(m.kernel.Now(), m.record.at) // a run that was cut ends at its horizon
	idle, total := 0.0, 0.0
	for _, n := range m.instances {
		l := n.log
		if len(n.flights) > 0 {
			l.busy += end - l.busySince
		}
		l.run.Busy, l.run.MaxInFlight = seconds(l.busy), l.depth
		r.Engines = append(r.Engines, l.run)
		idle += seconds(end - l.busy)
		for i, s := range l.methods {
			methods[i] += s
			steps[i] += l.steps[i]
		}
		for i, s := range l.modes {
			modes[i] += s
			total += s
		}
	}
	for i, s := range methods {
		if steps[i] > 0 {
			r.Methods = append(r.Methods, spec.MethodUse{Method: plan.Method(i).String(), Steps: steps[i], Seconds: s, Share: ratio(s, total)})
		}
	}
	for i, s := range modes[:len(modeNames)] {
		if s > 0 {
			r.Parts = append(r.Parts, spec.Share{Part: modeNames[i], Seconds: s, Share: ratio(s, total+idle)})
		}
	}
	if idle > 0 {
		r.Parts = append(r.Parts, spec.Share{Part: "idle", Seconds: idle, Share: ratio(idle, total+idle)})
	}
}

// accept applies the frame's conditions.
func (m *model) accept(r *spec.Result) {
	a, f := m.scenario.Frame.Accept, r.Requests.Measured
	sent := float64(f.Total() - f.NotStarted)
	fail := func(format string, args ...any) { r.Failures = append(r.Failures, fmt.Sprintf(format, args...)) }
	if sent == 0 {
		fail("no request was measured")
	} else {
		if n := f.InFlight + f.Queued; f.Completed == 0 && n > 0 {
			fail("completed requests: none of those measured, %d had not ended", n)
		}
		if got := float64(f.Dropped+f.TimedOut) / sent; got > a.Failed {
			fail("failed requests: %.4f of those sent, at most %v accepted%s", got, a.Failed, commonest(f.Reasons))
		}
		if got := float64(f.InFlight+f.Queued) / sent; got > a.Unfinished {
			fail("unfinished requests: %.4f of those sent, at most %v accepted", got, a.Unfinished)
		}
		if want := m.inputs.concurrency(); a.Concurrency > 0 {
			if got := m.record.sendingConcurrency(); math.Abs(got-want) > a.Concurrency*want {
				fail("concurrency: %.2f achieved while sending, %v wanted within %v of it", got, want, a.Concurrency)
			}
		}
	}
	r.Accepted = len(r.Failures) == 0
}

// commonest names the reason that most dropped requests had, the first of equals.
func commonest(reasons []spec.DropReason) string {
	if len(reasons) == 0 {
		return ""
	}
	most := slices.MaxFunc(reasons, func(a, b spec.DropReason) int { return cmp.Compare(a.Count, b.Count) })
	return fmt.Sprintf("; dropped most often (%d): %s", most.Count, most.Reason)
}

// sendingConcurrency is the mean of outstanding requests until the last was sent.
func (c *recorder) sendingConcurrency() float64 {
	if span := c.window.lastSend - c.window.start; span > 0 {
		return float64(c.area.sent) / float64(span)
	}
	return float64(c.measured)
}

func ratio[T des.Time | float64 | int64](a, b T) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
