package invariants

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// RunSchema names the layout of a file that says how a run of the checks ended.
const RunSchema = "blis.rules/1"

// Run is how the checks of every rule ended on one tree. A record's status is declared; this
// is measured.
type Run struct {
	Schema string     `json:"schema"`
	Commit string     `json:"commit"` // checked out when they ran, "+modified" after it when files differ
	Tree   string     `json:"tree"`   // digest of the sources that were judged
	Rules  []Measured `json:"rules"`  // every rule, in the order of the records
}

// Measured is how the checks of one rule ended.
type Measured struct {
	ID       string   `json:"id"`
	Declared Status   `json:"declared"`
	Checks   int      `json:"checks"`             // that the record names
	Proven   int      `json:"proven"`             // of these, what a forbidden input or a break was seen to fail
	Failed   []string `json:"failed,omitempty"`   // the checks that failed, or did not find what they must
	LeftOut  []string `json:"left_out,omitempty"` // those that run at night alone, by day
}

// Measure sums up a rule of m whose checks in failed went wrong and whose checks in left did
// not run.
func Measure(r Record, m *Module, failed, left []string) Measured {
	out := Measured{ID: r.ID, Declared: r.Status, Checks: len(r.Checks), Failed: failed, LeftOut: left}
	open := unproven([]Record{r}, m)
	for _, c := range r.Checks {
		if open[r.ID+" "+c.Test] == "" && !slices.Contains(failed, c.Test) && !slices.Contains(left, c.Test) {
			out.Proven++
		}
	}
	return out
}

// Result says in words how the checks of a rule ended.
func (m *Measured) Result() string {
	switch {
	case m.Checks == 0:
		return "no check"
	case len(m.Failed) > 0:
		return fmt.Sprintf("failed, %d of %d checks", len(m.Failed), m.Checks)
	}
	held := fmt.Sprintf("held, %d of %d checks proven", m.Proven, m.Checks)
	if len(m.LeftOut) > 0 {
		held += fmt.Sprintf(", %d left out", len(m.LeftOut))
	}
	return held
}

// ReadRun reads what a run of the checks of records wrote. One of other records, of a part of
// them or of another commit is refused: its results would stand beside the wrong statuses.
func ReadRun(file string, data []byte, records []Record, commit string) (*Run, error) {
	run := new(Run)
	if err := strict.JSON(file, data, run); err != nil {
		return nil, err
	}
	refuse := func(field, value, problem, accept string) error {
		return &diag.Refusal{File: file, Field: field, Value: value, Problem: problem, Accept: accept}
	}
	switch {
	case run.Schema != RunSchema:
		return nil, refuse("schema", run.Schema, "is not how a run of the checks ended", RunSchema)
	case run.Commit != commit:
		return nil, refuse("commit", run.Commit, "is not the commit of this program", commit)
	case len(run.Rules) != len(records):
		return nil, refuse("rules", fmt.Sprint(len(run.Rules)), "are not all rules", fmt.Sprint(len(records)))
	}
	for i, r := range records {
		if m := run.Rules[i]; m.ID != r.ID || m.Declared != r.Status || m.Checks != len(r.Checks) || m.Proven+len(m.Failed)+len(m.LeftOut) > m.Checks {
			return nil, refuse(fmt.Sprintf("rules[%d]", i), m.ID, "does not agree with the record", fmt.Sprintf("%s, %s, with %d checks", r.ID, r.Status, len(r.Checks)))
		}
	}
	return run, nil
}
