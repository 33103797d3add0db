package search

import (
	"fmt"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// A winner that falls when a price moves is said to fall, and to whom; an arm that was
// tied with it, or that wins with one seed anyway, is no news.
func TestMovedPricesCanChangeTheWinner(t *testing.T) {
	keep.Rule(t, "CFG-5")
	at := func(values ...float64) Simulate {
		return fake(func(s *spec.Scenario, id, _ string, seed uint64) float64 {
			v := values[armOf(s)-1]
			if id == "e2e_mean" && v > 200 {
				return 1000
			}
			return v + noise(seed, fmt.Sprint(armOf(s)))
		}, nil)
	}
	s := study(t, 4, "rank: [{metric: ttft_mean}]\nmargin: 0.05\nconstraints: [{metric: e2e_mean, at_most: 500}]\n")
	unmoved := at(100, 102, 150, 300)
	r := ran(t, s, unmoved)
	if got := told(r); got != "1 best, 2 not told apart from the best, 3 worse" {
		t.Fatal(got)
	}
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"all alike", []float64{110, 112, 160, 310}, nil},
		{"the tie turns", []float64{110, 100, 160, 310}, nil},
		{"the worse one wins", []float64{110, 112, 90, 310}, []int{3}},
		{"the one that missed its bound wins", []float64{110, 112, 160, 80}, []int{4}},
	} {
		found := Sensitivity{Coefficients: []Coefficient{{Name: "host"}}}
		if err := s.Move(r, found, unmoved, []Move{{0, 2, at(c.values...)}}); err != nil {
			t.Fatal(err)
		}
		e := r.Sensitivity.Coefficients[0].Ends[0]
		if fmt.Sprint(e.New) != fmt.Sprint(c.want) || r.Sensitivity.Holds != (len(c.want) == 0) || e.Factor != 2 || len(e.Winners) != 1 {
			t.Errorf("%s: got %+v, holds %v, want %v", c.name, e, r.Sensitivity.Holds, c.want)
		}
	}
	lucky := at(100, 102, 90, 300) // wins with one seed without any move
	if err := s.Move(r, Sensitivity{Coefficients: []Coefficient{{}}}, lucky, []Move{{0, 2, lucky}}); err != nil || !r.Sensitivity.Holds {
		t.Errorf("%v: a win by chance is news: %+v", err, r.Sensitivity)
	}
	if jobs := s.Winners(r); len(jobs) != 1 || armOf(jobs[0].Scenario) != 1 || jobs[0].Seeds != 1 {
		t.Errorf("got %d jobs of winners", len(jobs))
	}
}
