package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// figures computes every metric the frame asks for at every scope, once, after
// the run.
type figures struct {
	model  *model
	result *spec.Result
	want   []metric.Definition
	random bool
}

// scope is one population and what only it has.
type scope struct {
	name         string
	has          func(*row) bool
	accelerators int   // 0: the scope has none of its own
	instances    []int // whose steps belong to it; nil for a scope of requests alone
	whole        bool  // everything belongs to it
	part               // the measured requests sent to it
}

func newFigures(m *model, r *spec.Result) *figures {
	f := &figures{model: m, result: r, random: !strings.HasPrefix(r.Random, "none")}
	ids := m.scenario.Frame.Metrics
	for _, d := range metric.All() {
		if len(ids) == 0 || slices.Contains(ids, d.ID) {
			f.want = append(f.want, d)
		}
	}
	return f
}

// all appends the figures, scope by scope, in the registry's order.
func (f *figures) all() {
	for _, kind := range f.model.scenario.Frame.Scopes {
		scopes := f.scopes(kind)
		for i := range scopes {
			f.at(&scopes[i])
		}
		if len(scopes) == 0 { // of classes or tenants
			for i := range f.want {
				f.withhold(&f.want[i], &scope{name: kind}, "no client states a "+kind)
			}
		}
	}
}

// scopes lists the scopes of one kind in a fixed order.
func (f *figures) scopes(kind string) []scope {
	m := f.model
	measured := f.result.Requests.Measured
	cluster := scope{name: "cluster", whole: true, has: func(*row) bool { return true }, part: part{sent: m.record.measured, unfinished: measured.InFlight + measured.Queued}}
	for _, p := range m.record.labels {
		cluster.judged += p.judged
	}
	for i := range m.instances {
		cluster.instances = append(cluster.instances, i)
		cluster.accelerators += m.instances[i].log.run.Accelerators
	}
	var out []scope
	switch kind {
	case "cluster":
		return []scope{cluster}
	case "pool":
		cluster.name = "pool:0"
		return []scope{cluster}
	case "instance":
		for i, n := range m.instances {
			s := scope{name: fmt.Sprint("instance:", i), has: func(r *row) bool { return int(r.instance) == i },
				accelerators: n.log.run.Accelerators, instances: []int{i}}
			if i < len(m.record.instances) {
				s.part = m.record.instances[i]
			}
			out = append(out, s)
		}
	case "class", "tenant":
		for _, name := range f.names(kind) {
			s := scope{name: kind + ":" + name, has: func(r *row) bool { return f.labelOf(kind, r) == name }}
			for i, p := range m.record.labels {
				if s.has(&row{label: uint16(i)}) {
					s.sent, s.judged, s.unfinished = s.sent+p.sent, s.judged+p.judged, s.unfinished+p.unfinished
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// names lists the classes or tenants that the clients state, in byte order.
func (f *figures) names(kind string) []string {
	var out []string
	for i := range f.model.inputs.labels {
		if n := f.labelOf(kind, &row{label: uint16(i)}); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func (f *figures) labelOf(kind string, r *row) string {
	l := &f.model.inputs.labels[r.label]
	if kind == "class" {
		return l.Class
	}
	return l.Tenant
}

// at appends every wanted figure of one scope.
func (f *figures) at(s *scope) {
	c := f.collect(s)
	for i := range f.want {
		d := &f.want[i]
		if reason := f.unsettled(d); reason != "" {
			f.withhold(d, s, reason)
		} else if d.Population == metric.Window {
			f.rate(d, s, c)
		} else {
			f.latency(d, s, c)
		}
	}
}

// latency appends a statistic of one distribution, or says why it cannot.
func (f *figures) latency(d *metric.Definition, s *scope, c *collected) {
	dist := c.of[d.Quantity]
	switch {
	case dist == nil:
		f.withhold(d, s, ofInstances)
		return
	case dist.count() == 0:
		f.withhold(d, s, "no sample")
		return
	}
	if q, ok := d.Statistic.Quantile(); ok && s.unfinished > 0 {
		if n := float64(min(dist.count(), c.completed)); float64(s.unfinished)/(n+float64(s.unfinished)) > 1-q {
			f.withhold(d, s, fmt.Sprintf("%d requests had not ended, more than the percentile leaves room for; %s waits for them", s.unfinished, f.waits()))
			return
		}
	}
	v := statistic(dist, d.Statistic)
	if d.Quantity == "interactivity" {
		if v == 0 {
			f.withhold(d, s, "the time per output token is 0, which has no inverse")
			return
		}
		v = 1 / v
	}
	f.add(d, s, v, dist.count())
	if d.Statistic == metric.Mean && d.Quantity != "interactivity" && dist.half > 0 {
		g := &f.result.Figures[len(f.result.Figures)-1]
		g.NoInterval, g.Interval = "", &spec.Interval{Low: v - dist.half, High: v + dist.half, Level: intervalLevel, Covers: "the variation within the run, over batch means", Runs: dist.batches}
	}
}

// waits is what the frame needs for no request to be left unfinished.
func (f *figures) waits() string {
	var need []string
	if f.model.scenario.Frame.Stop.Horizon > 0 {
		need = append(need, "frame.stop.requests in place of a horizon")
	}
	if f.model.scenario.Frame.Drain == "excluded" {
		need = append(need, "frame.drain: measured")
	}
	return strings.Join(need, " with ")
}

// ofInstances is why a class or tenant lacks what only instances count.
const ofInstances = "is counted for the cluster, pools and instances alone"

func statistic(d *distribution, s metric.Statistic) float64 {
	switch s {
	case metric.Mean:
		return d.mean
	case metric.Std:
		return d.std
	}
	q, _ := s.Quantile()
	return d.quantile(q)
}

func (f *figures) add(d *metric.Definition, s *scope, v float64, n int64) {
	why := "one run of a workload with no random input"
	if f.random {
		why = "one run; an interval needs replications"
	}
	f.result.Figures = append(f.result.Figures, spec.Figure{Metric: d.ID, Scope: s.name, Value: v, Unit: d.Unit, Count: n, Unfinished: s.unfinished, NoInterval: why})
}

func (f *figures) withhold(d *metric.Definition, s *scope, reason string) {
	f.result.Withheld = append(f.result.Withheld, spec.Withheld{Metric: d.ID, Scope: s.name, Reason: reason})
}
