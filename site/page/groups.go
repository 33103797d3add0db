package page

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// grouping is one way of splitting the points: a list page and a page a group.
type grouping struct {
	path, title, one, lead string
	column                 string // of the explorer
	of                     func(*record.Point) string
	accuracy               []record.Accuracy
}

// show is a group's name in headings.
func (g grouping) show(name string) string {
	switch g.one {
	case "model":
		return modelName(name)
	case "engine":
		return engineName(name)
	}
	return name
}

func (s *site) groups() error {
	for _, g := range []grouping{
		{"engines", "Engines", "engine", "How close the simulation is for each serving engine.", "engine", byEngine, s.Summary.ByEngine},
		{"chips", "Chips", "chip", "How close the simulation is on each accelerator.", "hardware", func(p *record.Point) string { return p.Hardware }, s.Summary.ByChip},
		{"models", "Models", "model", "How close the simulation is for each model.", "model", func(p *record.Point) string { return p.Model }, s.Summary.ByModel},
	} {
		if err := s.grouping(g); err != nil {
			return fmt.Errorf("%s: %w", g.path, err)
		}
	}
	return nil
}

func (s *site) grouping(g grouping) error {
	split := splitBy(s.Points, g.of)
	list := Doc{Path: g.path + "/", Title: g.title, Section: true, Lead: g.lead, Description: g.lead}
	names, err := s.countTable(g, split)
	if err != nil {
		return err
	}
	acc, err := s.accuracy("by-"+g.one, title(g.one), "Accuracy", "Over the graded points of each.", g.accuracy, func(name string) string { return g.path + "/" + slug(name) + "/" })
	if err != nil {
		return err
	}
	list.Blocks = []Block{acc, names}
	if err := s.page(list); err != nil {
		return err
	}
	for _, name := range sortedKeys(split) {
		if err := s.group(g, name, split[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) group(g grouping, name string, points []record.Point) error {
	id := g.one + "-" + slug(name)
	d := Doc{Path: g.path + "/" + slug(name) + "/", Title: g.show(name),
		Lead: fmt.Sprintf("%s, %s graded.", plural(len(points), "unit"), count(graded(points)))}
	d.Description = name + ": " + d.Lead
	d.Blocks = append(d.Blocks, Block{Kind: "figures", ID: "accuracy", Title: "Accuracy", Note: accuracyNote, Figures: figuresOf(g.accuracy, name)})
	for _, draw := range []func(metric string) plot.Chart{
		func(m string) plot.Chart {
			return s.scatter(id+"-"+m, "Measured and simulated "+metricName(m), m, points, byGrade)
		},
		func(m string) plot.Chart {
			return s.againstLoad(id+"-load-"+m, "Error of "+metricName(m)+" against concurrency", m, points, byGrade)
		},
	} {
		b, err := s.pair("points/?"+g.column+"="+url.QueryEscape(modelName(name)), draw)
		if err != nil {
			return err
		}
		d.Blocks = append(d.Blocks, b)
	}
	lanes, err := s.laneTable(id+"-lanes", points)
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, lanes)
	if g.one == "engine" {
		d.Blocks = append(d.Blocks, s.modelled(name)...)
	}
	return s.page(d)
}

func byGrade(p *record.Point) string { return string(p.Grade) + " " + gradeNames[p.Grade] }

// againstLoad sets the signed error against concurrency.
func (s *site) againstLoad(id, title, metric string, points []record.Point, by func(*record.Point) string) plot.Chart {
	c := plot.Chart{ID: id, Title: title, X: concurrency(points), Y: plot.Axis{Label: "error (%)"}, Tolerances: []float64{10, 25}}
	c.Series = s.series(points, metric, by, func(p *record.Point, m record.Metric) (float64, float64) {
		return float64(p.Concurrency), m.RelativeError * 100
	})
	noisy(&c, c.Series, points, metric, func(m *plot.Mark, noise float64) (at, half float64) { return m.Y, 100 * noise })
	return c
}

// noisy gives the marks of series the noise of their measurement, around at and as far as half to each side, and says of
// how many of them it is known.
func noisy(c *plot.Chart, series []plot.Series, points []record.Point, metric string, where func(m *plot.Mark, noise float64) (at, half float64)) {
	noise := map[string]float64{} // by the page a mark leads to
	for i := range points {
		if m := points[i].Metrics[metric]; m.Noise != nil {
			noise[pointPath(&points[i])] = *m.Noise
		}
	}
	known, all := 0, 0
	for _, of := range series {
		all += len(of.Marks)
		for i := range of.Marks {
			if m := &of.Marks[i]; noise[m.Link] > 0 {
				at, half := where(m, noise[m.Link])
				m.Low, m.High = at-half, at+half
				known++
			}
		}
	}
	c.Interval = "spread of repeated runs"
	if c.Whiskers = "no run was repeated, so no noise is known"; known > 0 {
		c.Whiskers = fmt.Sprintf("a bar is the spread of repeated runs (largest less smallest) to either side, known for %s of %s measured points", count(known), count(all))
	}
}

// concurrency is an axis labelled at the levels that were measured, or at the powers of two among many.
func concurrency(points []record.Point) plot.Axis {
	a := plot.Axis{Label: "concurrency", Log: true}
	for i := range points {
		a.Ticks = append(a.Ticks, float64(points[i].Concurrency))
	}
	slices.Sort(a.Ticks)
	if a.Ticks = slices.Compact(a.Ticks); len(a.Ticks) > 12 {
		a.Ticks = slices.DeleteFunc(a.Ticks, func(v float64) bool { return v != math.Exp2(math.Round(math.Log2(v))) })
	}
	return a
}

// accuracyNote says what the figures of a group are.
const accuracyNote = "Of the errors of each graded run's mean latency: their mean size, and their mean with the sign, positive where the simulation is slower."

// ofRuns names a mean over the requests of a run.
func ofRuns(metric string) string {
	return "Mean " + strings.TrimSuffix(metricName(metric), " mean")
}

// figuresOf are the headline figures of a group; "" takes every group of all.
func figuresOf(all []record.Accuracy, group string) []Figure {
	var out []Figure
	for _, id := range headlineMetrics {
		for _, a := range all {
			if (a.Group == group || group == "") && a.Metric == id {
				out = append(out, figure(ofRuns(id)+", absolute error", a.MAPE), bias(ofRuns(id)+", bias", a.Bias))
			}
		}
	}
	if out == nil {
		out = []Figure{{Name: "Mean absolute error", Value: "no figure", Few: true, Count: "no point of this group is graded"}}
	}
	return out
}

func graded(points []record.Point) int {
	n := 0
	for i := range points {
		if points[i].Grade != record.G5 {
			n++
		}
	}
	return n
}

func splitBy(points []record.Point, of func(*record.Point) string) map[string][]record.Point {
	split := map[string][]record.Point{}
	for i := range points {
		k := of(&points[i])
		split[k] = append(split[k], points[i])
	}
	return split
}

// countTable counts each group's units by grade.
func (s *site) countTable(g grouping, split map[string][]record.Point) (Block, error) {
	t := &Table{Caption: "Units of each " + g.one, Sortable: true, CSV: "data/tables/units-by-" + g.one + ".csv", Columns: gradeColumns(Column{Label: title(g.one)})}
	for _, name := range sortedKeys(split) {
		t.Rows = append(t.Rows, gradeRow([]Cell{link(g.show(name), g.path+"/"+slug(name)+"/")}, countGrades(split[name])))
	}
	return s.table("units", "Units", "How many units of each "+g.one+" got each grade.", t)
}

func title(s string) string { return string(s[0]-'a'+'A') + s[1:] }

func gradeColumns(lead ...Column) []Column {
	lead = append(lead, Column{Label: "Units", Num: true}, Column{Label: "Graded", Num: true})
	for _, g := range record.Grades() {
		lead = append(lead, Column{Label: string(g), Num: true})
	}
	return lead
}

func gradeRow(lead []Cell, by map[record.Grade]int) Row {
	units := 0
	for _, g := range record.Grades() {
		units += by[g]
	}
	num := func(n int) Cell {
		if n == 0 {
			return Cell{Text: "0", Class: "zero"}
		}
		return text(fmt.Sprint(n))
	}
	lead = append(lead, num(units), num(units-by[record.G5]))
	for _, g := range record.Grades() {
		lead = append(lead, num(by[g]))
	}
	return Row{Cells: lead}
}

func countGrades(points []record.Point) map[record.Grade]int {
	by := map[record.Grade]int{}
	for i := range points {
		by[points[i].Grade]++
	}
	return by
}

// laneTable lists the lanes that points fall in.
func (s *site) laneTable(id string, points []record.Point) (Block, error) {
	split := splitBy(points, func(p *record.Point) string { return p.Lane })
	t := &Table{Caption: "Lanes", Sortable: true, CSV: "data/tables/" + id + ".csv",
		Columns: []Column{{Label: "Model"}, {Label: "Chip"}, {Label: "Engine"}, {Label: "Precision"}}}
	for _, m := range headlineMetrics {
		t.Columns = append(t.Columns, Column{Label: metricName(m) + " error", Num: true})
	}
	t.Columns = gradeColumns(t.Columns...)
	names := sortedKeys(split)
	slices.SortStableFunc(names, func(a, b string) int { // what has a figure comes first
		p, q := &split[a][0], &split[b][0]
		return cmp.Or(min(graded(split[b]), 1)-min(graded(split[a]), 1), cmp.Compare(strings.ToLower(modelName(p.Model)), strings.ToLower(modelName(q.Model))), cmp.Compare(p.Hardware, q.Hardware))
	})
	for _, lane := range names {
		p := &split[lane][0]
		lead := []Cell{link(modelName(p.Model), lanePath(lane)), text(p.Hardware), text(p.Engine), text(p.Precision)}
		for _, m := range headlineMetrics {
			lead = append(lead, s.laneError(lane, m))
		}
		t.Rows = append(t.Rows, gradeRow(lead, countGrades(split[lane])))
	}
	return s.table("lanes", "Lane by lane", "A row is a lane; its model opens it. The error is the mean absolute one over its graded points. G1 to G4 say how alike the comparison is, G5 that there is none.", t)
}

func (s *site) laneError(lane, metric string) Cell {
	i := slices.IndexFunc(s.Summary.ByLane, func(a record.Accuracy) bool { return a.Group == lane && a.Metric == metric })
	if i < 0 {
		return Cell{}
	}
	value, _ := figureCells(s.Summary.ByLane[i].MAPE)
	return value
}
