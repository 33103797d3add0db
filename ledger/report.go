package ledger

import (
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// Report accounts for every record of the source: Records.Read is the sum of
// the other four, and each record stands either on a unit or in LeftOut.
type Report struct {
	Source      string               `json:"source"`
	Rows        File                 `json:"rows"`
	Launches    File                 `json:"launches"`
	UnitsSHA256 string               `json:"units_sha256"` // of units.jsonl
	Units       int                  `json:"units"`
	RoleKeys    int                  `json:"role_keys"`
	Records     Records              `json:"records"`
	Rules       []RuleCount          `json:"rules"`
	Notes       []NoteCount          `json:"notes"`
	LaunchFacts LaunchFacts          `json:"launch_facts"`
	Published   map[Role]ListedCount `json:"published"`
	Unlisted    int                  `json:"unlisted"` // units on neither list
	LeftOut     []LeftOutRecord      `json:"left_out"`
}

// File names one source file by its content. Upstream is its pinned revision,
// empty for a file this build does not know (D3).
type File struct {
	SHA256   string `json:"sha256"`
	Records  int    `json:"records"`
	Upstream string `json:"upstream,omitempty"`
	Licence  string `json:"licence,omitempty"`
}

// Records counts the source's records by disposition.
type Records struct {
	Read    int `json:"read"`
	Kept    int `json:"kept"`
	Joined  int `json:"joined"`
	Merged  int `json:"merged"`
	LeftOut int `json:"left_out"`
}

// RuleCount is one rule and the records it decided.
type RuleCount struct {
	Rule        string      `json:"rule"`
	Disposition Disposition `json:"disposition"`
	Records     int         `json:"records"`
	Text        string      `json:"text"`
}

// NoteCount is one note and the records it applies to; notes overlap.
type NoteCount struct {
	Note    string `json:"note"`
	Records int    `json:"records"`
	Text    string `json:"text"`
}

// LaunchFacts counts the launch-facts records. Read is the sum of the others.
type LaunchFacts struct {
	Read       int `json:"read"`
	OnUnits    int `json:"on_units"`    // their row is on a unit
	OnLeftOut  int `json:"on_left_out"` // their row is left out
	WithoutRow int `json:"without_row"` // no such row in the rows file
}

// ListedCount says what became of the unit ids of one published list. Listed is
// the sum of the others.
type ListedCount struct {
	Listed  int `json:"listed"`
	Units   int `json:"units"`
	Merged  int `json:"merged"`   // told again under another identity
	LeftOut int `json:"left_out"` // every record of the id is left out
	Absent  int `json:"absent"`   // no record in this source file
}

// LeftOutRecord is one record in no unit. SameAs gives the lines that hold its
// measured values under another role key.
type LeftOutRecord struct {
	Line   int    `json:"line"`
	RowID  string `json:"row_id"`
	UnitID string `json:"unit_id"`
	Rule   string `json:"rule"`
	SameAs []int  `json:"same_as,omitempty"`
}

// pins maps the content of a source file to where it was read.
var pins = map[string]File{
	"27049b548a2ff477d99e3851ce8384e45ffb02ef6ec5e01300b33da6e9080739": {
		Upstream: "ai-dynamo/aiconfigurator@095f58a51c4ca8e61b66ec108d86f223f8d559ce aic-core/src/aiconfigurator_core/systems/silicon_sample.csv",
		Licence:  "Apache-2.0"},
	"4e59955c7141aacdcb7080f38f82a93cb151f3045b950891368894e0ec4594b7": {
		Upstream: "SemiAnalysisAI/InferenceX@843c6254ff69b567f772f6a5fd97675af3d04431 (launch facts as of each run's date)",
		Licence:  "Apache-2.0"},
}

func file(in Input, records int) File {
	sum := canon.Sum(in.Data)
	return File{SHA256: sum, Records: records, Upstream: pins[sum].Upstream, Licence: pins[sum].Licence}
}

func newReport(rows, launches Input, rs []*row, ls map[string]*launch, out []LeftOutRecord) Report {
	rep := Report{Source: sourceName, Rows: file(rows, len(rs)), Launches: file(launches, len(ls)), LeftOut: out}
	for _, n := range Notes() {
		c := NoteCount{Note: n.ID, Text: n.Text}
		for _, r := range rs {
			if n.applies(r, ls[r.column["id"]]) {
				c.Records++
			}
		}
		rep.Notes = append(rep.Notes, c)
	}
	rep.LaunchFacts = countLaunches(rs, ls, out)
	return rep
}

func countLaunches(rs []*row, ls map[string]*launch, out []LeftOutRecord) LaunchFacts {
	c := LaunchFacts{Read: len(ls)}
	left := map[int]bool{}
	for _, o := range out {
		left[o.Line] = true
	}
	for _, r := range rs {
		switch {
		case ls[r.column["id"]] == nil:
		case left[r.line]:
			c.OnLeftOut++
		default:
			c.OnUnits++
		}
	}
	c.WithoutRow = c.Read - c.OnUnits - c.OnLeftOut
	return c
}

// count fills everything of rep that follows from units, lists and rep.LeftOut.
// Open recomputes it and refuses a report that says anything else.
func (l *Ledger) count(rep *Report, unitsSHA256 string) {
	rep.UnitsSHA256, rep.Units = unitsSHA256, len(l.Units)
	byRule := map[string]int{}
	fate := map[string]Disposition{} // by unit id
	keys := map[RoleKey]bool{}
	rep.Records = Records{LeftOut: len(rep.LeftOut)}
	for _, o := range rep.LeftOut {
		byRule[o.Rule]++
		fate[o.UnitID] = LeftOut
	}
	for i := range l.Units {
		for r := range l.Units[i].records() {
			rep.Records.add(r.Disposition)
			byRule[r.Rule]++
			if r.UnitID != "" {
				fate[r.UnitID] = Merged
			}
		}
	}
	for i := range l.Units {
		keys[l.Units[i].RoleKey] = true
		for _, id := range l.names(l.Units[i].ID) {
			fate[id] = Kept
		}
	}
	rep.RoleKeys = len(keys)
	rep.Records.Read = rep.Records.Kept + rep.Records.Joined + rep.Records.Merged + rep.Records.LeftOut
	rep.Rules = nil
	for _, r := range Rules() {
		rep.Rules = append(rep.Rules, RuleCount{Rule: r.ID, Disposition: r.Disposition, Records: byRule[r.ID], Text: r.Text})
	}
	rep.Published = map[Role]ListedCount{Fit: listed(l.Published.Fit, fate), Anchor: listed(l.Published.Anchor, fate)}
	rep.Unlisted = len(l.Units) - rep.Published[Fit].Units - rep.Published[Anchor].Units
}

func (c *Records) add(d Disposition) {
	switch d {
	case Kept:
		c.Kept++
	case Joined:
		c.Joined++
	case Merged:
		c.Merged++
	}
}

func listed(ids []string, fate map[string]Disposition) ListedCount {
	c := ListedCount{Listed: len(ids)}
	for _, id := range ids {
		switch fate[id] {
		case Kept:
			c.Units++
		case Merged:
			c.Merged++
		case LeftOut:
			c.LeftOut++
		default:
			c.Absent++
		}
	}
	return c
}
