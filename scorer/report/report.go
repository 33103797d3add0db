// Package report renders finished scores for machines that run checks: JUnit XML and
// a Markdown step summary.
//
// In: points, a summary or a gate's lanes. Out: bytes. It computes no figure, and
// shows none without its count and interval. Rule kept: COV-11.
package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"` // 0: what cannot be scored is a refusal of the run
	Skipped  int    `xml:"skipped,attr"`
	Cases    []test `xml:"testcase"`
}

type test struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *message `xml:"failure,omitempty"`
	Skipped *message `xml:"skipped,omitempty"`
	Out     string   `xml:"system-out,omitempty"`
}

type message struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit gives one test case a point, in the order given: a graded point passes
// whatever its error, and a point that is not scored is skipped with its reason.
func JUnit(points []record.Point) ([]byte, error) {
	s := suite{Name: "points", Tests: len(points)}
	for i := range points {
		p := &points[i]
		c := test{Class: p.Lane, Name: fmt.Sprintf("%s concurrency %d", p.UnitID, p.Concurrency)}
		if p.Grade == record.G5 {
			c.Skipped = &message{Message: string(p.Reason), Text: p.Detail}
			s.Skipped++
		} else {
			c.Out = string(p.Grade) + "\n" + strings.Join(p.Differences, "\n")
		}
		s.Cases = append(s.Cases, c)
	}
	return encode(s)
}

// JUnitGate gives one test case a lane: a lane that got worse fails.
func JUnitGate(r *gate.Report) ([]byte, error) {
	s := suite{Name: "gate " + string(r.Role), Tests: len(r.Lanes) + len(r.NotBlind) + 1}
	for _, blind := range []bool{true, false} {
		lanes := r.Lanes
		if !blind {
			lanes = r.NotBlind
		}
		for _, l := range lanes {
			c := test{Class: l.Name, Name: l.Metric, Out: fmt.Sprintf("%d units, %s, blind %v", l.Units, l.Outcome, blind)}
			if l.Outcome == gate.Worse {
				c.Failure = &message{Message: fmt.Sprintf("error higher by %.2f%% [%.2f, %.2f]", 100*l.Difference, 100*l.Interval[0], 100*l.Interval[1])}
				s.Failures++
			}
			s.Cases = append(s.Cases, c)
		}
	}
	verdict := test{Class: "verdict", Name: string(r.Role), Out: r.Why}
	if !r.Passed {
		verdict.Failure = &message{Message: r.Why}
		s.Failures++
	}
	s.Cases = append(s.Cases, verdict)
	return encode(s)
}

func encode(s suite) ([]byte, error) {
	b, err := xml.MarshalIndent(suites{Suites: []suite{s}}, "", "  ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}

// Markdown is the step summary of a scoring run.
func Markdown(s *record.Summary) string {
	var b strings.Builder
	c := s.Coverage
	fmt.Fprintf(&b, "## Accuracy of %s\n\n", cell(s.Build.Release))
	if s.Experiment != "" {
		fmt.Fprintf(&b, "**Experimental.** %s\n\n", cell(s.Experiment))
	}
	fmt.Fprintf(&b, "%d of %d units graded; %d records read, %d left out by the ledger.\n\n", c.Graded, c.Units, c.Records, c.LeftOut)
	b.WriteString("| Group | Metric | Mean absolute error | Bias |\n|---|---|---|---|\n")
	for _, group := range [][]record.Accuracy{s.Headline, s.ByGrade, s.ByEngine} {
		for _, a := range group {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(a.Group), cell(a.Metric), a.MAPE, a.Bias)
		}
	}
	if c.Graded < c.Units {
		b.WriteString("\n| Not scored because | Units |\n|---|---|\n")
	}
	for _, r := range record.Reasons() {
		if c.ByReason[r] > 0 {
			fmt.Fprintf(&b, "| %s | %d |\n", r, c.ByReason[r])
		}
	}
	return b.String()
}

// MarkdownGate is the step summary of an evaluation, negative or not, with the
// number of times this change was evaluated.
func MarkdownGate(e *gate.Evaluation) string {
	var b strings.Builder
	r := e.Report
	verdict := "not passed"
	if r.Passed {
		verdict = "passed"
	}
	fmt.Fprintf(&b, "## %s on %s units: %s\n\n%s. Evaluation %d of this change", cell(e.Change), r.Role, verdict, cell(r.Why), e.Number)
	if e.Number > 1 {
		fmt.Fprintf(&b, ": **it was evaluated %d times before, so it may have been tuned against these units**", e.Number-1)
	}
	b.WriteString(".\n\n| Lane | Metric | Units | Base | Candidate | Difference | Interval | Outcome |\n|---|---|---|---|---|---|---|---|\n")
	for i, lanes := range [][]gate.Lane{r.Lanes, r.NotBlind} {
		for _, l := range lanes {
			name := cell(l.Name)
			if i == 1 {
				name += " (not blind)"
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %.2f%% | %.2f%% | %+.2f%% | [%+.2f%%, %+.2f%%] at %.2f%% | %s |\n", name, l.Metric, l.Units, 100*l.Base, 100*l.Candidate,
				100*l.Difference, 100*l.Interval[0], 100*l.Interval[1], 100*l.Level, l.Outcome)
		}
	}
	return b.String()
}

// cell keeps text from ending a table's cell or line.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(s)
}
