// Package gate judges a candidate build against a base on units whose roles are
// secret: predictions in, aggregates out.
//
// In: the ledger, the role seed, prediction files read as untrusted input, a
// pre-registration. Out: figures over at least MinUnits units; never a unit, its
// role or its error. The package reads no clock, environment or file.
//
// Source: Target Design §10.2, §13.5. Rules kept: D2, D4, D7, VAL-6, COV-10, DEV-11.
package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/distance"
)

// MinUnits is the fewest units an aggregate may cover (D7).
const MinUnits = 10

// Means are the metrics whose error is judged, beside the distance that covers the
// percentiles.
var Means = []string{"ttft_mean", "tpot_mean"}

// DistanceMetric names the distribution distance among the metrics of a lane.
const DistanceMetric = "distribution_distance"

// Outcome of a lane.
type Outcome string

const (
	Better           Outcome = "better" // the whole interval lies below zero
	Worse            Outcome = "worse"  // the whole interval lies above zero
	NotDistinguished Outcome = "not distinguished"
)

// Lane is one lane's aggregate. Difference is the candidate's mean error minus the
// base's, with the Holm-corrected bootstrap interval.
type Lane struct {
	Name       string     `json:"lane"`
	Metric     string     `json:"metric"`
	Units      int        `json:"units"`
	Base       float64    `json:"base_error"` // mean over units: absolute relative error, or distance
	Candidate  float64    `json:"candidate_error"`
	Difference float64    `json:"difference"`
	Interval   [2]float64 `json:"interval"`
	Level      float64    `json:"level"` // the interval's, after Holm
	Outcome    Outcome    `json:"outcome"`
}

// Target is what a candidate promised: the lane whose name holds all the words of
// Lane gets better on Metric.
type Target struct {
	Lane   string `json:"lane" yaml:"lane"`
	Metric string `json:"metric" yaml:"metric"`
}

// Report is all a seed-holding job gives out of a comparison.
type Report struct {
	Role        ledger.Role `json:"role"`
	Lanes       []Lane      `json:"lanes"`
	NotBlind    []Lane      `json:"lanes_not_blind"` // units on a legacy side, whose role anyone can work out
	Target      *Target     `json:"target,omitempty"`
	Unpredicted int         `json:"units_the_candidate_lost"` // whatever their role: predicted by the base alone
	Passed      bool        `json:"passed"`
	Why         string      `json:"why"`
}

// pair is one unit's errors.
type pair struct {
	key             string // role key: what is resampled
	base, candidate float64
}

// Compare reduces two prediction sets to lane aggregates over the units of role.
// Both must hold one prediction for each unit on no published list; which role a
// unit has changes nothing of what is asked of them, so a refusal tells none.
func Compare(l *ledger.Ledger, seed []byte, role ledger.Role, base, candidate *Predictions, target *Target) (*Report, error) {
	blind, public, err := collect(l, seed, role, base, candidate)
	if err != nil {
		return nil, err
	}
	r := &Report{Role: role, Target: target, Lanes: judge(merge(blind)), NotBlind: judge(merge(public))}
	for i := range base.Units {
		if base.Units[i].Reason == "" && candidate.Units[i].Reason != "" {
			r.Unpredicted++
		}
	}
	r.decide()
	return r, nil
}

type lanes map[[2]string][]pair // by lane and metric

// collect sorts the errors of every unit of role into lanes.
func collect(l *ledger.Ledger, seed []byte, role ledger.Role, base, candidate *Predictions) (blind, public lanes, err error) {
	roles, err := l.Roles(seed)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range []*Predictions{base, candidate} {
		if err := complete(l, p); err != nil {
			return nil, nil, err
		}
	}
	blind, public = lanes{}, lanes{}
	at := -1 // of the unit among the predictions
	for i := range l.Units {
		u := &l.Units[i]
		if l.Role(u) != ledger.Unlisted {
			continue
		}
		at++
		drawn, unseen, err := roles.Of(u)
		if err != nil {
			return nil, nil, err
		}
		if drawn != role {
			continue
		}
		to := blind
		if !unseen {
			to = public
		}
		if err := to.add(u, base.Units[at].Metrics, candidate.Units[at].Metrics); err != nil {
			return nil, nil, err
		}
	}
	return blind, public, nil
}

