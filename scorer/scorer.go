// Package scorer compares, grades and sums up: trials in, points, summary,
// coverage and backlog out. It is a pure function of its arguments; it holds no
// table of engine settings, runs nothing and reads no file.
//
// Source: Target Design §11. Rules kept: COV-1, COV-3 to COV-5, COV-7, COV-10,
// COV-11, DEV-8, DEV-11.
package scorer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/distance"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Points turns trials into graded points, in order of unit id whatever order the
// trials came in.
func Points(trials []record.Trial) ([]record.Point, error) {
	spread, err := noise(trials)
	if err != nil {
		return nil, err
	}
	points := make([]record.Point, 0, len(trials))
	for i := range trials {
		p, err := point(&trials[i], spread[trials[i].Unit.ID])
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b record.Point) int { return cmp.Compare(a.UnitID, b.UnitID) })
	for i := 1; i < len(points); i++ {
		if points[i].UnitID == points[i-1].UnitID {
			return nil, fmt.Errorf("unit %s was tried twice", points[i].UnitID)
		}
	}
	return points, nil
}

// point compares and grades one trial.
func point(t *record.Trial, noise map[string]float64) (record.Point, error) {
	p, err := identity(t)
	if err != nil {
		return p, err
	}
	if err := t.Check(); err != nil {
		return p, fmt.Errorf("unit %s: %w", p.UnitID, err)
	}
	if t.Refusal != nil {
		return refused(p, t.Refusal.Reason, t.Refusal.Detail), nil
	}
	build, err := ParseBuild(image(t.Unit), p.EngineVersion)
	if err != nil {
		return refused(p, record.BuildUnparseable, err.Error()), nil
	}
	if !t.Result.Accepted { // the frame was not met, so the run gives no figure (DEV-7)
		return p, fmt.Errorf("unit %s: the simulated run failed its frame: %v", p.UnitID, t.Result.Failures)
	}
	if p.Metrics, err = compare(t, noise); err != nil {
		return p, err
	}
	p.Achieved = achieved(t)
	if d, ok := distance.Of(t.Unit.Measured, simulated(t)); ok {
		p.Distance = &d
	}
	p.Conditions = conditions(t, build)
	p.Grade = grade(p.Conditions)
	p.Differences = append(differences(p.Conditions), borrowed(t)...)
	p.KVLimited = t.Result.Requests.Preemptions > 0 || kvFull(t)
	p.GPUs = t.Result.Engines[0].Accelerators * len(t.Result.Engines)
	p.Tradeoff = tradeoff(t, &p)
	return p, nil
}

// kvNearlyFull is the KV usage at which admission begins to wait for space: one
// long prompt's share of the pool is left at most.
const kvNearlyFull = 0.97

func kvFull(t *record.Trial) bool {
	for _, e := range t.Result.Engines {
		if e.MaxKVUsage >= kvNearlyFull {
			return true
		}
	}
	return false
}

// identity copies what names the point.
func identity(t *record.Trial) (record.Point, error) {
	u := t.Unit
	key, err := canon.Hash(u.RoleKey)
	p := record.Point{
		UnitID: u.ID, RoleKey: key, Lane: u.Lane(),
		Engine: u.Framework, EngineVersion: t.EngineVersion, Hardware: u.Hardware, Model: u.Model, Precision: u.Precision,
		ISL: number(u.Serving.ISL), OSL: number(u.Serving.OSL), Concurrency: u.Concurrency,
		Differences: []string{}, Conditions: []record.Condition{}, Metrics: map[string]record.Metric{}, Trial: t,
	}
	return p, err
}

// refused is p without a comparison: what was measured stands alone.
func refused(p record.Point, r record.Reason, detail string) record.Point {
	p.Grade, p.Reason, p.Detail = record.G5, r, detail
	for _, id := range ledger.Metrics() {
		if v, ok := p.Trial.Unit.Measured(id); ok {
			if p.Measured == nil {
				p.Measured = map[string]float64{}
			}
			p.Measured[id] = v
		}
	}
	return p
}

// image is the image the run used: the launch facts' where there are some, else
// the source's own.
func image(u *ledger.Unit) string {
	for _, c := range u.Configurations {
		if c.Image != nil {
			return *c.Image
		}
	}
	if u.Serving.Image != nil {
		return *u.Serving.Image
	}
	return ""
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
