package page

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// changePath is the page of what moved between two releases.
func changePath(c *record.Change) string {
	return fmt.Sprintf("releases/%s/since-%s/", c.To, c.From)
}

// buildLabel is how a build is called in a sentence.
func buildLabel(release string) string {
	if release == unreleased {
		return "this build"
	}
	return release
}

// moved is the short form of what moved since the last release, for the overview; nil without one.
func (s *site) moved() (*Block, error) {
	at := slices.IndexFunc(s.Changes, func(c record.Change) bool {
		return c.To == s.Summary.Build.Release && (len(s.Releases) == 0 || c.From == s.previous())
	})
	if at < 0 {
		return nil, nil
	}
	const title = "What moved since the last release"
	c := &s.Changes[at]
	t, err := s.laneChanges("moved", title, c.Whole, "")
	t.Title = title
	t.Note = changeLead(c)
	return &Block{Kind: "group", Blocks: []Block{t, {Kind: "links", Facts: []Fact{{Name: fmt.Sprintf("Every lane and point that moved since %s", c.From), Href: changePath(c)}, {Name: "All releases", Href: "releases/"}}}}}, err
}

// previous is the release before these scores.
func (s *site) previous() string {
	last := len(s.Releases) - 1
	if last >= 0 && s.Releases[last].Name == s.Summary.Build.Release {
		last--
	}
	if last < 0 {
		return ""
	}
	return s.Releases[last].Name
}

func changeLead(c *record.Change) string {
	return fmt.Sprintf("%s moved between %s and %s, %s did not. Figures cover the points that both grade.", plural(len(c.Points), "point"), c.From, buildLabel(c.To), count(c.Same))
}

// change is a page of every lane and point that moved between two builds.
func (s *site) change(c *record.Change) error {
	d := Doc{Path: changePath(c), Title: "What moved in " + buildLabel(c.To) + " since " + c.From, Lead: changeLead(c)}
	d.Description = d.Title + ": " + d.Lead
	id := slug(c.To + "-since-" + c.From)
	whole, err := s.laneChanges("whole", "Over all points", c.Whole, "data/changes/"+id+"-whole.csv")
	if err != nil {
		return err
	}
	lanes, err := s.laneChanges("lanes", "Lane by lane", c.Lanes, "data/changes/"+id+"-lanes.csv")
	if err != nil {
		return err
	}
	lanes.Note = "An interval is of its own line, over which deployments were measured. Better or worse is said with all lines of this page tested together, so that the chance of any false one is at most 5%: a line whose interval leaves zero out may still be not distinguished."
	covered, err := s.coverageChanges("data/changes/"+id+"-coverage.csv", c)
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, whole, covered, lanes)
	points, err := s.pointChanges(d.Path, id, c)
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, points...)
	data, err := canon.Indent(c)
	if err != nil {
		return err
	}
	if err := s.w.File("data/changes/"+id+".json", data); err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, Block{Kind: "links", ID: "files", Title: "Files", Facts: []Fact{{id + ".json", "every lane and point that moved", "data/changes/" + id + ".json"},
		{"change.schema.json", "its schema", "reference/schemas/change.schema.json"}}})
	return s.page(d)
}

// coverageChanges lists the lanes whose points or grades are others than before.
func (s *site) coverageChanges(csv string, c *record.Change) (Block, error) {
	const id, title = "coverage", "Coverage and grades, lane by lane"
	t := &Table{Caption: title, Sortable: true, CSV: csv, Columns: []Column{{Label: "Lane"}, {Label: "Points before", Num: true}, {Label: "after", Num: true},
		{Label: "Scored before", Num: true}, {Label: "after", Num: true}}}
	for _, g := range record.Grades() {
		t.Columns = append(t.Columns, Column{Label: string(g) + " before", Num: true}, Column{Label: "after", Num: true})
	}
	number := func(n int) Cell { return Cell{Text: count(n), Value: fmt.Sprint(n)} }
	for i := range c.Coverage {
		l := &c.Coverage[i]
		if !l.Moved() {
			continue
		}
		points, scored := record.Counts(l.Before)
		pointsNow, scoredNow := record.Counts(l.After)
		r := Row{Cells: []Cell{s.laneCell(l.Lane), number(points), number(pointsNow), number(scored), number(scoredNow)}}
		for _, g := range record.Grades() {
			r.Cells = append(r.Cells, number(l.Before[g]), number(l.After[g]))
		}
		t.Rows = append(t.Rows, r)
	}
	if len(t.Rows) == 0 {
		return Block{Kind: "text", ID: id, Title: title, Paragraphs: []string{"Each lane has as many points of each grade as before."}}, nil
	}
	return s.table(id, title, "A lane that is new or larger moves the figures over all points without anything being worse. Lanes that are not listed have as many points of each grade as before.", t)
}

