package scorer

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// scored makes n points of two lanes whose error is err(i).
func scored(n int, err func(i int) float64) []record.Point {
	var out []record.Point
	for i := range n {
		out = append(out, record.Point{UnitID: fmt.Sprintf("%04d", i), RoleKey: fmt.Sprint(i / 2), Lane: fmt.Sprint("lane ", i%2), Grade: record.G4,
			Metrics: map[string]record.Metric{"ttft_mean": {RelativeError: err(i)}}})
	}
	return out
}

func TestChangesAreBetterWorseOrNeither(t *testing.T) {
	before := func(i int) float64 { return 0.2 - 0.4*float64(i%2) }
	for _, c := range []struct {
		name  string
		n     int
		after func(i int) float64
		want  record.Outcome
	}{
		{"all nearer", 24, func(i int) float64 { return before(i) / 2 }, record.Better},
		{"all farther", 24, func(i int) float64 { return before(i) * 2 }, record.Worse},
		{"half nearer, half farther", 24, func(i int) float64 { return before(i) * (0.5 + float64(i/4%2)) }, record.NotDistinguished},
		{"the same", 24, before, record.NoPointMoved},
		{"too few", record.MinPoints - 1, func(i int) float64 { return 0 }, record.TooFew},
		{"enough, of too few deployments", 2*FewestKeys - 2, func(i int) float64 { return 0 }, record.NotDistinguished},
		{"six deployments that agree, three comparisons", 2*FewestKeys - 1, func(i int) float64 { return 0 }, record.NotDistinguished},
		{"just enough", 2*FewestKeys + 1, func(i int) float64 { return 0 }, record.Better},
	} {
		got := Changes(Scores{"v1.0.0", scored(c.n, before)}, Scores{"v1.1.0", scored(c.n, c.after)})
		if got.Whole[0].Outcome != c.want {
			t.Errorf("%s: got %q with %v, want %q", c.name, got.Whole[0].Outcome, got.Whole[0].Difference, c.want)
		}
		if len(got.Points)+got.Same != c.n || (c.want == record.NoPointMoved) != (got.Same == c.n) {
			t.Errorf("%s: got %d points moved and %d unchanged of %d", c.name, len(got.Points), got.Same, c.n)
		}
	}
}

// A lane of eight deployments that all come nearer is better on its own. Among twenty lanes
// that go either way it could be the one that chance picks, and its interval still leaves zero out.
func TestChangesHoldTheChanceOfAFalseWinner(t *testing.T) {
	keep.Rule(t, "DEV-11")
	lanes := func(n int, after bool) []record.Point {
		var out []record.Point
		for i := range n * 8 {
			err := 0.2
			if lane := i / 8; after && (lane == 0 || i%2 == 0) {
				err = 0.1
			} else if after {
				err = 0.3
			}
			out = append(out, record.Point{UnitID: fmt.Sprintf("%04d", i), RoleKey: fmt.Sprintf("%04d", i), Lane: fmt.Sprintf("lane %02d", i/8), Grade: record.G4,
				Metrics: map[string]record.Metric{"ttft_mean": {RelativeError: err}}})
		}
		return out
	}
	for n, want := range map[int]record.Outcome{1: record.Better, 20: record.NotDistinguished} {
		c := Changes(Scores{"v1.0.0", lanes(n, false)}, Scores{"v1.1.0", lanes(n, true)})
		if _, high, ok := c.Lanes[0].Difference.Interval(); c.Lanes[0].Outcome != want || !ok || high >= 0 {
			t.Errorf("among %d: got %q with %v, want %q and an interval below zero", n, c.Lanes[0].Outcome, c.Lanes[0].Difference, want)
		}
		for _, l := range c.Lanes[1:] {
			if l.Outcome != record.NotDistinguished {
				t.Errorf("%s, which goes either way: got %q", l.Lane, l.Outcome)
			}
		}
	}
}

func TestChangesNamePointsOfOneSideAlone(t *testing.T) {
	before, after := scored(6, func(int) float64 { return 0.1 }), scored(7, func(int) float64 { return 0.1 })
	after[0].Grade = record.G5
	before = slices.Delete(before, 2, 3)
	c := Changes(Scores{"v1.0.0", before}, Scores{"unreleased", after})
	var got []string
	for _, p := range c.Points {
		got = append(got, fmt.Sprintf("%s %s>%s", p.UnitID, p.Before, p.After))
		if m := p.Metrics[0]; m.Before != nil && m.After != nil {
			t.Errorf("%s: errors on both sides, want one", p.UnitID)
		}
	}
	if want := []string{"0000 G4>G5", "0002 >G4", "0006 >G4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A drop that adds a lane, a point to one that was there, and takes a point's grade away
// says so of each lane (T-D4).
func TestChangesCountEachLaneByGrade(t *testing.T) {
	keep.Rule(t, "T-D4")
	before := scored(4, func(int) float64 { return 0.1 })
	after := scored(5, func(int) float64 { return 0.1 })
	after[1].Grade = record.G5
	after = append(after, record.Point{UnitID: "new", Lane: "lane 9", Grade: record.G1})
	got := Changes(Scores{"v1.0.0", before}, Scores{"unreleased", after}).Coverage
	want := []record.LaneCoverage{
		{Lane: "all", Before: map[record.Grade]int{"G4": 4}, After: map[record.Grade]int{"G1": 1, "G4": 4, "G5": 1}},
		{Lane: "lane 0", Before: map[record.Grade]int{"G4": 2}, After: map[record.Grade]int{"G4": 3}},
		{Lane: "lane 1", Before: map[record.Grade]int{"G4": 2}, After: map[record.Grade]int{"G4": 1, "G5": 1}},
		{Lane: "lane 9", Before: map[record.Grade]int{}, After: map[record.Grade]int{"G1": 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if points, scored := record.Counts(got[0].After); points != 6 || scored != 5 {
		t.Errorf("got %d points and %d scored, want 6 and 5", points, scored)
	}
	for _, l := range Changes(Scores{"v1.0.0", before}, Scores{"unreleased", before}).Coverage {
		if l.Moved() {
			t.Errorf("the same scores twice: %+v moved", l)
		}
	}
}
