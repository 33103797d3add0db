// Package invariants holds the project's rules as records and the tests that hold
// the module to them.
//
// In: records/*.yaml, layers.txt and the module's sources. Out: records with their
// status, and findings that name the rule they break and suggest the fix. The package
// runs no test and writes nothing: Verify reads sources, a command runs what is named.
//
// Source: Target Design §13.1. Rules kept: X7, X11, X14, X16, X18, X21.
package invariants

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

//go:embed records/*.yaml
var embedded embed.FS

// Kind is how a rule is enforced (§4.2).
type Kind string

const (
	Automated Kind = "automated"       // a check fails when it is broken
	Practice  Kind = "practice"        // a person with write access keeps it
	Guidance  Kind = "agent guidance"  // followed in every change written or reviewed
	Question  Kind = "review question" // answered yes or no in review, with a reason
)

// Status is what holds today; the order is from worst to best (the ratchet's).
type Status string

const (
	New     Status = "new"     // nothing checks it yet
	Partial Status = "partial" // some of it is checked; Target says what is missing
	Review  Status = "review"  // judged by people, no check could
	CI      Status = "ci"      // checked in full by the test command
)

var statuses = []Status{New, Partial, Review, CI}

// Statuses lists the closed set, best first.
func Statuses() []Status { return []Status{CI, Review, Partial, New} }

// Record is one rule.
type Record struct {
	ID        string   `yaml:"id" json:"id"`
	Title     string   `yaml:"title" json:"title"`
	Statement string   `yaml:"statement" json:"statement"` // our own words
	Why       string   `yaml:"why" json:"why"`
	Section   string   `yaml:"section" json:"section"`  // of the Target Design
	Scope     []string `yaml:"scope,flow" json:"scope"` // folders of this module
	Kind      Kind     `yaml:"kind" json:"kind"`
	Checks    []Check  `yaml:"checks,omitempty" json:"checks,omitempty"`
	Status    Status   `yaml:"status" json:"status"`
	Target    string   `yaml:"target,omitempty" json:"target,omitempty"` // what is missing, when partial or new
	Became    string   `yaml:"became,omitempty" json:"became,omitempty"` // for a rule between repositories: what it is here
	// Ask is what a reviewer answers, yes or no with a reason, when Applies holds of a
	// change. It is never a check (§13.2).
	Ask     string `yaml:"ask,omitempty" json:"ask,omitempty"`
	Applies string `yaml:"applies,omitempty" json:"applies,omitempty"`
	// A rule can be kept in more than one way (§4.2): what a person with write access keeps,
	// and what whoever writes a change does, beside Kind.
	Practice string `yaml:"practice,omitempty" json:"practice,omitempty"`
	Guidance string `yaml:"guidance,omitempty" json:"guidance,omitempty"`
}

// Check is one test that fails when the rule is broken.
type Check struct {
	Test string `yaml:"test" json:"test"`           // "package/path.TestName"
	When string `yaml:"when,omitempty" json:"when"` // "test", which is the default, or "nightly"
	// Bad names the test that feeds the check an input the rule forbids and fails
	// when the check lets it pass. By default it is Test, which then holds both.
	Bad string `yaml:"bad,omitempty" json:"bad"`
	// Break is an edit of the module that breaks the rule and must make Test fail, for
	// a rule whose forbidden input is code.
	Break *Break `yaml:"break,omitempty" json:"break,omitempty"`
}

// Break replaces the one place of File that reads From by To.
type Break struct {
	File string `yaml:"file" json:"file"`
	From string `yaml:"from" json:"from"`
	To   string `yaml:"to" json:"to"`
}

// Apply is the broken text of the file, or why the edit no longer fits it.
func (b *Break) Apply(text string) (string, error) {
	if n := strings.Count(text, b.From); n != 1 {
		return "", &diag.Refusal{File: b.File, Field: "break", Value: b.From, Problem: fmt.Sprintf("stands in %d places", n), Accept: "a text that stands in one place"}
	}
	return strings.Replace(text, b.From, b.To, 1), nil
}

