package ledger

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// LegacyUnit is a unit on a side of the partition made before this ledger: the
// keyed rule chooses only within that side (Target Design §10.2). Because the old
// labels are public, its role is not blind.
type LegacyUnit struct {
	UnitID string   `json:"unit_id"`
	Side   Role     `json:"side"` // fit or held
	By     string   `json:"by"`   // "label", "both_labels" or "role_key"
	Legacy []string `json:"legacy_ids,omitempty"`
}

// legacyPoint is a line of the legacy table.
type legacyPoint struct {
	ID    string `json:"legacy_id"`
	Label string `json:"label"` // FIT or HELD
	RowID string `json:"row_id"`
}

const legacyFile = "legacy-map.jsonl"

// MapLegacy sets l.Legacy from a legacy table: each unit that holds a legacy
// record takes its label, and the fit side where it holds both; a unit without one
// takes the side of its role key's, and the fit side where that has both. A row id
// that no record of the source has is refused.
func (l *Ledger) MapLegacy(table Input) error {
	points, err := readLegacy(table)
	if err != nil {
		return err
	}
	at := map[string]*Unit{}
	for i := range l.Units {
		for r := range l.Units[i].records() {
			at[r.RowID] = &l.Units[i]
		}
	}
	for _, o := range l.Report.LeftOut {
		at[o.RowID] = nil
	}
	units := map[string]*LegacyUnit{}
	keys := map[RoleKey]Role{}
	for n, p := range points {
		u, known := at[p.RowID]
		if !known {
			return &diag.Refusal{File: table.Name, Line: n + 1, Field: "row_id", Value: p.RowID, Problem: "is no record of the source", Accept: "the id of a row"}
		}
		if u == nil {
			continue
		}
		units[u.ID] = units[u.ID].with(u.ID, p)
		keys[u.RoleKey] = fitIfBoth(keys[u.RoleKey], units[u.ID].Side)
	}
	for i := range l.Units {
		u := &l.Units[i]
		if side, ok := keys[u.RoleKey]; ok && units[u.ID] == nil {
			units[u.ID] = &LegacyUnit{UnitID: u.ID, Side: side, By: "role_key"}
		}
	}
	l.Legacy = nil
	for _, id := range slices.Sorted(maps.Keys(units)) {
		l.Legacy = append(l.Legacy, *units[id])
	}
	return nil
}

// with adds a legacy point to the unit.
func (u *LegacyUnit) with(id string, p legacyPoint) *LegacyUnit {
	side := map[string]Role{"FIT": Fit, "HELD": Held}[p.Label]
	if u == nil {
		return &LegacyUnit{UnitID: id, Side: side, By: "label", Legacy: []string{p.ID}}
	}
	if side != u.Side {
		u.Side, u.By = Fit, "both_labels"
	}
	u.Legacy = append(u.Legacy, p.ID)
	return u
}

func fitIfBoth(a, b Role) Role {
	if a == "" || a == b {
		return b
	}
	return Fit
}

func readLegacy(in Input) ([]legacyPoint, error) {
	var points []legacyPoint
	seen := map[string]bool{}
	err := eachLine(in.Name, in.Data, func(n int, line []byte) error {
		var p legacyPoint
		if err := strict.JSON("", line, &p); err != nil {
			return err
		}
		switch {
		case p.ID == "" || seen[p.ID]:
			return &diag.Refusal{Field: "legacy_id", Value: p.ID, Problem: "is missing or repeated", Accept: "each legacy point once"}
		case p.Label != "FIT" && p.Label != "HELD":
			return &diag.Refusal{Field: "label", Value: p.Label, Problem: "is not a label", Accept: "FIT or HELD"}
		}
		seen[p.ID] = true
		points = append(points, p)
		return nil
	})
	return points, err
}

// openLegacy reads the map of a ledger directory; one without it has no legacy units.
func (l *Ledger) openLegacy(fsys fs.FS) error {
	return openLines(fsys, legacyFile, &l.Legacy, func(u LegacyUnit, before []LegacyUnit) error {
		switch {
		case len(before) > 0 && before[len(before)-1].UnitID >= u.UnitID:
			return &diag.Refusal{Field: "unit_id", Value: u.UnitID, Problem: "is out of order or twice", Accept: "units sorted by id"}
		case u.Side != Fit && u.Side != Held:
			return &diag.Refusal{Field: "side", Value: string(u.Side), Problem: "is not a side", Accept: "fit or held", Rule: "D4"}
		case !slices.Contains([]string{"label", "both_labels", "role_key"}, u.By) || (u.By == "role_key") != (len(u.Legacy) == 0):
			return &diag.Refusal{Field: "by", Value: u.By, Problem: "does not say what gave the side", Accept: "label or both_labels with legacy ids, or role_key without"}
		}
		if _, ok := l.Unit(u.UnitID); !ok {
			return &diag.Refusal{Field: "unit_id", Value: u.UnitID, Problem: "is no unit of this ledger", Accept: "a unit"}
		}
		return nil
	})
}

func (l *Ledger) legacy(id string) bool {
	_, ok := slices.BinarySearchFunc(l.Legacy, id, func(u LegacyUnit, id string) int { return strings.Compare(u.UnitID, id) })
	return ok
}
