// Package diag is the one shape of a refusal: where the bad input stands, what
// it is, what would be accepted, and the rule that says so.
//
// In: a position, a field path, the offending value. Out: an error whose text is
// one line, and hints that suggest the fix. It never prints, never exits and
// reads nothing. Rules kept: SIM-2 and SIM-9 of the Target Design.
package diag

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Refusal says why one input was not taken. Empty parts are left out of the
// text; Problem alone is required.
type Refusal struct {
	File      string // as the user named it
	Line, Col int    // 1-based; 0 when the input has no lines
	Field     string // dotted path, e.g. "engine.args.max-num-seqs"
	Value     string // the value as written
	Problem   string // what is wrong, without a full stop
	Accept    string // what would be accepted
	Rule      string // invariant id, e.g. "SIM-9"
}

// Error gives `file:line:col: field: value: problem`, without the hints.
func (r *Refusal) Error() string {
	var b strings.Builder
	if r.File != "" {
		b.WriteString(r.File)
		if r.Line > 0 {
			fmt.Fprintf(&b, ":%d", r.Line)
			if r.Col > 0 {
				fmt.Fprintf(&b, ":%d", r.Col)
			}
		}
		b.WriteString(": ")
	}
	if r.Field != "" {
		b.WriteString(r.Field + ": ")
	}
	if r.Value != "" {
		b.WriteString(r.Value + ": ")
	}
	b.WriteString(r.Problem)
	return b.String()
}

// Hints are the lines a command prints after the error, each as `hint: ...`.
func (r *Refusal) Hints() []string {
	var h []string
	if r.Accept != "" {
		h = append(h, "accepted: "+r.Accept)
	}
	if r.Rule != "" {
		h = append(h, "rule: "+r.Rule)
	}
	return h
}

// In returns err with file set on every Refusal in it that names no file yet.
func In(file string, err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok && r.File == "" {
		r.File = file
	}
	return err
}

// Below returns err with dir before the file of the Refusal in it.
func Below(dir string, err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		r.File = path.Join(dir, r.File)
	}
	return err
}

// OneOf writes a closed set for Accept, led by the nearest to got when one is near.
func OneOf(got string, set []string) string {
	if near := Nearest(got, set); near != "" {
		return fmt.Sprintf("did you mean %s? one of: %s", near, strings.Join(set, ", "))
	}
	return "one of: " + strings.Join(set, ", ")
}

// Nearest returns the member of set within an edit distance of a third of its
// length (at least 1), or "" when none is that close. Ties go to the first in
// byte order, so the answer does not depend on the order of set.
func Nearest(got string, set []string) string {
	best, bestDist := "", 1<<30
	sorted := slices.Clone(set)
	slices.Sort(sorted)
	for _, s := range sorted {
		if d := distance(got, s); d < bestDist && d <= max(1, len(s)/3) {
			best, bestDist = s, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
