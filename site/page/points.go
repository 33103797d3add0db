package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// points writes the explorer and one page a point, with the point's own document beside it.
func (s *site) points() error {
	if err := s.explorer(); err != nil {
		return err
	}
	for i := range s.Points {
		if err := s.point(&s.Points[i]); err != nil {
			return fmt.Errorf("point %s: %w", s.Points[i].UnitID, err)
		}
	}
	return nil
}

func (s *site) pointFile(p *record.Point) error {
	doc, err := json.Marshal(record.PointFile{Point: p, Trial: p.Trial}) // not canon: nothing hashes it alone, and there are many
	if err != nil {
		return err
	}
	return s.w.File(pointPath(p)+"point.json", doc)
}

func (s *site) point(p *record.Point) error {
	if err := s.pointFile(p); err != nil {
		return err
	}
	d := Doc{Path: pointPath(p), Title: fmt.Sprintf("%s, %s tokens, concurrency %d", deployment(p), load(p), p.Concurrency), LinkTitle: short(p.UnitID),
		Lead: verdict(p)}
	d.Description = fmt.Sprintf("%s %s: %s", p.Engine, d.Title, d.Lead)
	d.Blocks = append(d.Blocks, Block{Kind: "facts", Facts: identity(p)}, comparison(p))
	if rerunnable(p) {
		d.Blocks = append(d.Blocks, s.rerunBlock(p))
		if s.Simulator != "" {
			d.View = "rerun"
		}
	}
	d.Blocks = append(d.Blocks, s.reproduce(p), grade(p))
	d.Blocks = append(d.Blocks, differences(p)...)
	if p.Trial != nil {
		d.Blocks = append(d.Blocks, trial(p.Trial)...)
	}
	d.Blocks = append(d.Blocks, s.inEachRelease(p)...)
	return s.page(d)
}

func verdict(p *record.Point) string {
	if p.Grade == record.G5 {
		return fmt.Sprintf("Not scored: %s.", reasonTexts[p.Reason])
	}
	var said []string
	for _, id := range headlineMetrics {
		if m, ok := p.Metrics[id]; ok {
			said = append(said, fmt.Sprintf("%s %s", metricName(id), signed(m.RelativeError)))
		}
	}
	return fmt.Sprintf("Simulated against measured: %s. Grade %s, %s.", strings.Join(said, ", "), p.Grade, gradeNames[p.Grade])
}

func identity(p *record.Point) []Fact {
	facts := []Fact{
		{Name: "Engine", Value: p.Engine, Href: "engines/" + slug(p.Engine) + "/"}, {Name: "Measured on build", Value: p.EngineVersion},
		{Name: "Model", Value: p.Model, Href: "models/" + slug(p.Model) + "/"}, {Name: "Precision", Value: p.Precision},
		{Name: "Chips", Value: chips(p), Href: "chips/" + slug(p.Hardware) + "/"}, {Name: "Prompt → output", Value: load(p) + " tokens"},
		{Name: "Concurrency", Value: fmt.Sprint(p.Concurrency)}, {Name: "Lane", Value: p.Lane, Href: lanePath(p.Lane)},
		{Name: "Unit", Value: p.UnitID},
	}
	if p.Trial != nil && p.Trial.Simulated != "" {
		facts = append(facts, Fact{Name: "Simulated build", Value: p.Trial.Simulated})
	}
	return facts
}

func comparison(p *record.Point) Block {
	b := Block{Kind: "table", ID: "comparison", Title: "Measured beside simulated", Table: &Table{ID: "comparison", Caption: "Measured beside simulated", Columns: []Column{
		{Label: "Metric"}, {Label: "Measured", Num: true}, {Label: "Simulated", Num: true}, {Label: "Error", Num: true}, {Label: "Spread of repeated runs", Num: true}, {Label: "Interval of the simulated figure"}}}}
	ids := sortedKeys(p.Metrics)
	slices.SortStableFunc(ids, func(a, b string) int { return metricRank(a) - metricRank(b) })
	for _, id := range ids {
		m := p.Metrics[id]
		measured, unit := quantity(m.Measured, m.Unit)
		name := metricName(id)
		if unit != "" {
			name += " (" + unit + ")"
		}
		r := row(name, measured, "", "", "", "")
		r.ID = id
		simulated, _ := quantity(m.Simulated, m.Unit)
		r.Cells[2], r.Cells[3], r.Cells[5] = text(simulated), text(signed(m.RelativeError)), Cell{Text: m.Interval, Class: "wrap"}
		r.Cells[4] = text("not repeated")
		if m.Noise != nil {
			r.Cells[4] = text(percent(*m.Noise))
		}
		b.Table.Rows = append(b.Table.Rows, r)
	}
	if len(p.Metrics) == 0 {
		return Block{Kind: "text", ID: b.ID, Title: b.Title, Paragraphs: []string{"Nothing to compare: the unit was not simulated."}}
	}
	return b
}

