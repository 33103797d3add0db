// Package gate judges a candidate build against a base on units whose roles are
// secret: predictions in, aggregates out.
//
// In: the ledger, the role seed, two prediction files read as untrusted input.
// Out: figures over at least MinUnits units; never a unit, its role or its error.
// The package reads no clock, environment or file.
//
// Source: Target Design §10.2, §13.5. Rules kept: D2, D4, D7, VAL-6, DEV-11.
package gate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

// MinUnits is the fewest units an aggregate may cover (D7).
const MinUnits = 10

// Alpha is the two-sided error rate over all lanes together. It is below 5%
// because a bootstrap over some tens of role keys covers slightly less than it
// says; TestPower holds the procedure as a whole to 95 right answers of 100.
const Alpha = 0.02

const resamples = 4000

// Outcome of a lane.
type Outcome string

const (
	Better           Outcome = "better" // the whole interval lies below zero
	Worse            Outcome = "worse"  // the whole interval lies above zero
	NotDistinguished Outcome = "not distinguished"
)

// Lane is one lane's aggregate. Difference is the candidate's mean absolute
// relative error minus the base's, with the Holm-corrected bootstrap interval.
type Lane struct {
	Name       string     `json:"lane"`
	Metric     string     `json:"metric"`
	Units      int        `json:"units"`
	Base       float64    `json:"base_mape"`
	Candidate  float64    `json:"candidate_mape"`
	Difference float64    `json:"difference"`
	Interval   [2]float64 `json:"interval"`
	Level      float64    `json:"level"` // the interval's, after Holm
	Outcome    Outcome    `json:"outcome"`
}

// Report is all a seed-holding job gives out.
type Report struct {
	Role        ledger.Role `json:"role"`
	Units       int         `json:"units"`
	Lanes       []Lane      `json:"lanes"`
	Target      string      `json:"target_lane,omitempty"`
	Passed      bool        `json:"passed"`
	Why         string      `json:"why"`
	Evaluation  int         `json:"evaluation"`         // 1 for the first of a pre-registration
	NotCompared int         `json:"units_not_compared"` // unscored by either side, or in no lane of MinUnits
}

// pair is one unit's absolute relative errors.
type pair struct {
	key             string // role key: what is resampled
	base, candidate float64
}

// Compare reduces two prediction sets to lane aggregates over the units of role.
// measured gives a unit's measured value of a metric. target, when not empty,
// names the lane the candidate promised to improve.
func Compare(l *ledger.Ledger, seed []byte, role ledger.Role, base, candidate *Predictions, metrics map[string]func(*ledger.Unit) float64, target string) (*Report, error) {
	r := &Report{Role: role, Target: target}
	lanes := map[[2]string][]pair{}
	b, c := index(base), index(candidate)
	for i := range l.Units {
		u := &l.Units[i]
		drawn, err := l.Published.Draw(seed, u.RoleKey)
		if err != nil {
			return nil, err
		}
		if drawn != role {
			continue
		}
		r.Units++
		key, err := canon.Hash(u.RoleKey)
		if err != nil {
			return nil, err
		}
		compared := false
		for id, read := range metrics { //determinism:any-order each metric goes to its own lanes
			x, okB := b[u.ID][id]
			y, okC := c[u.ID][id]
			if m := read(u); okB && okC && m > 0 {
				k := [2]string{laneOf(u), id}
				lanes[k] = append(lanes[k], pair{key, math.Abs(x-m) / m, math.Abs(y-m) / m})
				compared = true
			}
		}
		if !compared {
			r.NotCompared++
		}
	}
	r.Lanes = judge(merge(lanes))
	r.decide()
	return r, nil
}

func index(p *Predictions) map[string]map[string]float64 {
	out := make(map[string]map[string]float64, len(p.Units))
	for _, u := range p.Units {
		out[u.UnitID] = u.Metrics
	}
	return out
}

func laneOf(u *ledger.Unit) string {
	return strings.Join([]string{u.Framework, u.Model, u.Hardware, u.Precision}, " ")
}

type group struct {
	name, metric string
	pairs        []pair
}

// merge joins a lane of fewer than MinUnits units with its neighbour of the same
// metric in name order, so that no aggregate is small enough to read a unit from.
func merge(lanes map[[2]string][]pair) []group {
	var all []group
	for k, p := range lanes { //determinism:any-order sorted below
		all = append(all, group{k[0], k[1], p})
	}
	slices.SortFunc(all, func(a, b group) int { return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.name, b.name)) })
	var out []group
	for _, g := range all {
		last := len(out) - 1
		if last >= 0 && out[last].metric == g.metric && (len(out[last].pairs) < MinUnits || len(g.pairs) < MinUnits) {
			out[last].name += " + " + g.name
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

// decide applies VAL-6: no lane worse, and the promised lane better.
func (r *Report) decide() {
	var worse []string
	improved := r.Target == ""
	for _, l := range r.Lanes {
		if l.Outcome == Worse {
			worse = append(worse, l.Name+" "+l.Metric)
		}
		if r.Target != "" && l.Outcome == Better && strings.Contains(l.Name, r.Target) {
			improved = true
		}
	}
	switch {
	case len(r.Lanes) == 0:
		r.Why = fmt.Sprintf("no lane covers %d units", MinUnits)
	case len(worse) > 0:
		r.Why = "worse on " + strings.Join(worse, ", ")
	case !improved:
		r.Why = "the target lane is not distinguishably better"
	default:
		r.Passed, r.Why = true, "no lane is worse"
	}
}
