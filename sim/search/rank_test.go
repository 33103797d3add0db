package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// study is a grid of n arms, named by their batch tokens 1..n, with the rest of the
// specification as stated.
func study(t *testing.T, n int, rest string) *Study {
	t.Helper()
	_, base := example(t)
	return opened(t, "schema: blis.search/1\nbase: chat.yaml\naxes:\n- {name: n, path: engine.args.max-num-batched-tokens, values: ["+numbers(n)+"]}\n"+rest, base)
}

// arm is the number of an arm of study.
func armOf(s *spec.Scenario) int { return s.Engine.Args["max-num-batched-tokens"].(int) }

// told is the ranking as text: each arm in order with its standing.
func told(r *Report) string {
	var out []string
	for _, n := range r.Order {
		out = append(out, fmt.Sprint(n, " ", r.Arms[n-1].Standing))
	}
	return strings.Join(out, ", ")
}

// Arms that are better by construction come first, and equal ones are a tie: noise that
// every arm shares is taken out by pairing, noise of its own is not.
func TestKnownAnswers(t *testing.T) {
	keep.Rule(t, "CFG-2", "DEV-11")
	shared := func(seed uint64) float64 { return 50 * noise(seed, "all") }
	for _, c := range []struct {
		name, rest, want string
		value            func(arm int, seed uint64) float64
	}{
		{"higher is better", "rank: [{metric: output_throughput}]\n", "3 best, 2 worse, 1 worse",
			func(arm int, seed uint64) float64 {
				return 100 + float64(arm) + shared(seed) + 0.01*noise(seed, fmt.Sprint(arm))
			}},
		{"lower is better", "rank: [{metric: ttft_mean}]\n", "1 best, 2 worse, 3 worse",
			func(arm int, seed uint64) float64 {
				return 100 + float64(arm) + shared(seed) + 0.01*noise(seed, fmt.Sprint(arm))
			}},
		{"a difference within the noise", "rank: [{metric: ttft_mean}]\n", "a tie",
			func(arm int, seed uint64) float64 { return 100 + 0.01*float64(arm) + noise(seed, fmt.Sprint(arm)) }},
		{"a difference within the margin", "rank: [{metric: ttft_mean}]\nmargin: 0.05\n", "1 best, 2 not told apart from the best, 3 worse",
			func(arm int, seed uint64) float64 { return 100*math.Pow(1.04, float64(arm)) + shared(seed) }},
		{"equal arms", "rank: [{metric: ttft_mean}]\n", "1 best, 2 not told apart from the best, 3 not told apart from the best",
			func(_ int, seed uint64) float64 { return 100 + shared(seed) }},
	} {
		r := ran(t, study(t, 3, c.rest), fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 { return c.value(armOf(s), seed) }, nil))
		if got := told(r); got != c.want && (c.want != "a tie" || strings.Count(got, NotTold) != 2) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if r.Comparison.Count != 3 || r.Comparison.Runs != 5 {
			t.Errorf("%s: got %+v, want every pair compared over five runs", c.name, r.Comparison)
		}
	}
}

// Differences are those of the figures, with their sign, and have an interval.
func TestDifferencesAreThoseOfTheFigures(t *testing.T) {
	r := ran(t, study(t, 2, "rank: [{metric: ttft_mean}]\nmargin: 0.01\n"), fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 {
		return 100 + 10*float64(armOf(s)-1) + noise(seed, fmt.Sprint(armOf(s)))
	}, nil))
	a := &r.Arms[1]
	d := a.Differences[0]
	if v := a.Figures[0].Value - r.Arms[0].Figures[0].Value; math.Abs(d.Value-v) > 1e-9 || math.Abs(d.Share-v/r.Arms[0].Figures[0].Value) > 1e-12 {
		t.Errorf("got %+v, want %v", d, v)
	}
	if a.Against != 1 || d.Outcome != "worse" || d.Interval == nil || !(d.Interval.Low < d.Value && d.Value < d.Interval.High && d.Interval.Low > 5) {
		t.Errorf("got %+v", d)
	}
	near := ran(t, study(t, 2, "rank: [{metric: ttft_mean}]\nmargin: 0.5\n"), fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 {
		return 100 + float64(armOf(s)) + noise(seed, fmt.Sprint(armOf(s)))
	}, nil))
	if d := near.Arms[1].Differences; len(d) == 1 && (d[0].Outcome != "not distinguished" || !d[0].Equivalent) {
		t.Errorf("within the margin: got %+v", d)
	}
}

// The chance that arms which are equal are told apart is at most that of the level,
// although the best of them is known only from the runs.
func TestEqualArmsAreRarelyToldApart(t *testing.T) {
	keep.Rule(t, "CFG-2", "DEV-11")
	const studies, arms = 400, 8
	s := study(t, arms, "rank: [{metric: ttft_mean}]\nlevel: 0.9\n")
	told := 0
	for k := range uint64(studies) {
		r := ran(t, s, fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 {
			n := 0.0
			for i := range 12 { // close to normal
				n += noise(seed, fmt.Sprint(k, armOf(s), i))
			}
			return 100 + n
		}, nil))
		if slices.ContainsFunc(r.Arms, func(a Result) bool { return a.Standing == Worse }) {
			told++
		}
	}
	if limit := 52; told > limit { // 0.1 of 400, and two standard deviations
		t.Errorf("%d of %d studies of equal arms found a difference, want at most %d", told, studies, limit)
	}
}

