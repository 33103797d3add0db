package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
)

// field is the arms that are ranked, as benefits: an objective's values by replication,
// negated where lower is better. Every arm has the same number of replications, and
// replication i of all had one seed.
type field struct {
	arms   []int         // index in the study
	values [][][]float64 // by arm, objective, replication
	means  [][]float64   // by arm, objective
	margin float64
	level  float64
	fixed  bool // one exact value each

	told     map[[3]int]bool // better arm, worse arm, objective: told apart
	compared int             // hypotheses tested together
}

func newField(s *Spec, arms []int, values [][][]float64, fixed bool) *field {
	f := &field{arms: arms, values: values, margin: s.Margin, level: s.Level, fixed: fixed, told: map[[3]int]bool{}}
	for _, of := range values {
		m := make([]float64, len(s.Rank))
		for o, v := range of {
			if s.Rank[o].Better == string(metric.Lower) {
				for i := range v {
					v[i] = -v[i]
				}
			}
			m[o] = mean(v)
		}
		f.means = append(f.means, m)
	}
	return f
}

// compare tests every pair of arms on every objective. The best arm is known only from
// the runs, so that all pairs are one family: Holm's method then holds the chance of any
// false difference, whichever arm turns out best.
func (f *field) compare() error {
	type pair struct{ better, worse, objective int }
	var pairs []pair
	var p []float64
	for i := range f.arms {
		for j := range i {
			for o := range f.means[i] {
				better, worse := j, i
				if f.means[i][o] > f.means[j][o] {
					better, worse = i, j
				}
				value, err := f.p(better, worse, o)
				if err != nil {
					return err
				}
				pairs, p = append(pairs, pair{better, worse, o}), append(p, value)
			}
		}
	}
	f.compared = len(pairs)
	for k, keep := range analysis.Holm(p, 1-f.level) {
		if keep {
			f.told[[3]int{pairs[k].better, pairs[k].worse, pairs[k].objective}] = true
		}
	}
	return nil
}

// p is the p-value of a difference beyond the margin. Values without chance differ for
// certain or not at all.
func (f *field) p(better, worse, objective int) (float64, error) {
	margin := f.margin * math.Abs(f.means[better][objective])
	if !f.fixed {
		c, err := analysis.Paired(f.values[worse][objective], f.values[better][objective], margin, f.level)
		return c.P, err
	}
	if f.means[better][objective]-f.means[worse][objective] <= margin {
		return 1, nil
	}
	return 0, nil
}

// standing is where an arm is among those ranked; against is the arm that says so.
type standing struct {
	name    string
	against int // index in the field, -1 for none
}

// Standings of an arm.
const (
	Best      = "best"
	Front     = "on the front"
	NotTold   = "not told apart from the best"
	NearFront = "not told apart from the front"
	Worse     = "worse"
	Dominated = "dominated"
)

// standings place every arm, and order gives them best first.
func (f *field) standings() (of []standing, order []int) {
	of = make([]standing, len(f.arms))
	for i := range of {
		if len(f.means[i]) == 1 {
			of[i] = f.byBest(i)
		} else {
			of[i] = f.byFront(i)
		}
		order = append(order, i)
	}
	class := map[string]int{Best: 0, Front: 0, NotTold: 1, NearFront: 1, Worse: 2, Dominated: 2}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[of[a].name], class[of[b].name]), cmp.Compare(f.means[b][0], f.means[a][0]))
	})
	return of, order
}

// byBest compares arm i with the arm of the best mean, the first of equals.
func (f *field) byBest(i int) standing {
	top := 0
	for j := range f.arms {
		if f.means[j][0] > f.means[top][0] {
			top = j
		}
	}
	switch {
	case i == top:
		return standing{Best, -1}
	case f.told[[3]int{top, i, 0}]:
		return standing{Worse, top}
	}
	return standing{NotTold, top}
}

// byFront places arm i by Pareto dominance: an arm at least as good by both means and
// better by one dominates it, and is told apart when one of the differences is.
func (f *field) byFront(i int) standing {
	out, most := standing{Front, -1}, -1
	for j := range f.arms {
		if !f.above(j, i) {
			continue
		}
		n := 0
		for o := range f.means[i] {
			if f.told[[3]int{j, i, o}] {
				n++
			}
		}
		if n > most {
			out, most = standing{NearFront, j}, n
		}
		if most > 0 {
			out.name = Dominated
		}
	}
	return out
}

// above is whether the means of arm j dominate those of arm i.
func (f *field) above(j, i int) bool {
	a, b := f.means[j], f.means[i]
	return a[0] >= b[0] && a[1] >= b[1] && (a[0] > b[0] || a[1] > b[1])
}
