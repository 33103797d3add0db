package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

func (s *site) coverage() error {
	c := s.Summary.Coverage
	d := Doc{Path: "coverage/", Title: "Coverage", Description: "How many measured units are scored, and why the rest are not.",
		Lead: fmt.Sprintf("%s of %s are graded. Every other one is listed with one reason from a closed list.", count(c.Graded), plural(c.Units, "unit"))}
	reasons := &Table{Caption: "Units not scored, by reason", Sortable: true, CSV: "data/tables/reasons.csv", Columns: []Column{{Label: "Reason"}, {Label: "Meaning"}, {Label: "Units", Num: true}}}
	order := record.Reasons()
	slices.SortStableFunc(order, func(a, b record.Reason) int { return c.ByReason[b] - c.ByReason[a] })
	for _, r := range order {
		if n := c.ByReason[r]; n > 0 {
			reasons.Rows = append(reasons.Rows, Row{Cells: []Cell{{Text: string(r), Href: "points/?reason=" + string(r), Class: "mono"}, {Text: reasonTexts[r], Class: "wrap"}, text(fmt.Sprint(n))}})
		}
	}
	rows := &Table{Caption: "Units by engine, engine build and chip", Sortable: true, CSV: "data/tables/coverage.csv", Columns: gradeColumns(Column{Label: "Engine"}, Column{Label: "Measured on build"}, Column{Label: "Chip"})}
	for _, r := range c.Rows {
		rows.Rows = append(rows.Rows, gradeRow([]Cell{text(r.Engine), text(cmp.Or(r.Release, "not recorded")), text(r.Hardware)}, r.ByGrade))
	}
	why, err := s.table("reasons", "Why units are not scored", "A unit gets the first reason that applies.", reasons)
	if err != nil {
		return err
	}
	all, err := s.table("rows", "By engine, build and chip", "", rows)
	if err != nil {
		return err
	}
	tree, err := s.tree(coverageTree(c))
	if err != nil {
		return err
	}
	d.Blocks = []Block{s.gradeBar(c), tree, why, all}
	return s.page(d)
}

// coverageTree is units by engine and chip, and within each by grade.
func coverageTree(c record.Coverage) plot.Tree {
	t := plot.Tree{ID: "coverage", Title: "Units by engine, chip and grade", Unit: "units"}
	at := map[string]int{}
	for _, r := range c.Rows {
		name := r.Engine + " on " + r.Hardware
		if _, ok := at[name]; !ok {
			at[name] = len(t.Groups)
			g := plot.Group{Name: name, Link: "chips/" + slug(r.Hardware) + "/"}
			for tone, grade := range record.Grades() {
				g.Of = append(g.Of, plot.Leaf{Name: string(grade), Tone: tone})
			}
			t.Groups = append(t.Groups, g)
		}
		for i, grade := range record.Grades() {
			t.Groups[at[name]].Of[i].Value += float64(r.ByGrade[grade])
		}
	}
	return t
}

func (s *site) backlog() error {
	d := Doc{Path: "backlog/", Title: "Backlog", Description: "What lowers coverage or grades, ranked by the points it touches.",
		Lead: "Everything that keeps a unit from being scored, or keeps its grade from being better, with the most points first. Work is chosen from the top."}
	t := &Table{Caption: "Blockers and demotions", Sortable: true, CSV: "data/tables/backlog.csv", Columns: []Column{{Label: "What"}, {Label: "Points", Num: true}, {Label: "Effect"}, {Label: "Engine"}, {Label: "Kind"}, {Label: "Detail"}, {Label: "Cleared by"}}}
	for _, e := range s.Backlog.Entries {
		what, detail := code(e.Name), e.Detail
		if e.Kind == "reason" || e.Kind == "client" { // a sentence
			what.Class = "long"
		}
		if strings.HasSuffix(e.Name, ": "+e.Detail) {
			detail = ""
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{what, text(fmt.Sprint(e.Points)), text(e.Effect), text(e.Engine), text(e.Kind), {Text: detail, Class: "wrap"}, {Text: e.Playbook, Class: "wrap", Href: e.Recipe}}})
	}
	b, err := s.table("backlog", "Entries", "", t)
	if err != nil {
		return err
	}
	d.Blocks = []Block{b}
	if most := 60; len(t.Rows) > most { // the top is what work is chosen from; the file has every entry
		rest := *t
		rest.ID, rest.Caption, rest.CSV, rest.Rows = "rest", "Further entries", "", t.Rows[most:]
		t.Rows = t.Rows[:most]
		d.Blocks = append(d.Blocks, Block{Kind: "table", ID: "rest", Title: "Further entries", Fold: true, Table: &rest})
	}
	return s.page(d)
}
