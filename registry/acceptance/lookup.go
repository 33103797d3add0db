package acceptance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Key is a workload identity and a number of drafts.
type Key struct {
	Target, Drafter, Workload string
	K                         int
}

// ExactOnly is s for a run that borrows nothing: a lookup without a profile measured
// with its exact key is refused (D8).
func (s *Set) ExactOnly() *Set {
	t := *s
	t.exact = true
	return &t
}

// Found is the answer to a lookup.
type Found struct {
	PerPosition []float64 // probability that draft i is accepted given all before it
	Length      float64   // mean tokens a step emits
	Source      string
	Step        string   // "exact", "other_k", "other_drafter", "same_architecture"
	Differs     []string // key fields in which the profile is not the one asked for
}

// Lookup finds the closest measured profile in D8's order: the exact key; the same
// target and drafter at another K; another drafter of the same target, the same
// method first and then the lowest value at K; the same method on another target
// of the same architecture. Ties go to the first in order of target and drafter.
// The workload is never borrowed.
func (s *Set) Lookup(k Key, architecture func(target string) string) (Found, error) {
	if k.K < 1 {
		return Found{}, &diag.Refusal{Field: "drafts", Value: fmt.Sprint(k.K), Problem: "drafts no token", Accept: "1 or more", Rule: "D8"}
	}
	from, step := s.nearest(k, architecture)
	asked := fmt.Sprintf("%s, drafter %s, workload %s, %d drafts", k.Target, k.Drafter, k.Workload, k.K)
	switch {
	case from == nil:
		return Found{}, &diag.Refusal{Field: "acceptance", Value: asked, Problem: "no measured profile on any borrowing step", Accept: s.Accepted(k, architecture), Rule: "D8"}
	case s.exact && step != "exact":
		return Found{}, &diag.Refusal{Field: "acceptance", Value: asked, Problem: "no profile was measured with this key, and none may be borrowed", Accept: "a run without --exact-acceptance, which would borrow by " + step, Rule: "D8"}
	}
	return from.at(k, step), nil
}

// Accepted says what a scenario may state of the target, drafter and number of drafts of
// k: chances, or a profile of a workload that a lookup would find.
func (s *Set) Accepted(k Key, architecture func(target string) string) string {
	var profiles []string
	for i := range s.Profiles {
		k.Workload = s.Profiles[i].Workload
		if from, step := s.nearest(k, architecture); from != nil && (step == "exact" || !s.exact) {
			profiles = append(profiles, k.Workload)
		}
	}
	slices.Sort(profiles)
	text := fmt.Sprintf("workload.acceptance.per_position with %d chances", k.K)
	if len(profiles) > 0 {
		text += ", or workload.acceptance.profile, one of: " + strings.Join(slices.Compact(profiles), ", ")
	}
	return text
}

// nearest is the first profile of the first step of D8's order that has one, or nil.
func (s *Set) nearest(k Key, architecture func(target string) string) (from *Profile, step string) {
	var same, sibling, cousin []*Profile
	for i := range s.Profiles {
		p := &s.Profiles[i]
		switch {
		case p.Workload != k.Workload:
		case p.Target == k.Target && p.Drafter == k.Drafter:
			same = append(same, p)
		case p.Target == k.Target:
			sibling = append(sibling, p)
		case p.Method == k.Drafter && architecture(k.Target) != "" && architecture(p.Target) == architecture(k.Target):
			cousin = append(cousin, p)
		}
	}
	switch {
	case len(same) > 0 && same[0].has(k.K):
		return same[0], "exact"
	case len(same) > 0:
		return same[0], "other_k"
	case len(sibling) > 0:
		return lowest(sibling, k), "other_drafter"
	case len(cousin) > 0:
		return lowest(cousin, k), "same_architecture"
	}
	return nil, ""
}

// has says whether n drafts were measured.
func (p *Profile) has(n int) bool {
	for i := range p.Lengths {
		if p.measured(i) == n {
			return true
		}
	}
	return false
}

func lowest(from []*Profile, k Key) *Profile {
	return slices.MinFunc(from, func(a, b *Profile) int {
		return cmp.Or(
			cmp.Compare(b2i(a.Method != k.Drafter), b2i(b.Method != k.Drafter)),
			cmp.Compare(a.length(k.K), b.length(k.K)),
			cmp.Compare(a.Target, b.Target), cmp.Compare(a.Drafter, b.Drafter),
		)
	})
}

// length is the mean tokens of a step with n drafts: as measured, linear between two
// measured numbers, the largest's above it. Below the smallest it is what the
// profile's own rates give for the first n drafts or, without rates, 1 + n(L-1)/K of
// the smallest K and its length L, which is at most that.
func (p *Profile) length(n int) float64 {
	for i, al := range p.Lengths {
		switch k := p.measured(i); {
		case n == k:
			return al
		case n > k:
		case i > 0:
			before := p.measured(i - 1)
			return p.Lengths[i-1] + float64(float64(n-before)/float64(k-before)*(al-p.Lengths[i-1]))
		case len(p.Rates) > 0:
			sum := 1.0
			for _, r := range p.Rates[:n] {
				sum += r
			}
			return sum
		default:
			return 1 + float64(float64(n)/float64(k)*(al-1))
		}
	}
	return p.Lengths[len(p.Lengths)-1]
}

// at turns lengths into probabilities that reproduce length(n) exactly. With c_i
// the chance that draft i is emitted, length(n) = 1 + c_1 + ... + c_n; the
// increments give the c_i's shape, made non-increasing and scaled to the sum. Past
// the largest n measured no draft is accepted.
func (p *Profile) at(k Key, step string) Found {
	n := k.K
	f := Found{PerPosition: make([]float64, n), Length: p.length(n), Source: p.Source, Step: step, Differs: p.differs(k)}
	chance := make([]float64, min(n, p.most()))
	before, ceiling, sum := 1.0, 1.0, 0.0
	for i := range chance {
		next := p.length(i + 1)
		ceiling = math.Min(ceiling, math.Max(next-before, 0))
		chance[i], before = ceiling, next
		sum += ceiling
	}
	scale := 0.0
	if sum > 0 {
		scale = (f.Length - 1) / sum
	}
	before = 1
	for i := range chance {
		c := math.Min(chance[i]*scale, before)
		if before > 0 {
			f.PerPosition[i] = c / before
		}
		before = c
	}
	return f
}

// most is the largest number of drafts measured.
func (p *Profile) most() int { return p.measured(len(p.Lengths) - 1) }

// differs names the fields of k that p was not measured with.
func (p *Profile) differs(k Key) []string {
	var out []string
	if p.Target != k.Target {
		out = append(out, fmt.Sprintf("target %s for %s", p.Target, k.Target))
	}
	if p.Drafter != k.Drafter {
		out = append(out, fmt.Sprintf("drafter %s for %s", p.Drafter, k.Drafter))
	}
	if k.K > p.most() {
		out = append(out, fmt.Sprintf("at most %d drafts for %d", p.most(), k.K))
	} else if !p.has(k.K) {
		out = append(out, fmt.Sprintf("%v drafts for %d", p.Drafts, k.K))
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
