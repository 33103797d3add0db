// Package ledger holds the measured benchmark runs the simulator is compared
// with, and says for each what it may be used for.
//
// In: a source's rows and launch facts (Ingest), or a directory Ingest made
// (Open; Embedded is the one compiled in). Out: units with identity, role,
// recorded configuration, client frame and measured values, and a report that
// accounts for every record read. Nothing here is estimated, scaled or rounded:
// a value a run did not record is null. The published lists are the only roles;
// drawing one needs the secret seed. Rules kept: D2, D3, D4, D7 and COV-10's
// measurements of the Target Design (§10.2).
package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Ledger is one ingested source.
type Ledger struct {
	Units     []Unit // by id
	Published Published
	Report    Report
	// How roles are drawn, and what an earlier ledger or partition fixed; empty
	// unless the directory states it.
	Partition *Partition
	Legacy    []LegacyUnit // by unit id
	Aliases   []Alias      // by old and new id
}

const (
	unitsFile  = "units.jsonl"
	reportFile = "report.json"
)

// Open reads the ledger directory fsys. It recomputes every hash, order and
// count, and refuses a byte that Write would not have written.
func Open(fsys fs.FS) (*Ledger, error) {
	published, err := OpenPublished(fsys)
	if err != nil {
		return nil, err
	}
	l := &Ledger{Published: published}
	var sum string
	if l.Units, sum, err = openUnits(fsys); err != nil {
		return nil, err
	}
	if l.Partition, err = openPartition(fsys); err != nil {
		return nil, err
	}
	if err := l.openAliases(fsys); err != nil {
		return nil, err
	}
	if err := l.openLegacy(fsys); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, diag.In(unitsFile, err)
	}
	if err := l.openReport(fsys, sum); err != nil {
		return nil, err
	}
	return l, nil
}

// Hash identifies the ledger: its report, which names the units' hash, its lists,
// and what it states of partition, legacy sides and aliases.
func (l *Ledger) Hash() (string, error) {
	return canon.Hash(struct {
		Report    Report       `json:"report"`
		Published Published    `json:"published"`
		Partition *Partition   `json:"partition,omitempty"`
		Legacy    []LegacyUnit `json:"legacy,omitempty"`
		Aliases   []Alias      `json:"aliases,omitempty"`
	}{l.Report, l.Published, l.Partition, l.Legacy, l.Aliases})
}

// Unit returns the unit of an id.
func (l *Ledger) Unit(id string) (*Unit, bool) {
	i, ok := slices.BinarySearchFunc(l.Units, id, func(u Unit, id string) int { return strings.Compare(u.ID, id) })
	if !ok {
		return nil, false
	}
	return &l.Units[i], true
}

// Find returns the one unit whose id is prefix or begins with it.
func (l *Ledger) Find(prefix string) (*Unit, error) {
	i, _ := slices.BinarySearchFunc(l.Units, prefix, func(u Unit, id string) int { return strings.Compare(u.ID, id) })
	n := 0
	for i+n < len(l.Units) && strings.HasPrefix(l.Units[i+n].ID, prefix) {
		n++
	}
	if n == 1 {
		return &l.Units[i], nil
	}
	r := &diag.Refusal{Field: "unit_id", Value: prefix, Problem: "names no unit", Accept: "an id, or the beginning of one, that blis ledger list prints"}
	if n > 1 {
		r.Problem = fmt.Sprintf("begins %d unit ids", n)
	} else if o, ok := l.leftOut(prefix); ok {
		r.Problem = "names a record that is left out: " + o
	}
	return nil, r
}

func (l *Ledger) leftOut(prefix string) (rule string, ok bool) {
	for _, o := range l.Report.LeftOut {
		if strings.HasPrefix(o.UnitID, prefix) {
			return o.Rule, true
		}
	}
	return "", false
}

// Role returns the published role of u, under any name it ever had.
func (l *Ledger) Role(u *Unit) Role {
	for _, id := range l.names(u.ID) {
		if r := l.Published.Role(id); r != Unlisted {
			return r
		}
	}
	return Unlisted
}

// ByRole yields the units of one role in id order.
func (l *Ledger) ByRole(role Role) iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		for i := range l.Units {
			if u := &l.Units[i]; l.Role(u) == role && !yield(u) {
				return
			}
		}
	}
}

