package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Simulate runs jobs, in any order and any number at a time, and returns the trial of
// each in the order of jobs. An error ends the search.
type Simulate func(jobs []Job) ([]*Trial, error)

// firstSeed begins the replications of every arm, so that one request stream meets all.
const firstSeed = 1

// covers is what every interval of a report is of.
const covers = "the workload's randomness, over replications; not the coefficients' uncertainty"

// noChance is why a figure without an interval has none.
const noChance = "the runs have no random input, and coefficients are not varied"

// Run simulates the arms, ranks them and estimates the winners again on fresh seeds,
// because the best of many noisy estimates looks better than it is (§8.8).
func (s *Study) Run(simulate Simulate, e *Evidence) (*Report, error) {
	trials, err := s.simulate(simulate, func(i int) bool { return true }, firstSeed, s.Spec.Seeds)
	if err != nil {
		return nil, err
	}
	r := &Report{Schema: ReportSchema, Experimental: []string{}, Order: []int{}, Inputs: Inputs{Spec: s.Spec, Base: s.Base, Accuracy: e.source()}}
	if r.Inputs.SpecSHA256, err = canon.Hash(s.Spec); err != nil {
		return nil, err
	}
	r.Comparison = s.family(trials)
	fixed := r.Comparison.Runs <= 1
	for i := range s.Arms {
		a, err := s.result(i, trials[i], fixed, e)
		if err != nil {
			return nil, err
		}
		r.Arms = append(r.Arms, a)
	}
	if err := s.place(r, trials, fixed); err != nil || fixed {
		return r, err
	}
	return r, s.again(r, simulate)
}

// family says how arms will be compared, by whether any of them has random input.
func (s *Study) family(trials []*Trial) Family {
	f := Family{First: firstSeed, Level: s.Spec.Level, Covers: "no arm ran", Method: "no comparison"}
	for _, t := range trials {
		switch {
		case t == nil || t.inputs == nil:
		case t.drawn:
			f.Runs, f.Covers = s.Spec.Seeds, covers
			f.Method = "differences beyond the margin, paired by seed; Holm over every pair of ranked arms and every objective"
			return f
		default:
			f.Runs, f.Covers, f.Method = 1, noChance, "differences beyond the margin, of runs without chance"
		}
	}
	return f
}

// simulate runs the arms that can be asked of an engine and that wanted names; the
// others have no trial.
func (s *Study) simulate(simulate Simulate, wanted func(i int) bool, first uint64, seeds int) ([]*Trial, error) {
	var jobs []Job
	var of []int
	for i := range s.Arms {
		if a := &s.Arms[i]; a.Refused == nil && wanted(i) {
			jobs, of = append(jobs, s.job(i, first, seeds)), append(of, i)
		}
	}
	done, err := simulate(jobs)
	if err != nil {
		return nil, err
	}
	trials := make([]*Trial, len(s.Arms))
	for k, t := range done {
		trials[of[k]] = t
	}
	return trials, nil
}

func (s *Study) job(i int, first uint64, seeds int) Job {
	scenario := *s.Arms[i].Scenario
	return Job{Scenario: &scenario, First: first, Seeds: seeds, of: s.Spec.quantities()}
}

// result is one arm before it is compared with others.
func (s *Study) result(i int, t *Trial, fixed bool, e *Evidence) (Result, error) {
	a := &s.Arms[i]
	r := Result{Arm: i + 1, Status: ranked, Figures: []Figure{}, Differences: []Difference{}}
	for axis, option := range a.Choices {
		r.Choices = append(r.Choices, Choice{s.Spec.Axes[axis].Name, option})
	}
	why := a.Refused
	if why == nil {
		why = t.Refused
	}
	switch {
	case why != nil:
		if r.Status, r.Reason = refused, why.Error(); why.Accept != "" {
			r.Reason += "; accepted: " + why.Accept
		}
		return r, nil
	case t.stop != "":
		r.Status, r.Reason, r.Run = t.stop, t.reason, t.run(a.Scenario, e)
		return r, nil
	}
	r.Run = t.run(a.Scenario, e)
	if !fixed && !t.drawn { // an arm without chance is the same with every seed
		for q, v := range t.values {
			t.values[q] = slices.Repeat(v, s.Spec.Seeds)
		}
	}
	var err error
	r.Figures, err = s.figures(t, fixed)
	if why := unmet(r.Figures); why != "" {
		r.Status, r.Reason = notMet, why
	}
	return r, err
}

// figures are the means of a trial, with the verdict on each constraint.
func (s *Study) figures(t *Trial, fixed bool) ([]Figure, error) {
	out := []Figure{}
	for i, q := range s.Spec.quantities() {
		f := Figure{Metric: q.metric, Scope: q.scope, Aggregate: q.aggregate, Unit: t.units[i], Value: mean(t.values[i]), Runs: len(t.values[i])}
		low, high := f.Value, f.Value
		if fixed {
			f.NoInterval = noChance
		} else {
			e, err := analysis.Replications(t.values[i], s.Spec.Level)
			if err != nil {
				return nil, err
			}
			low, high = e.Low, e.High
			f.Interval = interval(e)
		}
		if c := i - len(s.Spec.Rank); c >= 0 {
			f.Required, f.Verdict = s.Spec.Constraints[c].judge(low, high)
		}
		out = append(out, f)
	}
	return out, nil
}

