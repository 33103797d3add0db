package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// Input is one source file: its name for messages and its bytes.
type Input struct {
	Name string
	Data []byte
}

// Ingest turns the rows of the source and the launch facts of some of them into
// a ledger. Roles come from the published lists alone; a unit on neither list
// is "unlisted". It is a pure function of its arguments. A malformed line, an
// unknown column or a launch that contradicts its row is refused: nothing is
// skipped silently.
func Ingest(rows, launches Input, published Published) (*Ledger, error) {
	rs, err := readRows(rows)
	if err != nil {
		return nil, err
	}
	ls, err := readLaunches(launches)
	if err != nil {
		return nil, err
	}
	for _, r := range rs {
		if l := ls[r.column["id"]]; l != nil {
			if err := l.fits(r); err != nil {
				return nil, onLine(launches.Name, l.line, err)
			}
		}
	}
	b := builder{launches: ls, units: map[string]*Unit{}}
	b.add(rs)
	l := &Ledger{Units: b.sorted(), Published: published}
	l.Report = newReport(rows, launches, rs, ls, b.leftOut)
	encoded, err := encodeLines(l.Units)
	if err != nil {
		return nil, err
	}
	l.count(&l.Report, canon.Sum(encoded))
	return l, l.check()
}

// builder assembles units from rows in line order.
type builder struct {
	launches map[string]*launch
	units    map[string]*Unit // by unit id
	leftOut  []LeftOutRecord
}

func (b *builder) add(rows []*row) {
	groups := map[string][]*row{} // by measured values
	for _, r := range rows {
		if r.measured() {
			groups[r.values()] = append(groups[r.values()], r)
		}
	}
	for _, r := range rows {
		g := groups[r.values()]
		switch {
		case !r.measured():
			b.leave(r, ruleEmpty, nil)
		case twoKeys(g):
			b.leave(r, ruleTwoKeys, g)
		case r == g[0]:
			b.measurement(g)
		}
	}
}

// values is the measurement's identity: both values at 12 significant digits,
// because two dumps of one measurement differ in the last digits.
func (r *row) values() string {
	return strconv.FormatFloat(r.ttft, 'e', 11, 64) + " " + strconv.FormatFloat(r.tpot, 'e', 11, 64)
}

func twoKeys(g []*row) bool {
	return slices.ContainsFunc(g, func(r *row) bool { return r.roleKey != g[0].roleKey })
}

func (b *builder) leave(r *row, rule string, g []*row) {
	o := LeftOutRecord{Line: r.line, RowID: r.column["id"], UnitID: r.id, Rule: rule}
	for _, other := range g {
		if other != r {
			o.SameAs = append(o.SameAs, other.line)
		}
	}
	b.leftOut = append(b.leftOut, o)
}

// measurement adds the rows of one measurement to the unit of the first.
func (b *builder) measurement(g []*row) {
	head := g[0]
	u, known := b.units[head.id]
	if !known {
		u = &Unit{ID: head.id, Identity: head.identity, Serving: head.serving, Configurations: []Configuration{}}
		b.units[head.id] = u
	}
	m := head.more
	m.TTFTMeanMS, m.TPOTMeanMS = head.ttft, head.tpot
	for _, r := range g {
		m.Records = append(m.Records, r.record(head, known))
	}
	m.Configuration = b.configure(u, g)
	u.Measurements = append(u.Measurements, m)
}

func (r *row) record(head *row, known bool) Record {
	rec := Record{Line: r.line, RowID: r.column["id"], Dump: r.prov.dump, Disposition: Merged,
		Version: r.column["backend_version"], ImageDigest: r.prov.digest, WIP: r.prov.wip}
	switch {
	case r == head && !known:
		rec.Disposition = Kept
	case r == head:
		rec.Disposition, rec.Rule = Joined, ruleAgain
	case r.id != head.id:
		rec.Rule, rec.UnitID = ruleIdentity, r.id
	case r.ttft != head.ttft || r.tpot != head.tpot:
		rec.Rule = ruleDigits
	default:
		rec.Rule = ruleExact
	}
	return rec
}

// configure records the best-matched launch of the measurement's rows on u, and
// any other launch that differs from it, which makes the unit a value conflict.
func (b *builder) configure(u *Unit, g []*row) *int {
	if g[0].launched != nil {
		i := u.configuration(*g[0].launched)
		return &i
	}
	var facts []*launch
	best := ""
	for _, match := range []string{"unique", "ambiguous", "none"} {
		for _, r := range g {
			if l := b.launches[r.column["id"]]; l != nil && l.Match == match && (best == "" || best == match) {
				facts, best = append(facts, l), match
			}
		}
	}
	if facts == nil {
		return nil
	}
	first := u.configuration(facts[0].configuration(g[0]))
	for _, l := range facts[1:] {
		u.configuration(l.configuration(g[0]))
	}
	return &first
}

// configuration returns the index of c in u, adding it when no recorded one is equal.
func (u *Unit) configuration(c Configuration) int {
	for i := range u.Configurations {
		if len(u.Configurations[i].differing(&c)) == 0 {
			return i
		}
	}
	u.Configurations = append(u.Configurations, c)
	return len(u.Configurations) - 1
}

func (b *builder) sorted() []Unit {
	units := make([]Unit, 0, len(b.units))
	for _, u := range b.units { //determinism:any-order sorted below
		units = append(units, *u)
	}
	slices.SortFunc(units, func(x, y Unit) int { return strings.Compare(x.ID, y.ID) })
	return units
}

func text(v any) string { return fmt.Sprint(v) }