// laneCell links a lane that has a page.
func (s *site) laneCell(lane string) Cell {
	if i := slices.IndexFunc(s.Points, func(p record.Point) bool { return p.Lane == lane }); i >= 0 {
		return link(laneName(&s.Points[i]), lanePath(lane))
	}
	return text(lane)
}

func (s *site) laneChanges(id, title string, of []record.LaneChange, csv string) (Block, error) {
	t := &Table{Caption: title, Sortable: true, CSV: csv, Columns: []Column{{Label: "Lane"}, {Label: "Metric"}, {Label: "Points", Num: true}, {Label: "Error before", Num: true}, {Label: "after", Num: true},
		{Label: "Difference", Num: true}, interval95, {Label: "Outcome"}}}
	for _, l := range of {
		lane := s.laneCell(l.Lane)
		before, _ := figureCells(l.Before)
		after, _ := figureCells(l.After)
		difference, interval := figureCells(l.Difference)
		if v, ok := l.Difference.Value(); ok {
			difference.Text = signed(v)
		}
		if low, high, ok := l.Difference.Interval(); ok {
			interval.Text = signed(low) + " to " + signed(high)
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{lane, {Text: metricName(l.Metric), Class: "metric"}, {Text: count(l.Difference.Points()), Value: fmt.Sprint(l.Difference.Points())},
			before, after, difference, interval, {Text: string(l.Outcome), Class: "outcome " + slug(string(l.Outcome))}}})
	}
	if len(of) == 0 {
		return Block{Kind: "text", ID: id, Title: title, Paragraphs: []string{"No point is graded in both."}}, nil
	}
	return s.table(id, title, "", t)
}

// pointChanges lists points that moved, the first rowsPerPage of them on the page.
func (s *site) pointChanges(path, id string, c *record.Change) ([]Block, error) {
	all := &Table{Caption: "Points that moved", Sortable: true, CSV: "data/changes/" + id + "-points.csv", Columns: []Column{{Label: "Point"}, {Label: "Lane"}, {Label: "Grade before"}, {Label: "after"}}}
	for _, m := range headlineMetrics {
		all.Columns = append(all.Columns, Column{Label: metricName(m) + " error before", Num: true}, Column{Label: "after", Num: true})
	}
	known := map[string]*record.Point{}
	for i := range s.Points {
		known[s.Points[i].UnitID] = &s.Points[i]
	}
	for i := range c.Points {
		p := &c.Points[i]
		unit := code(short(p.UnitID))
		unit.Value = p.UnitID
		if now := known[p.UnitID]; now != nil {
			unit = Cell{Text: fmt.Sprintf("%s, %s, concurrency %d", chips(now), load(now), now.Concurrency), Value: p.UnitID, Href: pointPath(now)}
		}
		r := Row{Cells: []Cell{unit, text(p.Lane), gradeOrNone(p.Before), gradeOrNone(p.After)}}
		for _, id := range headlineMetrics {
			r.Cells = append(r.Cells, movedCells(p, id)...)
		}
		all.Rows = append(all.Rows, r)
	}
	if len(all.Rows) == 0 {
		return []Block{{Kind: "text", ID: "points", Title: "Point by point", Paragraphs: []string{"No point moved."}}}, nil
	}
	note := ""
	if n := len(all.Rows); n > rowsPerPage {
		note = fmt.Sprintf("The first %s of %s; the file has them all.", count(rowsPerPage), count(n))
	}
	b, err := s.table("points", "Point by point", note, all)
	all.Rows = all.Rows[:min(len(all.Rows), rowsPerPage)]
	return []Block{b}, err
}

func gradeOrNone(g record.Grade) Cell {
	if g == "" {
		return Cell{Text: "no such unit", Class: "few"}
	}
	return gradeCell(g)
}

func movedCells(p *record.PointChange, metric string) []Cell {
	out := []Cell{{}, {}}
	i := slices.IndexFunc(p.Metrics, func(m record.MetricMoved) bool { return m.Metric == metric })
	if i < 0 {
		return out
	}
	for k, v := range []*float64{p.Metrics[i].Before, p.Metrics[i].After} {
		if v != nil {
			out[k] = Cell{Text: signed(*v), Value: raw(*v)}
		}
	}
	return out
}
