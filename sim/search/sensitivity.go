package search

import (
	"slices"
)

// Sensitivity is whether the winners stay when the coefficients they depend on most lie
// at an end of their interval (§8.8). All arms run again with one seed.
type Sensitivity struct {
	Seed         uint64        `json:"seed"`
	Coefficients []Coefficient `json:"coefficients"` // widest in the winners' time first
	// Unstated is the share of the winners' time priced by coefficients without an
	// interval, which are not moved.
	Unstated float64 `json:"share_without_interval"`
	Holds    bool    `json:"winners_hold"` // no move lets an arm win that was worse or not ranked
}

// Coefficient is one that was moved.
type Coefficient struct {
	Name  string  `json:"coefficient"`
	Share float64 `json:"share"` // of the winners' time
	// ShapeError is the p95 of the absolute relative error on single held-out shapes; the
	// interval, of the mean over shapes, leaves it out. Null: no shape was held out.
	ShapeError *float64 `json:"single_shape_error_p95"`
	Ends       []End    `json:"ends"`
}

// End is one end of a coefficient's interval.
type End struct {
	Factor  float64 `json:"factor"` // on every price of the coefficient
	Winners []int   `json:"winners"`
	New     []int   `json:"new_winners"` // that were worse or not ranked
}

// Move is prices with one coefficient moved; its End's Factor is what they are moved by.
type Move struct {
	Coefficient int // in Sensitivity.Coefficients
	Factor      float64
	Simulate    Simulate
}

// Winners are the arms that are best, or on the front.
func (s *Study) Winners(r *Report) (jobs []Job) {
	for i := range r.Arms {
		if won(&r.Arms[i]) {
			jobs = append(jobs, s.job(i, firstSeed, 1))
		}
	}
	return jobs
}

func won(a *Result) bool { return a.Standing == Best || a.Standing == Front }

// Move runs every arm that ran with the prices of each move, and adds to the report who
// wins. unmoved are the prices of the report itself: who wins with one seed by chance is
// no news.
func (s *Study) Move(r *Report, found Sensitivity, unmoved Simulate, moves []Move) error {
	found.Seed, found.Holds = firstSeed, true
	before, err := s.winners(r, unmoved)
	if err != nil {
		return err
	}
	for _, m := range moves {
		e := End{Factor: m.Factor, New: []int{}}
		if e.Winners, err = s.winners(r, m.Simulate); err != nil {
			return err
		}
		for _, n := range e.Winners {
			a := &r.Arms[n-1]
			if !slices.Contains(before, n) && !won(a) && a.Standing != NotTold && a.Standing != NearFront {
				e.New, found.Holds = append(e.New, n), false
			}
		}
		c := &found.Coefficients[m.Coefficient]
		c.Ends = append(c.Ends, e)
	}
	r.Sensitivity = &found
	return nil
}

// winners are the arms that win by their figures with one seed.
func (s *Study) winners(r *Report, simulate Simulate) ([]int, error) {
	trials, err := s.simulate(simulate, func(i int) bool { return r.Arms[i].Run != nil }, firstSeed, 1)
	if err != nil {
		return nil, err
	}
	var arms []int
	var values [][][]float64
	for i, t := range trials {
		if t == nil || t.Refused != nil || t.stop != "" {
			continue
		}
		figures, err := s.figures(t, true)
		if err != nil {
			return nil, err
		}
		if unmet(figures) == "" {
			arms, values = append(arms, i), append(values, t.values[:len(s.Spec.Rank)])
		}
	}
	out := []int{}
	of, order := newField(s.Spec, arms, values, true).standings()
	for _, k := range order {
		if of[k].name == Best || of[k].name == Front {
			out = append(out, arms[k]+1)
		}
	}
	return out, nil
}