func interval(e analysis.Estimate) *spec.Interval {
	return &spec.Interval{Low: e.Low, High: e.High, Level: e.Level, Covers: covers, Runs: e.Samples}
}

// judge holds the ends of an interval to the bound.
func (c *Constraint) judge(low, high float64) (required, verdict string) {
	within, beyond := false, false
	if c.AtMost != nil {
		required, within, beyond = "at most "+text(*c.AtMost), high <= *c.AtMost, low > *c.AtMost
	} else {
		required, within, beyond = "at least "+text(*c.AtLeast), low >= *c.AtLeast, high < *c.AtLeast
	}
	switch {
	case within:
		return required, met
	case beyond:
		return required, missed
	}
	return required, undecided
}

// unmet names the constraints that figures do not keep for sure.
func unmet(figures []Figure) string {
	why := ""
	for _, f := range figures {
		if f.Required != "" && f.Verdict != met {
			if why != "" {
				why += "; "
			}
			why += fmt.Sprintf("%s is %.4g %s, %s wanted: %s", f.Metric, f.Value, f.Unit, f.Required, f.Verdict)
		}
	}
	return why
}

// place compares the ranked arms.
func (s *Study) place(r *Report, trials []*Trial, fixed bool) error {
	var arms []int
	var values [][][]float64
	for i := range r.Arms {
		if r.Arms[i].Status != ranked {
			continue
		}
		var of [][]float64
		for o := range s.Spec.Rank {
			of = append(of, slices.Clone(trials[i].values[o]))
		}
		arms, values = append(arms, i), append(values, of)
	}
	f := newField(s.Spec, arms, values, fixed)
	if err := f.compare(); err != nil {
		return err
	}
	r.Comparison.Count = f.compared
	of, order := f.standings()
	for _, k := range order {
		r.Order = append(r.Order, arms[k]+1)
	}
	for k, st := range of {
		a := &r.Arms[arms[k]]
		if a.Standing = st.name; st.against < 0 {
			continue
		}
		a.Against = arms[st.against] + 1
		for o := range s.Spec.Rank {
			d, err := f.difference(s.Spec, k, st.against, o)
			if err != nil {
				return err
			}
			a.Differences = append(a.Differences, d)
		}
	}
	return nil
}

// difference is arm k's figure minus that of other, in the metric's own direction.
func (f *field) difference(s *Spec, k, other, o int) (Difference, error) {
	sign := 1.0
	if s.Rank[o].Better == string(metric.Lower) {
		sign = -1
	}
	own, base := f.means[k][o], f.means[other][o]
	q := s.Rank[o].quantity()
	d := Difference{Metric: q.metric, Scope: q.scope, Aggregate: q.aggregate, Value: sign * (own - base), Outcome: string(analysis.NotDistinguished)}
	if base != 0 {
		d.Share = d.Value / math.Abs(base)
	}
	switch {
	case f.told[[3]int{other, k, o}]:
		d.Outcome = "worse"
	case f.told[[3]int{k, other, o}]:
		d.Outcome = "better"
	}
	if f.fixed {
		d.Equivalent = math.Abs(own-base) <= f.margin*math.Abs(base)
		return d, nil
	}
	c, err := analysis.Paired(f.values[other][o], f.values[k][o], f.margin*math.Abs(base), f.level)
	if err != nil {
		return d, err
	}
	d.Interval, d.Equivalent = interval(c.Difference), c.Equivalent
	if sign < 0 {
		d.Interval.Low, d.Interval.High = -c.Difference.High, -c.Difference.Low
	}
	return d, nil
}

// again estimates the winners with seeds that no arm had.
func (s *Study) again(r *Report, simulate Simulate) error {
	wins := func(i int) bool { return won(&r.Arms[i]) }
	if !slices.ContainsFunc(s.indices(), wins) {
		return nil
	}
	r.Comparison.Fresh = firstSeed + uint64(s.Spec.Seeds)
	trials, err := s.simulate(simulate, wins, r.Comparison.Fresh, s.Spec.Seeds)
	if err != nil {
		return err
	}
	for i, t := range trials {
		if t == nil {
			continue
		}
		again, err := s.result(i, t, false, nil)
		if err != nil {
			return err
		}
		r.Arms[i].Fresh = &Fresh{Figures: again.Figures, Problem: again.Reason}
	}
	return nil
}

func (s *Study) indices() []int {
	out := make([]int, len(s.Arms))
	for i := range out {
		out[i] = i
	}
	return out
}