// complete refuses predictions of other units than those on no published list.
func complete(l *ledger.Ledger, p *Predictions) error {
	n := 0
	for i := range l.Units {
		u := &l.Units[i]
		if l.Role(u) != ledger.Unlisted {
			continue
		}
		if n == len(p.Units) || p.Units[n].UnitID != u.ID {
			return &diag.Refusal{Field: fmt.Sprintf("units[%d].unit_id", n), Value: u.ID, Problem: "has no prediction", Accept: "one prediction for each unit on no published list, in order of id", Rule: "D7"}
		}
		n++
	}
	if n != len(p.Units) {
		return &diag.Refusal{Field: fmt.Sprintf("units[%d].unit_id", n), Value: p.Units[n].UnitID, Problem: "is no unit without a published role", Accept: "one prediction for each unit on no published list", Rule: "D7"}
	}
	return nil
}

// add compares one unit on every mean, and on the distance, that it records and both
// sides predict.
func (to lanes) add(u *ledger.Unit, base, candidate map[string]float64) error {
	key, err := canon.Hash(u.RoleKey)
	if err != nil {
		return err
	}
	put := func(metric string, b, c float64) {
		k := [2]string{u.Lane(), metric}
		to[k] = append(to[k], pair{key, b, c})
	}
	for _, id := range Means {
		m, ok := u.Measured(id)
		b, okB := base[id]
		c, okC := candidate[id]
		if ok && okB && okC {
			put(id, math.Abs(b-m)/m, math.Abs(c-m)/m)
		}
	}
	b, okB := distance.Of(u.Measured, in(base))
	c, okC := distance.Of(u.Measured, in(candidate))
	if okB && okC {
		put(DistanceMetric, b.Value, c.Value)
	}
	return nil
}

func in(m map[string]float64) func(string) (float64, bool) {
	return func(id string) (float64, bool) { v, ok := m[id]; return v, ok }
}

// names holds when one of the lanes that were merged into l is t's.
func (t *Target) names(l *Lane) bool {
	return t.Metric == l.Metric && slices.ContainsFunc(strings.Split(l.Name, and), func(name string) bool {
		return ledger.InLane(name, t.Lane)
	})
}

// decide applies VAL-6: no lane worse, every lane the target names better, and
// nothing unpredicted that the base predicts. A lane that is not blind can fail a
// candidate and cannot pass it.
func (r *Report) decide() {
	var worse, missed []string
	named := 0
	for _, l := range slices.Concat(r.Lanes, r.NotBlind) {
		if l.Outcome == Worse {
			worse = append(worse, l.Name+" "+l.Metric)
		}
	}
	for _, l := range r.Lanes {
		if r.Target != nil && r.Target.names(&l) {
			named++
			if l.Outcome != Better {
				missed = append(missed, l.Name+" "+l.Metric)
			}
		}
	}
	switch {
	case len(r.Lanes) == 0:
		r.Why = fmt.Sprintf("no lane covers %d units", MinUnits)
	case r.Unpredicted > 0:
		r.Why = fmt.Sprintf("the candidate gives no figure for %d units that the base predicts", r.Unpredicted)
	case len(worse) > 0:
		r.Why = "worse on " + strings.Join(worse, ", ")
	case r.Target != nil && named == 0:
		r.Why = fmt.Sprintf("no lane of %d units is the target %q on %s", MinUnits, r.Target.Lane, r.Target.Metric)
	case len(missed) > 0:
		r.Why = "not distinguishably better on the target " + strings.Join(missed, ", ")
	default:
		r.Passed, r.Why = true, "no lane is worse"
	}
}
