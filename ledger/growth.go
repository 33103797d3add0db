package ledger

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Grow makes l the successor of base: it carries partition, legacy map and aliases
// over, generates the aliases that a change of identities needs, and checks.
func (l *Ledger) Grow(base *Ledger) error {
	l.Partition = base.Partition
	l.Aliases = slices.Clone(base.Aliases)
	if base.Report.Rows.SHA256 == l.Report.Rows.SHA256 {
		made, err := GenerateAliases(base, l)
		if err != nil {
			return err
		}
		l.Aliases = append(l.Aliases, made...)
		slices.SortFunc(l.Aliases, compareAliases)
	}
	if len(l.Legacy) == 0 {
		l.carryLegacy(base)
	}
	l.count(&l.Report, l.Report.UnitsSHA256)
	return l.Succeeds(base)
}

// carryLegacy keeps the side of every unit of base that l holds, and gives a new
// unit the side of its role key.
func (l *Ledger) carryLegacy(base *Ledger) {
	sides := map[string]LegacyUnit{}
	keys := map[RoleKey]Role{}
	for _, u := range base.Legacy {
		sides[u.UnitID] = u
		if old, ok := base.Unit(u.UnitID); ok {
			keys[old.RoleKey] = fitIfBoth(keys[old.RoleKey], u.Side)
		}
	}
	for i := range l.Units {
		u := &l.Units[i]
		kept := LegacyUnit{}
		for _, name := range l.names(u.ID) {
			if s, ok := sides[name]; ok && kept.Side != Fit {
				kept = s
			}
		}
		if side, ok := keys[u.RoleKey]; ok && kept.Side == "" {
			kept = LegacyUnit{Side: side, By: "role_key"}
		}
		if kept.Side != "" {
			kept.UnitID = u.ID
			l.Legacy = append(l.Legacy, kept)
		}
	}
}

// Succeeds refuses l as a successor of base when a unit was lost or a role may
// have changed (D4). A higher partition version, which a person approved, may
// redraw roles and is held to nothing else.
func (l *Ledger) Succeeds(base *Ledger) error {
	p, was := l.partition(), base.partition()
	switch {
	case p.Version > was.Version:
		return nil
	case p.Version < was.Version || p.Cuts != was.Cuts:
		return &diag.Refusal{File: partitionFile, Field: "version", Value: fmt.Sprint(p.Version), Problem: "has other cut-points than the base ledger's", Accept: fmt.Sprintf("the cut-points of version %d, or a higher version", was.Version), Rule: "D4"}
	case l.Published.SeedSHA256 != base.Published.SeedSHA256:
		return &diag.Refusal{File: seedFile, Value: l.Published.SeedSHA256, Problem: "commits to another seed", Accept: base.Published.SeedSHA256 + ", or a higher partition version", Rule: "D4"}
	}
	if err := l.keepsLists(base); err != nil {
		return err
	}
	if err := l.checkAliases(base); err != nil {
		return err
	}
	return l.keepsUnits(base)
}

func (l *Ledger) keepsLists(base *Ledger) error {
	for _, list := range []struct {
		file     string
		was, now []string
	}{{fitFile, base.Published.Fit, l.Published.Fit}, {anchorFile, base.Published.Anchor, l.Published.Anchor}} {
		for _, id := range list.was {
			if _, ok := slices.BinarySearch(list.now, id); !ok {
				return &diag.Refusal{File: list.file, Field: "unit_id", Value: id, Problem: "is listed no more", Accept: "every id of the base ledger's list: roles are append-only", Rule: "D4"}
			}
		}
	}
	return nil
}

func (l *Ledger) keepsUnits(base *Ledger) error {
	now := map[string]*Unit{}
	for i := range l.Units {
		now[l.Units[i].ID] = &l.Units[i]
	}
	for _, a := range l.Aliases {
		if u := now[a.New]; u != nil {
			now[a.Old] = u
		}
	}
	sides := map[string]Role{}
	for _, u := range l.Legacy {
		sides[u.UnitID] = u.Side
	}
	for i := range base.Units {
		was := &base.Units[i]
		u := now[was.ID]
		if u == nil {
			r := &diag.Refusal{File: unitsFile, Field: "unit_id", Value: was.ID, Problem: "is lost", Accept: "every unit of the base ledger, or an alias of it", Rule: "D4"}
			if rule, ok := l.leftOut(was.ID); ok {
				r.Problem += ": its records are left out by " + rule
			}
			return r
		}
		if a, b := base.Role(was), l.Role(u); a != b && a != Unlisted {
			return &diag.Refusal{File: unitsFile, Field: "unit_id", Value: was.ID, Problem: fmt.Sprintf("was %s and is %s", a, b), Accept: "the same role", Rule: "D4"}
		}
	}
	for _, u := range base.Legacy {
		if next := now[u.UnitID]; next != nil && sides[next.ID] != u.Side {
			return &diag.Refusal{File: legacyFile, Field: "unit_id", Value: u.UnitID, Problem: fmt.Sprintf("was on the %s side", u.Side), Accept: "the same side", Rule: "D4"}
		}
	}
	return nil
}
