package gate

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Alpha is the two-sided error rate over all lanes together. It is below 5%
// because a bootstrap over some tens of role keys covers slightly less than it
// says; TestPower holds the procedure as a whole to 95 right answers of 100.
const Alpha = 0.02

const resamples = 4000

// and joins the names of lanes merged into one.
const and = " + "

type group struct {
	name, metric string
	pairs        []pair
}

// merge joins a lane of fewer than MinUnits units with its neighbour of the same
// metric in name order, so that no aggregate is small enough to read a unit from.
func merge(by lanes) []group {
	var all []group
	for k, p := range by { //determinism:any-order sorted below
		all = append(all, group{k[0], k[1], p})
	}
	slices.SortFunc(all, func(a, b group) int { return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.name, b.name)) })
	var out []group
	for _, g := range all {
		last := len(out) - 1
		if last >= 0 && out[last].metric == g.metric && (len(out[last].pairs) < MinUnits || len(g.pairs) < MinUnits) {
			out[last].name += and + g.name
			out[last].pairs = append(out[last].pairs, g.pairs...)
			continue
		}
		out = append(out, g)
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.pairs) < MinUnits })
}

// judge tests every lane with a paired bootstrap over role keys and corrects for
// their number by Holm's step-down rule.
func judge(groups []group) []Lane {
	type tested struct {
		lane  Lane
		draws []float64
		p     float64
	}
	all := make([]tested, len(groups))
	for i, g := range groups {
		lane, draws := resample(g)
		all[i] = tested{lane, draws, twoSided(draws)}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].p, all[b].p) })
	stopped := false
	for rank, i := range order {
		t := &all[i]
		alpha := Alpha / float64(len(all)-rank)
		t.lane.Level = 1 - alpha
		t.lane.Interval = [2]float64{quantile(t.draws, alpha/2), quantile(t.draws, 1-alpha/2)}
		stopped = stopped || t.p > alpha
		switch {
		case stopped || t.lane.Interval[0] <= 0 && t.lane.Interval[1] >= 0:
			t.lane.Outcome = NotDistinguished
		case t.lane.Difference < 0:
			t.lane.Outcome = Better
		default:
			t.lane.Outcome = Worse
		}
	}
	out := make([]Lane, len(all))
	for i, t := range all {
		out[i] = t.lane
	}
	return out
}

func resample(g group) (Lane, []float64) {
	slices.SortFunc(g.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.base, b.base), cmp.Compare(a.candidate, b.candidate))
	})
	lane := Lane{Name: g.name, Metric: g.metric, Units: len(g.pairs)}
	var clusters [][2]float64 // sum of differences and count, one a role key
	for i, p := range g.pairs {
		lane.Base += p.base / float64(len(g.pairs))
		lane.Candidate += p.candidate / float64(len(g.pairs))
		if i == 0 || p.key != g.pairs[i-1].key {
			clusters = append(clusters, [2]float64{})
		}
		last := &clusters[len(clusters)-1]
		last[0] += p.candidate - p.base
		last[1]++
	}
	lane.Difference = lane.Candidate - lane.Base
	rng := rand.New(rand.NewPCG(uint64(len(g.pairs)), uint64(len(clusters))))
	draws := make([]float64, resamples)
	for i := range draws {
		var sum, n float64
		for range clusters {
			c := clusters[rng.IntN(len(clusters))]
			sum += c[0]
			n += c[1]
		}
		draws[i] = sum / n
	}
	slices.Sort(draws)
	return lane, draws
}

// twoSided is the bootstrap p-value of "no difference": twice the smaller tail
// share beyond zero, never below one resample. Draws at zero count for both tails.
func twoSided(sorted []float64) float64 {
	below, above := 1, 1
	for _, d := range sorted {
		if d <= 0 {
			below++
		}
		if d >= 0 {
			above++
		}
	}
	return min(1, 2*float64(min(below, above))/float64(len(sorted)+1))
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