func grade(p *record.Point) Block {
	b := Block{Kind: "table", ID: "grade", Title: fmt.Sprintf("Grade %s: %s", p.Grade, gradeNames[p.Grade]),
		Note:  cmp.Or(p.Detail, "A condition that fails keeps the point from the grade it guards and from every better one."),
		Table: &Table{ID: "grade", Caption: "Conditions of the grades", Columns: []Column{{Label: "Condition"}, {Label: "Guards"}, {Label: "Held"}, {Label: "Because"}}}}
	if p.Reason != "" {
		b.Note = fmt.Sprintf("%s: %s. %s", strings.ReplaceAll(string(p.Reason), "_", " "), reasonTexts[p.Reason], p.Detail)
	}
	for _, c := range p.Conditions {
		held := Cell{Text: "held", Class: "held"}
		if !c.Held {
			held = Cell{Text: "failed", Class: "failed"}
		}
		b.Table.Rows = append(b.Table.Rows, Row{Cells: []Cell{text(c.Name), gradeCell(c.Grade), held, {Text: c.Detail, Class: "wrap"}}})
	}
	if len(p.Conditions) == 0 {
		b.Kind, b.Table, b.Paragraphs = "text", nil, []string{"No condition was evaluated."}
	}
	return b
}

func differences(p *record.Point) []Block {
	var out []Block
	// A condition that failed says its difference in the table of conditions.
	further := slices.DeleteFunc(slices.Clone(p.Differences), func(d string) bool {
		return slices.ContainsFunc(p.Conditions, func(c record.Condition) bool { return !c.Held && c.Detail == d })
	})
	if len(further) > 0 {
		out = append(out, Block{Kind: "text", ID: "differences", Title: "What else differs from the measured run", Items: further})
	}
	if p.Trial == nil || len(p.Trial.Estimates) == 0 {
		return out
	}
	t := &Table{ID: "estimates", Caption: "Estimates", Columns: []Column{{Label: "Field"}, {Label: "Recorded"}, {Label: "Rule"}, {Label: "Stood in"}, {Label: "Exact"}, {Label: "Why"}}}
	for _, e := range p.Trial.Estimates {
		exact := "no"
		if e.Exact {
			exact = "yes"
		}
		recorded := e.Recorded
		if recorded == "" {
			recorded = "not recorded"
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{code(e.Field), code(recorded), text(e.Rule), code(e.StoodIn), text(exact), {Text: e.Reason, Class: "wrap"}}})
	}
	return append(out, Block{Kind: "table", ID: "estimates", Title: "Estimates and stand-ins", Note: "Each takes the place of a value the run did not record, or of a setting the engine does not model.", Table: t})
}

func (s *site) reproduce(p *record.Point) Block {
	does := "simulates this one unit and writes its point.json"
	if p.Grade == record.G5 {
		does = "reads this one unit, finds the same reason not to score it and writes its point.json; nothing is simulated"
	}
	file := pointPath(p) + "point.json"
	return Block{Kind: "code", ID: "reproduce", Title: "Reproduce this point",
		Note: fmt.Sprintf("In a checkout of the source at revision %s. The first command %s. The second, with this page's point.json saved beside, "+
			"is silent when every byte is the same.", s.Summary.Build.Commit, does),
		Code:  []string{"go run ./cmd/blis-score --units " + p.UnitID + " --records-only --out point", "cmp point/" + file + " point.json"},
		Facts: []Fact{{"point.json", "all that this page says, as a file", file}}}
}
