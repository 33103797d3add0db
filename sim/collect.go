package sim

import (
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// intervalLevel is the level of an interval from batch means.
const intervalLevel = 0.95

// collected is the samples and totals of one scope.
type collected struct {
	of        map[string]*distribution // by metric quantity
	totals                             // of the completed requests sent in the window
	departed  totals                   // what a rate counts: of a steady state, every completion in the window
	hits      engines.PrefixCounters
	perTenant map[uint16]float64 // output tokens by label
}

// totals are sums over completed requests.
type totals struct {
	completed      int64
	prompt, output int64 // tokens
	met            int64 // that met every objective of their client
}

// collect makes the distributions of one scope from the rows of the run.
func (f *figures) collect(s *scope) *collected {
	m := f.model
	c := &collected{of: map[string]*distribution{}, perTenant: map[uint16]float64{}}
	list := func(quantity string) *distribution {
		d := &distribution{values: make([]float64, 0, m.record.rows.n)}
		c.of[quantity] = d
		return d
	}
	ttft, tpot, e2e, queueing, scheduling := list("ttft"), list("tpot"), list("e2e"), list("queueing_delay"), list("scheduling_delay")
	for r := range m.record.rows.all {
		if !s.has(r) {
			continue
		}
		c.count(r, &m.inputs.labels[r.label].Goal)
		c.perTenant[r.label] += float64(r.output)
		if r.output > 0 { // a request that emitted no token gives no token latency
			ttft.values = append(ttft.values, float64(r.ttft)/1e6)
			e2e.values = append(e2e.values, float64(r.e2e)/1e6)
		}
		if t, ok := r.tpot(); ok {
			tpot.values = append(tpot.values, t)
		}
		if r.queueing >= 0 {
			queueing.values = append(queueing.values, float64(r.queueing)/1e6)
			scheduling.values = append(scheduling.values, float64(r.scheduling)/1e6)
		}
	}
	c.departed = c.totals
	for i := range m.record.ended { // none of a terminating run
		if r := m.record.early.at(i); s.has(r) {
			c.departed.count(r, &m.inputs.labels[r.label].Goal)
		}
	}
	for _, d := range []*distribution{ttft, tpot, e2e, queueing, scheduling} {
		d.seal()
		if s.whole && settled(f.result.Steady) {
			if e, err := analysis.BatchMeans(d.values, intervalLevel); err == nil {
				d.half, d.batches = rounded(e.HalfWidth()), e.Samples
			}
		}
	}
	c.of["interactivity"] = tpot
	if s.instances != nil {
		c.steps(m, s)
	}
	return c
}

// count adds one request.
func (t *totals) count(r *row, goal *spec.Objectives) {
	t.completed++
	t.prompt += r.prompt
	t.output += int64(r.output)
	if r.meets(goal) {
		t.met++
	}
}

// steps adds what only instances know.
func (c *collected) steps(m *model, s *scope) {
	var itl runs
	for _, i := range s.instances {
		l := m.instances[i].log
		itl.merge(&l.itl)
		c.hits.Queried += l.hits.Queried
		c.hits.Hit += l.hits.Hit
	}
	c.of["itl"] = itl.distribution(1e-6)
}

// tpot is the time per output token after the first, in seconds.
func (r *row) tpot() (seconds float64, ok bool) {
	if r.output < 2 {
		return 0, false
	}
	return float64(r.e2e-r.ttft) / 1e6 / float64(r.output-1), true
}

// meets is whether the request met every objective stated for it.
func (r *row) meets(g *spec.Objectives) bool {
	t, _ := r.tpot()
	return under(float64(r.ttft)/1e6, g.TTFT) && under(t, g.TPOT) && under(float64(r.e2e)/1e6, g.E2E)
}

func under(v, limit float64) bool { return limit == 0 || v <= limit }

// rate appends a figure with one value a window, or says why it cannot.
func (f *figures) rate(d *metric.Definition, s *scope, c *collected) {
	span := f.result.Window.End - f.result.Window.Start
	if span <= 0 && d.ID != "attainment" {
		f.withhold(d, s, "the measured window is empty")
		return
	}
	out := &c.departed
	perWindow := func(n int64) { f.add(d, s, float64(n)/span, out.completed) }
	perChip := func(n int64) {
		if s.accelerators == 0 {
			f.withhold(d, s, "the scope has no accelerators of its own")
			return
		}
		f.add(d, s, float64(n)/span/float64(s.accelerators), out.completed)
	}
	switch d.ID {
	case "request_throughput":
		perWindow(out.completed)
	case "input_throughput":
		perWindow(out.prompt)
	case "output_throughput":
		perWindow(out.output)
	case "total_throughput":
		perWindow(out.prompt + out.output)
	case "input_throughput_per_accelerator":
		perChip(out.prompt)
	case "output_throughput_per_accelerator":
		perChip(out.output)
	case "total_throughput_per_accelerator":
		perChip(out.prompt + out.output)
	case "duration":
		f.add(d, s, span, c.completed)
	default:
		f.share(d, s, c, span)
	}
}

// share appends the figures that are ratios of counts.
func (f *figures) share(d *metric.Definition, s *scope, c *collected, span float64) {
	switch {
	case d.ID == "goodput" && s.judged > 0:
		f.add(d, s, float64(c.departed.met)/span, c.departed.completed)
	case d.ID == "attainment" && s.judged > 0:
		f.add(d, s, float64(c.met)/float64(s.sent), s.sent)
	case d.ID == "goodput" || d.ID == "attainment":
		f.withhold(d, s, "no request that was sent has an objective")
	case d.ID == "fairness_jain" && s.whole && len(f.names("tenant")) > 1:
		f.add(d, s, f.jain(c), c.completed)
	case d.ID == "fairness_jain" && s.whole:
		f.withhold(d, s, "fewer than two tenants")
	case d.ID == "prefix_hit_rate" && c.hits.Queried > 0:
		f.add(d, s, float64(c.hits.Hit)/float64(c.hits.Queried), c.completed)
	case d.ID == "prefix_hit_rate" && s.instances == nil:
		f.withhold(d, s, ofInstances)
	case d.ID == "prefix_hit_rate":
		f.withhold(d, s, "no prompt was looked up in a prefix cache")
	case d.ID == "concurrency" && s.whole:
		f.add(d, s, seconds(f.model.record.area.end)/span, c.completed)
	case d.ID == "preemptions" && s.whole && c.completed > 0:
		f.add(d, s, float64(f.result.Requests.Preemptions)/float64(c.completed), c.completed)
	default:
		f.withhold(d, s, "is counted for the cluster alone")
	}
}

// jain is Jain's index over tenants (R. Jain et al., DEC-TR-301, 1984).
func (f *figures) jain(c *collected) float64 {
	sum, squares := 0.0, 0.0
	tenants := f.names("tenant")
	for _, name := range tenants {
		x := 0.0
		for i := range f.model.inputs.labels {
			if f.model.inputs.labels[i].Tenant == name {
				x += c.perTenant[uint16(i)]
			}
		}
		sum += x
		squares += float64(x * x)
	}
	if squares == 0 {
		return 0
	}
	return float64(sum*sum) / (float64(len(tenants)) * squares)
}