// records yields every record of u.
func (u *Unit) records() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for i := range u.Measurements {
			for j := range u.Measurements[i].Records {
				if !yield(&u.Measurements[i].Records[j]) {
					return
				}
			}
		}
	}
}

// openUnits returns the units of the file and its SHA-256.
func openUnits(fsys fs.FS) ([]Unit, string, error) {
	data, err := fs.ReadFile(fsys, unitsFile)
	if err != nil {
		return nil, "", &diag.Refusal{File: unitsFile, Problem: "cannot be read: " + err.Error(), Accept: "a directory made by ledger ingest"}
	}
	units := []Unit{}
	err = eachLine(unitsFile, data, func(n int, line []byte) error {
		var u Unit
		if err := decodeCanonical(line, &u); err != nil {
			return err
		}
		units = append(units, u)
		return u.check()
	})
	return units, canon.Sum(data), err
}

// decodeCanonical reads a line that must be u's canonical JSON. Equal bytes leave
// no room for an unknown, repeated or missing key, so only a line that differs
// is read strictly, to say what is wrong with it.
func decodeCanonical(line []byte, u *Unit) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(u); err == nil {
		again, err := canon.JSON(u)
		if err != nil {
			return err
		}
		if bytes.Equal(again, line) {
			return nil
		}
	}
	if err := strict.JSON("", line, new(Unit)); err != nil {
		return err
	}
	return &diag.Refusal{Problem: "is not in canonical form", Accept: "a line written by ledger ingest: every key, sorted, no spaces", Rule: "D4"}
}

// check holds what relates units to each other: order, each record in one unit,
// one published role a role key.
func (l *Ledger) check() error {
	lines := map[int]string{}
	roles := map[RoleKey]*Unit{}
	for i := range l.Units {
		u := &l.Units[i]
		if i > 0 && l.Units[i-1].ID >= u.ID {
			return &diag.Refusal{Line: i + 1, Field: "unit_id", Value: u.ID, Problem: "is out of order or twice", Accept: "units sorted by id"}
		}
		for r := range u.records() {
			if other, twice := lines[r.Line]; twice {
				return &diag.Refusal{Line: i + 1, Field: "records", Value: r.RowID, Problem: "is also on unit " + other, Accept: "each record on one unit"}
			}
			lines[r.Line] = u.ID
		}
		if l.legacy(u.ID) {
			continue // the old partition split deployments
		}
		if first, ok := roles[u.RoleKey]; !ok {
			roles[u.RoleKey] = u
		} else if l.Role(first) != l.Role(u) {
			return &diag.Refusal{Line: i + 1, Field: "unit_id", Value: u.ID, Problem: "is " + string(l.Role(u)) + ", while " + first.ID + " of the same role key is " + string(l.Role(first)), Accept: "one role a role key", Rule: "D4"}
		}
	}
	return nil
}

func (l *Ledger) openReport(fsys fs.FS, unitsSHA256 string) error {
	data, err := fs.ReadFile(fsys, reportFile)
	if err != nil {
		return &diag.Refusal{File: reportFile, Problem: "cannot be read: " + err.Error(), Accept: "a directory made by ledger ingest"}
	}
	if err := strict.JSON(reportFile, data, &l.Report); err != nil {
		return err
	}
	counted := l.Report
	l.count(&counted, unitsSHA256)
	if field := firstDifference(l.Report, counted); field != "" {
		return &diag.Refusal{File: reportFile, Field: field, Problem: "does not follow from the units and lists beside it", Accept: "the report of the ingest that wrote them", Rule: "COV-7"}
	}
	if counted.Records.Read != counted.Rows.Records {
		return &diag.Refusal{File: reportFile, Field: "records.read", Problem: "is not the number of rows", Accept: "every row kept, joined, merged or left out", Rule: "COV-7"}
	}
	// The counts above are recomputed; these bytes must be what Write gives.
	return canonical(reportFile, data, l.Report)
}

// firstDifference names the first field in which two reports differ, "" if none.
func firstDifference(a, b Report) string {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return x.Type().Field(i).Tag.Get("json")
		}
	}
	return ""
}
