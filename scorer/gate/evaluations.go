package gate

import (
	"bytes"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

// MaxEvaluations is the size limit of an evaluations file, in bytes.
const MaxEvaluations = 64 << 20

// Evaluation is one reading of secret units, kept whatever it said. A change has
// one; every further one shows that it may have been tuned against what it is
// judged on.
type Evaluation struct {
	Previous        string         `json:"previous"` // SHA-256 of the line before, empty on the first
	Change          string         `json:"change"`   // pre-registered name, or "nightly", "release", "select", "error"
	Number          int            `json:"number"`   // of this change and role, from 1
	Role            ledger.Role    `json:"role"`
	Registration    string         `json:"registration_sha256,omitempty"`
	Base            string         `json:"base_sha256,omitempty"` // of the predictions
	Candidate       string         `json:"candidate_sha256"`
	BaseCommit      string         `json:"base_commit,omitempty"`
	CandidateCommit string         `json:"candidate_commit"`
	Report          *Report        `json:"report,omitempty"`
	Typical         *TypicalReport `json:"typical,omitempty"`
}

// Log is every evaluation so far. It is append-only: each line holds the hash of
// the one before, so that none can be changed or taken out.
type Log struct {
	Evaluations []Evaluation
	last        string // hash of the last line
}

// ReadLog reads an evaluations file; an empty one is a log that begins.
func ReadLog(file string, data []byte) (*Log, error) {
	l := new(Log)
	if len(data) > MaxEvaluations {
		return nil, &diag.Refusal{File: file, Problem: fmt.Sprintf("is larger than %d bytes", MaxEvaluations), Rule: "D7"}
	}
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		refuse := func(field, problem, accept string) error {
			return &diag.Refusal{File: file, Line: n, Field: field, Problem: problem, Accept: accept, Rule: "VAL-6"}
		}
		if !ended {
			return nil, refuse("", "the last line is not ended: the file is truncated", "every line ended by a newline")
		}
		var e Evaluation
		if err := strict.JSON(fmt.Sprintf("%s:%d", file, n), line, &e); err != nil {
			return nil, err
		}
		again, err := canon.JSON(e)
		if err != nil {
			return nil, err
		}
		switch {
		case !bytes.Equal(again, line):
			return nil, refuse("", "is not in canonical form", "a line that gate, select or error appended")
		case e.Previous != l.last:
			return nil, refuse("previous", "is not the hash of the line before: a line was changed, added or taken out", "the lines as they were appended")
		case e.Number != l.Count(e.Change, e.Role)+1:
			return nil, refuse("number", "does not count the evaluations of the change", fmt.Sprint(l.Count(e.Change, e.Role)+1))
		}
		l.Evaluations, l.last, data = append(l.Evaluations, e), canon.Sum(line), rest
	}
	return l, nil
}

// Count is how often a change was evaluated on a role.
func (l *Log) Count(change string, role ledger.Role) int {
	n := 0
	for _, e := range l.Evaluations {
		if e.Change == change && e.Role == role {
			n++
		}
	}
	return n
}

// Append numbers e, chains it and returns its line.
func (l *Log) Append(e *Evaluation) ([]byte, error) {
	e.Previous, e.Number = l.last, l.Count(e.Change, e.Role)+1
	line, err := canon.JSON(e)
	if err != nil {
		return nil, err
	}
	l.Evaluations, l.last = append(l.Evaluations, *e), canon.Sum(line)
	return append(line, '\n'), nil
}
