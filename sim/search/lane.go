package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Evidence is what the lanes of arms are looked up in.
type Evidence struct {
	Catalog *catalog.Catalog // by whose names a point belongs to an arm

	summary  *record.Summary // nil: none was given
	points   []record.Point
	accuracy *Accuracy
}

// Read takes a published summary and the points it sums up.
func (e *Evidence) Read(summary, points Document) error {
	e.summary = new(record.Summary)
	if err := strict.JSON(summary.File, summary.Data, e.summary); err != nil {
		return err
	}
	if err := strict.JSON(points.File, points.Data, &e.points); err != nil {
		return err
	}
	grades := map[record.Grade]int{}
	for i := range e.points {
		grades[e.points[i].Grade]++
	}
	for _, g := range record.Grades() {
		if want := e.summary.Coverage.ByGrade[g]; grades[g] != want {
			return &diag.Refusal{File: points.File, Field: string(g), Value: fmt.Sprint(grades[g], " points"), Problem: "are not those that " + summary.File + " sums up",
				Accept: fmt.Sprint(want, " points, as in the file published with it"), Rule: "CFG-5"}
		}
	}
	e.accuracy = &Accuracy{SummarySHA256: canon.Sum(summary.Data), PointsSHA256: canon.Sum(points.Data), Build: e.summary.Build, Experimental: e.summary.Experiment}
	return nil
}

func (e *Evidence) source() *Accuracy { return e.accuracy }

// run says what an arm ran with, and what is known of its lanes.
func (t *Trial) run(s *spec.Scenario, e *Evidence) *Run {
	r := &Run{Scenario: t.hash, Upstream: t.inputs.Upstream, Accelerators: t.chips, Method: t.method.String(),
		Acceptance: t.inputs.Acceptance, Validity: t.valid, Lanes: []Lane{}}
	if e == nil {
		return r
	}
	if e.summary == nil {
		r.Extrapolated = "not known whether an extrapolation: no summary of measured accuracy was given"
		return r
	}
	r.Lanes = e.lanes(s)
	r.Extrapolated = extrapolated(r.Lanes)
	return r
}

// lanes are those of an arm's engine, model, chip and precision, by name: data sources
// may call one model by two names.
func (e *Evidence) lanes(s *spec.Scenario) []Lane {
	byName := map[string]*Lane{}
	for i := range e.points {
		p := &e.points[i]
		if p.Engine != s.Engine.Kind || !e.of(p, s) {
			continue
		}
		if byName[p.Lane] == nil {
			byName[p.Lane] = &Lane{Name: p.Lane, Grades: map[record.Grade]int{}, Errors: []LaneError{}}
		}
		byName[p.Lane].Grades[p.Grade]++
	}
	out := []Lane{}
	for name, l := range byName { //determinism:any-order sorted below
		for _, a := range e.summary.ByLane {
			if a.Group == name {
				l.Errors = append(l.Errors, LaneError{a.Metric, a.MAPE})
			}
		}
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Lane) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// of is whether a point was measured on the arm's model, precision and chip.
func (e *Evidence) of(p *record.Point, s *spec.Scenario) bool {
	chip, err := e.Catalog.Chip(s.Hardware)
	if err != nil || p.Hardware != s.Hardware && !aliased(chip.Aliases, p.Hardware) {
		return false
	}
	m, err := e.Catalog.Model(s.Model)
	if err != nil || len(m.Checkpoints) == 0 {
		return false
	}
	if _, ok := m.Checkpoint(p.Model); !ok && p.Model != s.Model && !aliased(m.Aliases, p.Model) {
		return false
	}
	checkpoint := &m.Checkpoints[0]
	if c, ok := m.Checkpoint(s.Checkpoint); ok {
		checkpoint = c
	}
	return slices.Contains(checkpoint.Precisions, p.Precision)
}

func aliased(names []catalog.Alias, name string) bool {
	return slices.ContainsFunc(names, func(a catalog.Alias) bool { return a.Name == name })
}

// extrapolated is why an arm of these lanes is an extrapolation, or "".
func extrapolated(lanes []Lane) string {
	if len(lanes) == 0 {
		return "extrapolation: no measured run of this engine, model, chip and precision"
	}
	var each []string
	for _, l := range lanes {
		if l.Grades[record.G1]+l.Grades[record.G2] > 0 {
			return ""
		}
		errors := "its error is not published"
		if len(l.Errors) > 0 {
			errors = ""
			for i, e := range l.Errors {
				if i > 0 {
					errors += ", "
				}
				errors += "mean error of " + e.Metric + " " + e.MAPE.String()
			}
		}
		each = append(each, l.Name+" has no G1 or G2 point: "+errors)
	}
	return "extrapolation: " + strings.Join(each, "; ")
}
