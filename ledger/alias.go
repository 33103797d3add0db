package ledger

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Alias says that a unit and its role key were once known by other names, because
// the source or the ingest changed how identities are computed. The unit keeps the
// role of its old name (D4).
type Alias struct {
	Old    string  `json:"old_unit_id"`
	New    string  `json:"new_unit_id"`
	OldKey RoleKey `json:"old_role_key"`
	NewKey RoleKey `json:"new_role_key"`
}

const aliasFile = "aliases.jsonl"

// GenerateAliases pairs the identities that two ingest versions give the same
// records of one source file; equal identities need no alias. An alias that would
// give one new role key the roles of two old ones is refused: only a new partition
// version may do that.
func GenerateAliases(base, next *Ledger) ([]Alias, error) {
	if base.Report.Rows.SHA256 != next.Report.Rows.SHA256 {
		return nil, &diag.Refusal{File: reportFile, Field: "rows.sha256", Value: next.Report.Rows.SHA256, Problem: "is another source file than the base ledger's, so no identity can be paired", Accept: base.Report.Rows.SHA256, Rule: "D4"}
	}
	old := map[int]*Unit{} // by line of the source
	for i := range base.Units {
		for r := range base.Units[i].records() {
			old[r.Line] = &base.Units[i]
		}
	}
	seen := map[[2]string]bool{}
	keys := map[RoleKey]*Unit{} // new key to an old unit that gave it its role
	var out []Alias
	for i := range next.Units {
		u := &next.Units[i]
		for r := range u.records() {
			was := old[r.Line]
			if was == nil {
				continue
			}
			if first, ok := keys[u.RoleKey]; ok && first.RoleKey != was.RoleKey && !sameRole(base, first, was) {
				return nil, &diag.Refusal{Line: r.Line, Field: "role_key", Value: u.ID,
					Problem: fmt.Sprintf("joins %s and %s, whose roles may differ", first.ID, was.ID), Accept: "identities that keep them apart, or a new partition version", Rule: "D4"}
			} else if !ok {
				keys[u.RoleKey] = was
			}
			pair := [2]string{was.ID, u.ID}
			if was.ID != u.ID && !seen[pair] {
				seen[pair] = true
				out = append(out, Alias{Old: was.ID, New: u.ID, OldKey: keys[u.RoleKey].RoleKey, NewKey: u.RoleKey})
			}
		}
	}
	slices.SortFunc(out, compareAliases)
	return out, nil
}

// sameRole holds for two units of one published role; which role an unlisted unit
// has is not known here.
func sameRole(l *Ledger, a, b *Unit) bool { return l.Role(a) == l.Role(b) && l.Role(a) != Unlisted }

func compareAliases(a, b Alias) int {
	return cmp.Or(cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
}

// openAliases reads the table of a ledger directory; one without it has no aliases.
func (l *Ledger) openAliases(fsys fs.FS) error {
	keys := map[RoleKey]RoleKey{}
	return openLines(fsys, aliasFile, &l.Aliases, func(a Alias, before []Alias) error {
		switch n := len(before); {
		case !isHash(a.Old) || !isHash(a.New) || a.Old == a.New:
			return &diag.Refusal{Field: "new_unit_id", Value: a.New, Problem: "does not rename a unit", Accept: "two different unit ids"}
		case n > 0 && compareAliases(before[n-1], a) >= 0:
			return &diag.Refusal{Field: "old_unit_id", Value: a.Old, Problem: "is out of order or twice", Accept: "aliases sorted by old and new id"}
		}
		if k, ok := keys[a.NewKey]; ok && k != a.OldKey {
			return &diag.Refusal{Field: "new_role_key", Value: a.New, Problem: "is drawn by two old role keys", Accept: "one", Rule: "D4"}
		}
		keys[a.NewKey] = a.OldKey
		return nil
	})
}

// names are the ids under which u was ever known, its own first.
func (l *Ledger) names(id string) []string {
	ids := []string{id}
	for i := 0; i < len(ids); i++ {
		for _, a := range l.Aliases {
			if a.New == ids[i] && !slices.Contains(ids, a.Old) {
				ids = append(ids, a.Old)
			}
		}
	}
	return ids
}

// checkAliases holds the table to the one that follows from base.
func (l *Ledger) checkAliases(base *Ledger) error {
	want := base.Aliases
	if base.Report.Rows.SHA256 == l.Report.Rows.SHA256 {
		made, err := GenerateAliases(base, l)
		if err != nil {
			return err
		}
		want = slices.Concat(want, made)
		slices.SortFunc(want, compareAliases)
	}
	got, err := canon.Hash(l.Aliases)
	if err != nil {
		return err
	}
	if h, err := canon.Hash(want); err != nil || h != got {
		return &diag.Refusal{File: aliasFile, Problem: fmt.Sprintf("holds %d aliases, and %d follow from the base ledger", len(l.Aliases), len(want)), Accept: "the table that ledger ingest --base writes", Rule: "D4"}
	}
	return nil
}
