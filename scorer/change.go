package scorer

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
)

// falseWinner bounds the chance that any comparison of one Change is said to be better
// or worse when it is not (DEV-11).
const falseWinner = 0.05

// chanceResamples is fine enough for the smallest chance that Holm's method asks for of
// 500 comparisons.
const chanceResamples = 20000

// Scores are the points of one build.
type Scores struct {
	Name   string // release, or "unreleased"
	Points []record.Point
}

// Changes compares two builds' scores of the same units: each lane's error over the
// points that both grade, paired, with the interval of the difference, and every
// point that moved, and each lane's points by grade. All lanes and metrics are one family of
// comparisons.
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
	whole, lanes := laneChanges(pairs, whole), laneChanges(pairs, lane)
	judge(slices.Concat(whole, lanes))
	c.Coverage = append(coverages(pairs, func(*record.Point) string { return "all" }), coverages(pairs, lane)...)
	c.Whole, c.Lanes = changes(whole), changes(lanes)
	return c
}

// coverages counts each group's points by grade on both sides, in order of name.
func coverages(pairs []matched, of func(*record.Point) string) []record.LaneCoverage {
	groups := map[string]*record.LaneCoverage{}
	for _, m := range pairs {
		name := of(m.either())
		g := groups[name]
		if g == nil {
			g = &record.LaneCoverage{Lane: name, Before: map[record.Grade]int{}, After: map[record.Grade]int{}}
			groups[name] = g
		}
		if m.before != nil {
			g.Before[m.before.Grade]++
		}
		if m.after != nil {
			g.After[m.after.Grade]++
		}
	}
	out := []record.LaneCoverage{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, *groups[name])
	}
	return out
}

// compared is one lane and metric with the point by point differences behind it.
type compared struct {
	record.LaneChange
	differences []sample
}

func changes(of []*compared) []record.LaneChange {
	out := make([]record.LaneChange, len(of))
	for i, c := range of {
		out[i] = c.LaneChange
	}
	return out
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

// laneChanges compares each group and metric over the points that both sides grade, in
// order of name, without their outcomes.
func laneChanges(pairs []matched, of func(*record.Point) string) []*compared {
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
	out := make([]*compared, 0, len(groups))
	for _, k := range inOrder(groups) {
		g := groups[k]
		c := &compared{differences: g.difference}
		c.Lane, c.Metric = k[0], k[1]
		c.Before, c.After, c.Difference = accuracy(k[0], k[1], g.before).MAPE, accuracy(k[0], k[1], g.after).MAPE, accuracy(k[0], k[1], g.difference).Bias
		out = append(out, c)
	}
	return out
}

// judge gives every comparison its outcome. Those with an interval are tested together.
func judge(all []*compared) {
	var tested []*compared
	var p []float64
	for _, c := range all {
		_, _, ok := c.Difference.Interval()
		switch {
		case !slices.ContainsFunc(c.differences, func(s sample) bool { return s.signed != 0 }):
			c.Outcome = record.NoPointMoved
		case c.Difference.Points() < record.MinPoints:
			c.Outcome = record.TooFew
		case !ok:
			c.Outcome = record.NotDistinguished
		default:
			tested, p = append(tested, c), append(p, chance(c.differences))
		}
	}
	for i, stands := range analysis.Holm(p, falseWinner) {
		c := tested[i]
		low, high, _ := c.Difference.Interval()
		switch {
		case stands && high < 0:
			c.Outcome = record.Better
		case stands && low > 0:
			c.Outcome = record.Worse
		default:
			c.Outcome = record.NotDistinguished
		}
	}
}

// chance is the two-sided bootstrap p-value of "no difference" over whole deployments:
// twice the share of resampled means beyond zero on the rarer side. It is never below
// 2^(1-k), the chance that k deployments err to one side (see FewestKeys).
func chance(differences []sample) float64 {
	var sums []float64 // one a deployment; the sign of a resample's sum is its mean's
	for _, of := range clusters(differences) {
		sum := 0.0
		for _, s := range of {
			sum += s.signed
		}
		sums = append(sums, sum)
	}
	rng := rand.New(rand.NewPCG(11, 22))
	below, above := 1, 1
	for range chanceResamples {
		sum := 0.0
		for range sums {
			sum += sums[rng.IntN(len(sums))]
		}
		if sum <= 0 {
			below++
		}
		if sum >= 0 {
			above++
		}
	}
	p := 2 * float64(min(below, above)) / (chanceResamples + 1)
	return min(1, max(p, math.Ldexp(1, 1-len(sums))))
}