// Records returns every record, in order of prefix and number.
func Records() ([]Record, error) { return ReadRecords(embedded) }

// ReadRecords reads records/*.yaml of root and checks them.
func ReadRecords(root fs.FS) ([]Record, error) {
	files, err := fs.Glob(root, "records/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Record
	seen := map[string]string{}
	for _, f := range files {
		b, err := fs.ReadFile(root, f)
		if err != nil {
			return nil, err
		}
		var in []Record
		if err := strict.YAML(f, b, &in); err != nil {
			return nil, err
		}
		for i := range in {
			if err := in[i].check(); err != nil {
				return nil, diag.In(f, err)
			}
			if first, twice := seen[in[i].ID]; twice {
				return nil, &diag.Refusal{File: f, Field: in[i].ID, Problem: "is recorded twice, first in " + first}
			}
			seen[in[i].ID] = f
		}
		all = append(all, in...)
	}
	slices.SortStableFunc(all, func(a, b Record) int { return compareIDs(a.ID, b.ID) })
	return all, nil
}

// ID is an invariant's identifier, such as X3, SUB-4 or T-A1.
var ID = regexp.MustCompile(`\b(?:X\d{1,2}|(?:SUB|VLM|SGL|RTR|SIM|CFG|FID|DEV|VAL|COV|LIF)-\d{1,2}|D[1-8]|T-[A-Z]\d{1,2})\b`)

func compareIDs(a, b string) int {
	pa, na := splitID(a)
	pb, nb := splitID(b)
	if pa != pb {
		return strings.Compare(pa, pb)
	}
	return na - nb
}

func splitID(id string) (prefix string, n int) {
	i := strings.IndexAny(id, "0123456789")
	if i < 0 {
		return id, 0
	}
	fmt.Sscanf(id[i:], "%d", &n)
	return id[:i], n
}

func (r *Record) check() error {
	bad := func(field, value, problem, accept string) error {
		return &diag.Refusal{Field: r.ID + "." + field, Value: value, Problem: problem, Accept: accept}
	}
	switch {
	case ID.FindString(r.ID) != r.ID || r.ID == "":
		return bad("id", r.ID, "is not an invariant id", "X6, SUB-4, T-A1, ...")
	case r.Statement == "" || r.Title == "" || r.Why == "" || r.Section == "":
		return bad("statement", "", "title, statement, why and section must all be written", "")
	case !slices.Contains([]Kind{Automated, Practice, Guidance, Question}, r.Kind):
		return bad("kind", string(r.Kind), "unknown kind", "automated, practice, agent guidance, review question")
	case !slices.Contains(statuses, r.Status):
		return bad("status", string(r.Status), "unknown status", "ci, partial, new, review")
	case (r.Status == Partial || r.Status == New) && r.Target == "":
		return bad("target", "", "is empty for a rule that is "+string(r.Status), "what is missing")
	case r.Kind == Practice && r.Practice != "" || r.Kind == Guidance && r.Guidance != "":
		return bad("kind", string(r.Kind), "says in a second field what the statement says", "the statement alone")
	case (r.Ask == "") != (r.Applies == ""):
		return bad("ask", r.Ask, "a question needs the change it applies to", "ask and applies")
	case (r.Status == CI || r.Status == Partial) && len(r.Checks) == 0:
		return bad("checks", "", "is empty for a rule that is "+string(r.Status), "the tests that fail when it is broken")
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		c.When, c.Bad = cmp.Or(c.When, "test"), cmp.Or(c.Bad, c.Test)
		if c.When != "test" && c.When != "nightly" {
			return bad("checks.when", c.When, "unknown", "test, nightly")
		}
		if c.Test == "" {
			return bad("checks.test", "", "is empty", "package/path.TestName")
		}
		if b := c.Break; b != nil && (b.File == "" || b.From == "" || b.From == b.To) {
			return bad("checks.break", b.File, "changes nothing", "a file, a text of it, and what replaces that text")
		}
	}
	return nil
}
