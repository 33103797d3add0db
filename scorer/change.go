package scorer

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Scores are the points of one build.
type Scores struct {
	Name   string // release, or "unreleased"
	Points []record.Point
}

// Changes compares two builds' scores of the same units: each lane's error over the
// points that both grade, paired, with the interval of the difference, and every
// point that moved.
func Changes(from, to Scores) record.Change {
	c := record.Change{Schema: record.ChangeSchema, From: from.Name, To: to.Name, Points: []record.PointChange{}}
	pairs := match(from.Points, to.Points)
	for _, p := range pairs {
		if moved := p.change(); p.before == nil || p.after == nil || moved.Before != moved.After || !still(moved.Metrics) {
			c.Points = append(c.Points, moved)
		} else {
			c.Same++
		}
	}
	c.Whole, c.Lanes = laneChanges(pairs, func(*record.Point) string { return "G1 to G4" }), laneChanges(pairs, func(p *record.Point) string { return p.Lane })
	return c
}

// matched is one unit's point on each side; one may be nil.
type matched struct{ before, after *record.Point }

// match pairs points by unit, in order of id.
func match(before, after []record.Point) []matched {
	at := map[string]int{}
	var out []matched
	for i := range before {
		at[before[i].UnitID] = len(out)
		out = append(out, matched{before: &before[i]})
	}
	for i := range after {
		if k, ok := at[after[i].UnitID]; ok {
			out[k].after = &after[i]
		} else {
			out = append(out, matched{after: &after[i]})
		}
	}
	slices.SortFunc(out, func(a, b matched) int { return cmp.Compare(a.either().UnitID, b.either().UnitID) })
	return out
}

func (m matched) either() *record.Point { return cmp.Or(m.after, m.before) }

func (m matched) change() record.PointChange {
	p := m.either()
	out := record.PointChange{UnitID: p.UnitID, Lane: p.Lane, Metrics: []record.MetricMoved{}}
	moved := map[string]*record.MetricMoved{}
	side := func(p *record.Point, grade *record.Grade, into func(*record.MetricMoved) **float64) {
		if p == nil {
			return
		}
		*grade = p.Grade
		if p.Grade == record.G5 {
			return
		}
		for id, x := range p.Metrics { //determinism:any-order sorted below
			if moved[id] == nil {
				moved[id] = &record.MetricMoved{Metric: id}
			}
			*into(moved[id]) = &x.RelativeError
		}
	}
	side(m.before, &out.Before, func(x *record.MetricMoved) **float64 { return &x.Before })
	side(m.after, &out.After, func(x *record.MetricMoved) **float64 { return &x.After })
	for _, x := range moved { //determinism:any-order sorted below
		out.Metrics = append(out.Metrics, *x)
	}
	slices.SortFunc(out.Metrics, func(a, b record.MetricMoved) int { return cmp.Compare(a.Metric, b.Metric) })
	return out
}

func still(metrics []record.MetricMoved) bool {
	return !slices.ContainsFunc(metrics, func(m record.MetricMoved) bool { return !reflect.DeepEqual(m.Before, m.After) })
}

// laneChanges compares each group and metric over the points that both sides grade.
func laneChanges(pairs []matched, of func(*record.Point) string) []record.LaneChange {
	type sides struct{ before, after, difference []sample }
	groups := map[[2]string]*sides{}
	for _, p := range pairs {
		if p.before == nil || p.after == nil || p.before.Grade == record.G5 || p.after.Grade == record.G5 {
			continue
		}
		for id, after := range p.after.Metrics { //determinism:any-order each metric goes to its own group
			before, ok := p.before.Metrics[id]
			if !ok {
				continue
			}
			k := [2]string{of(p.after), id}
			g := groups[k]
			if g == nil {
				g = new(sides)
				groups[k] = g
			}
			key := p.after.RoleKey
			g.before = append(g.before, sample{key: key, signed: before.RelativeError})
			g.after = append(g.after, sample{key: key, signed: after.RelativeError})
			g.difference = append(g.difference, sample{key: key, signed: math.Abs(after.RelativeError) - math.Abs(before.RelativeError)})
		}
	}
	out := make([]record.LaneChange, 0, len(groups))
	for k, g := range groups { //determinism:any-order sorted below
		c := record.LaneChange{Lane: k[0], Metric: k[1], Outcome: record.NoPointMoved}
		stands := slices.ContainsFunc(g.difference, func(s sample) bool { return s.signed != 0 })
		c.Before, c.After, c.Difference = accuracy(k[0], k[1], g.before).MAPE, accuracy(k[0], k[1], g.after).MAPE, accuracy(k[0], k[1], g.difference).Bias
		if stands {
			c.Outcome = outcome(c.Difference)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b record.LaneChange) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Metric, b.Metric))
	})
	return out
}

func outcome(difference record.Figure) record.Outcome {
	low, high, ok := difference.Interval()
	switch {
	case difference.Points() < record.MinPoints:
		return record.TooFew
	case ok && high < 0:
		return record.Better
	case ok && low > 0:
		return record.Worse
	}
	return record.NotDistinguished
}
