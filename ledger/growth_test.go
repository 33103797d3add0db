package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// grown is a ledger of the same source read by another ingest version, which
// changes identities as rename says.
func grown(t *testing.T, base *Ledger, rename func(u *Unit)) *Ledger {
	t.Helper()
	next := *base
	next.Units = nil
	for _, u := range base.Units {
		rename(&u)
		var err error
		if u.ConfigHash, err = canon.Hash(u.Serving); err != nil {
			t.Fatal(err)
		}
		if u.ID, err = u.Identity.Hash(); err != nil {
			t.Fatal(err)
		}
		next.Units = append(next.Units, u)
	}
	slices.SortFunc(next.Units, func(a, b Unit) int { return strings.Compare(a.ID, b.ID) })
	encoded, err := encodeLines(next.Units)
	if err != nil {
		t.Fatal(err)
	}
	next.count(&next.Report, canon.Sum(encoded))
	return &next
}

// D4: an ingest version that names every unit anew keeps every role by its alias
// table, through a second renaming too.
func TestAliasedUnitsKeepTheirRole(t *testing.T) {
	keep.Rule(t, "D4", "T-S1")
	seed := []byte(strings.Repeat("\x07", 32))
	base := ingestedExcerpt(t)
	base.Published.SeedSHA256 = canon.Sum(seed)
	published := map[string]Role{}
	drawn := map[string]Role{}
	for i := range base.Units {
		u := &base.Units[i]
		published[u.Measurements[0].Records[0].RowID] = base.Role(u)
		drawn[u.Measurements[0].Records[0].RowID] = roleOf(t, base, seed, u)
	}
	for n := range 2 {
		next := grown(t, base, func(u *Unit) { u.Hardware = fmt.Sprint("v", n, " ", u.Hardware) })
		if err := next.Succeeds(base); err == nil || !strings.Contains(err.Error(), "follow from the base ledger") {
			t.Errorf("without aliases: got %v, want a refusal", err)
		}
		if err := next.Grow(base); err != nil {
			t.Fatal(err)
		}
		if len(next.Aliases) != (n+1)*len(base.Units) {
			t.Errorf("got %d aliases, want one a unit and renaming", len(next.Aliases))
		}
		again, err := Open(mapFS(t, next))
		if err != nil {
			t.Fatal(err)
		}
		for i := range again.Units {
			u := &again.Units[i]
			row := u.Measurements[0].Records[0].RowID
			if got, want := again.Role(u), published[row]; got != want {
				t.Errorf("%s: published role got %s, want %s", row, got, want)
			}
			if got, want := roleOf(t, again, seed, u), drawn[row]; got != want {
				t.Errorf("%s: drawn role got %s, want %s", row, got, want)
			}
		}
		base = again
	}
}

