package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// shape is the part of the common JUnit schemas that every reader shares: the elements each
// element may hold, and the attributes it may have, required ones first and after a stroke the rest.
var shape = map[string]struct{ children, attributes string }{
	"":           {"testsuites", "|"},
	"testsuites": {"testsuite", "|"},
	"testsuite":  {"testcase", "name tests failures errors skipped|"},
	"testcase":   {"failure skipped system-out", "name classname|"},
	"failure":    {"", "message|"},
	"skipped":    {"", "message|"},
	"system-out": {"", "|"},
}

// conforms holds a document to shape, and its counts to what it holds.
func conforms(data []byte) error {
	d, path, count := xml.NewDecoder(bytes.NewReader(data)), []string{""}, map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			name, parent := e.Name.Local, path[len(path)-1]
			if !slices.Contains(strings.Fields(shape[parent].children), name) {
				return fmt.Errorf("%q stands in %q", name, parent)
			}
			required, optional, _ := strings.Cut(shape[name].attributes, "|")
			has := map[string]string{}
			for _, a := range e.Attr {
				if has[a.Name.Local] = a.Value; !slices.Contains(strings.Fields(required+" "+optional), a.Name.Local) {
					return fmt.Errorf("%q has the attribute %q", name, a.Name.Local)
				}
			}
			for _, a := range strings.Fields(required) {
				if _, ok := has[a]; !ok {
					return fmt.Errorf("%q lacks the attribute %q", name, a)
				}
			}
			if count[name]++; name == "testsuite" {
				for of, attribute := range map[string]string{"testcase": "tests", "failure": "failures", "skipped": "skipped"} {
					n, err := strconv.Atoi(has[attribute])
					if count[of] -= n; err != nil {
						return err
					}
				}
			}
			path = append(path, name)
		case xml.EndElement:
			for _, of := range []string{"testcase", "failure", "skipped"} {
				if e.Name.Local == "testsuite" && count[of] != 0 {
					return fmt.Errorf("the count of %q is off by %d", of, count[of])
				}
			}
			path = path[:len(path)-1]
		}
	}
}

func TestShapeRefuses(t *testing.T) {
	const suite, end = `<testsuites><testsuite name="s" tests="1" failures="0" errors="0" skipped="0">`, `</testsuite></testsuites>`
	for _, c := range []struct{ in, want string }{
		{suite + `<testcase name="a" classname="b"/>` + end, ""},
		{suite + end, `the count of "testcase" is off`},
		{suite + `<testcase name="a" classname="b"><failure message="m"/></testcase>` + end, `the count of "failure" is off`},
		{suite + `<testcase name="a"/>` + end, `"testcase" lacks the attribute "classname"`},
		{suite + `<testcase name="a" classname="b" lane="c"/>` + end, `has the attribute "lane"`},
		{`<testsuite/>`, `"testsuite" stands in ""`},
		{suite + `<testcase name="a & b" classname="b"/>` + end, "invalid character entity"},
	} {
		if err := conforms([]byte(c.in)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.in, err, c.want)
		}
	}
}

func read(t *testing.T, data []byte, err error) suite {
	t.Helper()
	if err == nil {
		err = conforms(data)
	}
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
	if all := Markdown(&record.Summary{Coverage: record.Coverage{Units: 3, Graded: 3}}); strings.Contains(all, "Not scored") {
		t.Errorf("every unit graded: got %s, want no table of reasons", all)
	}
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
