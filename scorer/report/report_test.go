package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

func read(t *testing.T, data []byte, err error) suite {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var s suites
	if err := xml.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s.Suites[0]
}

func TestJUnitSkipsWhatIsNotScored(t *testing.T) {
	data, err := JUnit([]record.Point{
		{UnitID: "a", Lane: "l <1>", Concurrency: 4, Grade: record.G4, Differences: []string{"nightly & custom"}},
		{UnitID: "b", Lane: "l", Grade: record.G5, Reason: record.NotInCatalog, Detail: "model \x00m"},
	})
	s := read(t, data, err)
	if s.Tests != 2 || s.Skipped != 1 || s.Failures != 0 || s.Cases[1].Skipped.Message != "not_in_catalog" || s.Cases[0].Class != "l <1>" {
		t.Errorf("got %+v, want one passed and one skipped with its reason", s)
	}
}

func TestJUnitFailsAWorseLaneAndTheVerdict(t *testing.T) {
	r := &gate.Report{Role: "held", Why: "worse on l", Lanes: []gate.Lane{{Name: "l", Outcome: gate.Worse}, {Name: "k", Outcome: gate.Better}}, NotBlind: []gate.Lane{{Name: "n", Outcome: gate.NotDistinguished}}}
	data, err := JUnitGate(r)
	if s := read(t, data, err); s.Tests != 4 || s.Failures != 2 || len(s.Cases) != 4 {
		t.Errorf("got %+v, want the worse lane and the verdict failed", s)
	}
	data, err = JUnitGate(&gate.Report{Passed: true, Why: "no lane is worse"})
	if s := read(t, data, err); s.Failures != 0 || s.Tests != 1 {
		t.Errorf("got %+v, want a passed verdict", s)
	}
}

// COV-11: no figure without its count, and none below the minimum.
func TestMarkdownShowsCountsAndTooFewPoints(t *testing.T) {
	few := record.NewFigure(0.1, "ratio", 3, "g", 0, 1, "x")
	many := record.NewFigure(0.1, "ratio", 30, "g", 0.05, 0.2, "x")
	s := &record.Summary{Build: record.Build{Release: "v1.0.0"}, Experiment: "a | part",
		Headline: []record.Accuracy{{Group: "G1 to G4", Metric: "ttft_mean", MAPE: few, Bias: many}},
		Coverage: record.Coverage{Units: 4, Graded: 3, ByReason: map[record.Reason]int{record.ValueConflict: 1}}}
	got := Markdown(s)
	for _, want := range []string{"too few points (3)", "10.0% [5.0, 20.0], 30 points", "value_conflict | 1", `a \| part`, "3 of 4 units graded"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
}

func TestMarkdownSaysHowOftenAChangeWasEvaluated(t *testing.T) {
	e := &gate.Evaluation{Change: "c", Number: 1, Report: &gate.Report{Role: "held", Why: "worse on l", Lanes: []gate.Lane{{Name: "l", Metric: "ttft_mean", Units: 12, Outcome: gate.Worse}}}}
	if got := MarkdownGate(e); strings.Contains(got, "before") || !strings.Contains(got, "not passed") || !strings.Contains(got, "| 12 |") {
		t.Errorf("first: got %s", got)
	}
	e.Number = 3
	if got := MarkdownGate(e); !strings.Contains(got, "evaluated 2 times before") {
		t.Errorf("third: got %s", got)
	}
}