func roleOf(t *testing.T, l *Ledger, seed []byte, u *Unit) Role {
	t.Helper()
	roles, err := l.Roles(seed)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := roles.Of(u)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// D4: two role keys whose roles may differ are never joined under one.
func TestAliasesThatJoinRolesAreRefused(t *testing.T) {
	keep.Rule(t, "D4")
	base := ingestedExcerpt(t)
	joined := func(u *Unit) { u.RoleKey = base.Units[0].RoleKey; u.Serving = base.Units[0].Serving }
	if _, err := GenerateAliases(base, grown(t, base, joined)); err == nil || !strings.Contains(err.Error(), "whose roles may differ") {
		t.Errorf("got %v, want a refusal", err)
	}
	other := *base
	other.Report.Rows.SHA256 = zeros
	if _, err := GenerateAliases(base, &other); err == nil || !strings.Contains(err.Error(), "another source file") {
		t.Errorf("another source: got %v, want a refusal", err)
	}
	if a, err := GenerateAliases(base, grown(t, base, func(*Unit) {})); err != nil || len(a) != 0 {
		t.Errorf("nothing changed: got %d aliases, %v", len(a), err)
	}
}

// D4: each way a successor can lose a unit or change a role is refused, and the
// ledger itself is its own lawful successor.
func TestUnlawfulSuccessors(t *testing.T) {
	keep.Rule(t, "D4", "T-D1")
	base := ingestedExcerpt(t)
	if err := base.Succeeds(base); err != nil {
		t.Fatalf("itself: %v", err)
	}
	listed := slices.IndexFunc(base.Units, func(u Unit) bool { return base.Role(&u) == Fit })
	for _, c := range []struct {
		name  string
		spoil func(l *Ledger)
		want  string
	}{
		{"lost unit", func(l *Ledger) { l.Units = l.Units[1:] }, "is lost"},
		{"unlisted", func(l *Ledger) { l.Published.Fit = l.Published.Fit[1:] }, "is listed no more"},
		{"other seed", func(l *Ledger) { l.Published.SeedSHA256 = zeros }, "commits to another seed"},
		{"other cut-points", func(l *Ledger) { l.Partition = &Partition{Version: 1, Cuts: Cuts{Fit: 31}} }, "has other cut-points"},
		{"moved to another list", func(l *Ledger) {
			id := l.Units[listed].ID
			l.Published.Anchor = slices.Sorted(slices.Values(append(slices.Clone(l.Published.Anchor), id)))
			l.Published.Fit = slices.DeleteFunc(slices.Clone(l.Published.Fit), func(s string) bool { return s == id })
		}, "is listed no more"},
		{"alias out of nothing", func(l *Ledger) { l.Aliases = []Alias{{Old: zeros, New: l.Units[0].ID}} }, "holds 1 aliases, and 0 follow"},
	} {
		next := *base
		c.spoil(&next)
		if err := next.Succeeds(base); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	next := *base
	next.Units, next.Partition = next.Units[1:], &Partition{Version: 2, Approved: "reviewer, change 12"}
	if err := next.Succeeds(base); err != nil {
		t.Errorf("a new partition version: got %v, want it accepted", err)
	}
}

// Legacy units keep their side, a unit with both labels and a unit of such a role
// key is on the fit side, and none is blind (D4).
func TestLegacySides(t *testing.T) {
	keep.Rule(t, "D4")
	seed := []byte(strings.Repeat("\x07", 32))
	excerpt := ingestedExcerpt(t)
	n := 0
	l := grown(t, excerpt, func(u *Unit) { // the first two become one sweep
		if n++; n <= 2 {
			u.RoleKey, u.Serving, u.Concurrency = excerpt.Units[0].RoleKey, excerpt.Units[0].Serving, n
		}
	})
	l.Published = Published{SeedSHA256: canon.Sum(seed)}
	l.count(&l.Report, l.Report.UnitsSHA256)
	byKey := map[RoleKey][]*Unit{}
	for i := range l.Units {
		byKey[l.Units[i].RoleKey] = append(byKey[l.Units[i].RoleKey], &l.Units[i])
	}
	var lone, pair []*Unit
	for i := range l.Units {
		if us := byKey[l.Units[i].RoleKey]; len(us) == 1 {
			lone = append(lone, us[0])
		} else {
			pair = us
		}
	}
	if len(lone) < 2 || len(pair) < 2 {
		t.Fatal("the excerpt lacks a lone unit or a sweep")
	}
	var table []byte
	add := func(id, label string, u *Unit) {
		line, _ := json.Marshal(map[string]string{"legacy_id": id, "label": label, "row_id": u.Measurements[0].Records[0].RowID})
		table = append(append(table, line...), '\n')
	}
	add("a", "HELD", lone[0])
	add("b", "FIT", lone[1])
	add("c", "HELD", lone[1])
	add("d", "HELD", pair[0])
	if err := l.MapLegacy(Input{"legacy.jsonl", table}); err != nil {
		t.Fatal(err)
	}
	want := map[string]LegacyUnit{lone[0].ID: {Side: Held, By: "label"}, lone[1].ID: {Side: Fit, By: "both_labels"}, pair[0].ID: {Side: Held, By: "label"}, pair[1].ID: {Side: Held, By: "role_key"}}
	for _, u := range l.Legacy {
		if w, ok := want[u.UnitID]; ok && (w.Side != u.Side || w.By != u.By) {
			t.Errorf("got %s by %s, want %s by %s", u.Side, u.By, w.Side, w.By)
		}
	}
	if _, err := Open(mapFS(t, l)); err != nil {
		t.Fatal(err)
	}
	roles, err := l.Roles(seed)
	if err != nil {
		t.Fatal(err)
	}
	for id, w := range want {
		u, _ := l.Unit(id)
		r, blind, _ := roles.Of(u)
		if blind || (w.Side == Fit) != (r == Fit || r == Select) {
			t.Errorf("side %s drew %s, blind %v", w.Side, r, blind)
		}
	}
	next := grown(t, l, func(u *Unit) { u.Hardware = "v1 " + u.Hardware })
	next.Legacy = nil
	if err := next.Grow(l); err != nil || len(next.Legacy) != len(l.Legacy) {
		t.Errorf("carried: got %d sides, %v, want %d", len(next.Legacy), err, len(l.Legacy))
	}
	next.Legacy[0].Side = map[Role]Role{Fit: Held, Held: Fit}[next.Legacy[0].Side]
	if err := next.Succeeds(l); err == nil || !strings.Contains(err.Error(), "side") {
		t.Errorf("changed side: got %v, want a refusal", err)
	}
}

func TestLegacyLinesAreRefused(t *testing.T) {
	keep.Rule(t, "D4")
	l := grown(t, ingestedExcerpt(t), func(*Unit) {})
	for _, line := range []string{`{"legacy_id":"a","label":"FIT","row_id":"no"}`, `{"legacy_id":"a","label":"NEITHER","row_id":"x"}`, `{"legacy_id":"","label":"FIT","row_id":"x"}`} {
		if err := l.MapLegacy(Input{"legacy.jsonl", []byte(line + "\n")}); err == nil {
			t.Errorf("%s: accepted", line)
		}
	}
}

func TestPartitionRefusals(t *testing.T) {
	keep.Rule(t, "D4")
	good := Partition{Version: 2, Cuts: partitionOne.Cuts, Approved: "reviewer, change 12", Retired: []RetiredSeed{{1, canon.Sum(make([]byte, 32)), zeros}}}
	for _, c := range []struct {
		name  string
		spoil func(*Partition)
		want  string
	}{
		{"accepted", func(*Partition) {}, ""},
		{"order", func(p *Partition) { p.Cuts.Select = 29 }, "cuts.select: 29: is out of order"},
		{"above 100", func(p *Partition) { p.Cuts.Held = 101 }, "cuts.held: 101"},
		{"unapproved", func(p *Partition) { p.Approved = "" }, "approved: is empty"},
		{"another seed", func(p *Partition) { p.Retired[0].SeedSHA256 = zeros }, "has another hash than the one committed"},
		{"no seed", func(p *Partition) { p.Retired[0].Seed = "ab" }, "is not a seed"},
		{"seed in use", func(p *Partition) { p.Retired[0].Version = 2 }, "is out of order"},
		{"version", func(p *Partition) { p.Version = 0 }, "is not a version"},
	} {
		p := good
		p.Retired = slices.Clone(good.Retired)
		c.spoil(&p)
		l := ingestedExcerpt(t)
		l.Partition = &p
		_, err := Open(mapFS(t, l))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzOpenGrowth(f *testing.F) {
	l := ingestedExcerpt(f)
	f.Add([]byte(`{"version":1}`), []byte("{}\n"), []byte("{}\n"))
	f.Fuzz(func(t *testing.T, partition, legacy, aliases []byte) {
		fsys := mapFS(t, l)
		for name, data := range map[string][]byte{partitionFile: partition, legacyFile: legacy, aliasFile: aliases} {
			if len(data) > 0 {
				fsys[name] = &fstest.MapFile{Data: data}
			}
		}
		_, _ = Open(fsys)
	})
}