// Two metrics give the front: what no arm is better than by both. An arm that is beaten
// only within the noise is not called dominated.
func TestFrontOfTwoMetrics(t *testing.T) {
	at := map[int][2]float64{1: {10, 10}, 2: {20, 20}, 3: {30, 15}, 4: {30, 25}, 5: {20.001, 19.999}}
	r := ran(t, study(t, 5, "rank: [{metric: ttft_mean}, {metric: output_throughput}]\n"), fake(func(s *spec.Scenario, id, _ string, seed uint64) float64 {
		n := armOf(s)
		own := float64(n) * []float64{0.02, -0.01, 0, 0.01, -0.02}[seed%5] // of mean 0 over the five seeds
		if id == "output_throughput" {
			return at[n][1] + own
		}
		return at[n][0] + own
	}, nil))
	for i, want := range []string{Front, Front, Dominated, Front, NearFront} {
		if got := r.Arms[i].Standing; got != want {
			t.Errorf("arm %d: got %q, want %q", i+1, got, want)
		}
	}
	if a := r.Arms[2]; len(a.Differences) != 2 || a.Against != 2 || a.Differences[0].Outcome != "worse" || a.Differences[1].Outcome != "worse" {
		t.Errorf("the dominated arm: got %+v", a)
	}
	if fmt.Sprint(r.Order) != "[1 2 4 5 3]" || r.Comparison.Count != 20 {
		t.Errorf("got %v and %d comparisons, want ten pairs by two metrics", r.Order, r.Comparison.Count)
	}
}

// Without random input there is one run an arm, no interval, and any difference counts.
func TestRunsWithoutChance(t *testing.T) {
	keep.Rule(t, "DEV-11")
	runs := 0
	r := ran(t, study(t, 3, "rank: [{metric: ttft_mean}]\nmargin: 0.1\nconstraints: [{metric: e2e_mean, at_most: 130}]\n"), fake(func(s *spec.Scenario, _, _ string, _ uint64) float64 {
		return 100 * math.Pow(1.06, float64(armOf(s)))
	}, func(_ *spec.Scenario, r *spec.Result) { r.Random = "none: fixed"; runs++ }))
	if got := told(r); runs != 3 || got != "1 best, 2 not told apart from the best, 3 worse" {
		t.Errorf("%d runs: got %s", runs, got)
	}
	if f := r.Arms[0].Figures[0]; f.Interval != nil || f.NoInterval == "" || r.Comparison.Fresh != 0 || r.Comparison.Runs != 1 || !r.Arms[1].Differences[0].Equivalent {
		t.Errorf("got %+v, %+v", f, r.Comparison)
	}
}

// Beside arms with random input, one without is the same with every seed.
func TestAnArmWithoutChanceAmongOthers(t *testing.T) {
	r := ran(t, study(t, 2, "rank: [{metric: ttft_mean}]\n"), fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 {
		return 10*float64(armOf(s)) + float64(armOf(s)-1)*noise(seed, "2")
	}, func(s *spec.Scenario, r *spec.Result) {
		if armOf(s) == 1 {
			r.Random = "none: a trace"
		}
	}))
	f := r.Arms[0].Figures[0]
	if told(r) != "1 best, 2 worse" || f.Value != 10 || f.Runs != 5 || f.Interval == nil || f.Interval.Low != 10 || r.Arms[0].Fresh == nil {
		t.Errorf("got %s, %+v", told(r), f)
	}
}

// The winner is estimated again with seeds that no arm had, and says when it would not
// have been ranked with them.
func TestWinnersRunAgainOnFreshSeeds(t *testing.T) {
	seen := map[int][]uint64{}
	r := ran(t, study(t, 2, "rank: [{metric: ttft_mean}]\nconstraints: [{metric: e2e_mean, at_most: 120}]\n"), fake(func(s *spec.Scenario, _, _ string, seed uint64) float64 {
		if armOf(s) == 2 && seed > 5 { // the best was lucky
			return 150 + noise(seed, "2")
		}
		return 110 - 5*float64(armOf(s)) + noise(seed, fmt.Sprint(armOf(s)))
	}, func(s *spec.Scenario, _ *spec.Result) { seen[armOf(s)] = append(seen[armOf(s)], s.Frame.Seed) }))
	if got := fmt.Sprint(seen[1], seen[2]); got != "[1 2 3 4 5] [1 2 3 4 5 6 7 8 9 10]" {
		t.Errorf("ran seeds %s", got)
	}
	f := r.Arms[1].Fresh
	if r.Comparison.Fresh != 6 || f == nil || r.Arms[0].Fresh != nil || math.Abs(f.Figures[0].Value-150) > 1 || !strings.Contains(f.Problem, "e2e_mean is 149.6 u, at most 120 wanted") {
		t.Errorf("got %+v", f)
	}
	if v := r.Arms[1].Figures[0].Value; v > 110 {
		t.Errorf("the figure it was chosen by became %v", v)
	}
	lost := ran(t, study(t, 1, "rank: [{metric: ttft_mean}]\n"), fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, func(s *spec.Scenario, r *spec.Result) {
		r.Accepted, r.Failures = s.Frame.Seed <= 5, []string{"failed requests: 1"}
	}))
	if f := lost.Arms[0].Fresh; f == nil || f.Problem != "with seed 6: failed requests: 1" || len(f.Figures) != 0 {
		t.Errorf("outside its frame on a fresh seed: got %+v", f)
	}
}
