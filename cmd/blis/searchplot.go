package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
)

// mostArms is how many arms a panel names; the rest are in the table.
const mostArms = 16

// groups tell arms apart by tone, which also is a shape.
var groups = []struct {
	what      string
	tone      int
	standings []string
}{
	{"squares: the best", 2, []string{search.Best}},
	{"squares: on the front", 2, []string{search.Front}},
	{"dots: not told apart from it", 0, []string{search.NotTold, search.NearFront}},
	{"crosses: worse", 5, []string{search.Worse}},
	{"crosses: dominated", 5, []string{search.Dominated}},
	{"triangles: a constraint is not met", 1, []string{""}},
}

// writeSearchPlot draws a report: the ranked arms by the figure they are ranked by and,
// where there are two, the second against it above them, on one axis.
func writeSearchPlot(o *output, file string, r *search.Report) error {
	charts := []plot.Chart{listed(newArmChart(r))}
	if len(r.Inputs.Spec.Rank) == 2 {
		charts = []plot.Chart{frontier(newArmChart(r)), charts[0]}
	}
	title := fmt.Sprintf("%s: %d arms of %s", file, len(r.Arms), r.Inputs.Base.Path)
	if len(r.Order) > mostArms {
		title += fmt.Sprintf(", the best %d named", mostArms)
	}
	charts[len(charts)-1].X.Label += "\n" + marksOf(r, &charts[0])
	svg, err := plot.Stack(title, charts, plot.Light)
	if err != nil {
		return err
	}
	if _, err := o.file.Write(svg); err != nil {
		return err
	}
	return o.keep()
}

// marksOf says what the marks are, below the axis: a legend would lie on the best arms.
func marksOf(r *search.Report, c *plot.Chart) string {
	var marks []string
	for i, g := range groups {
		if len(c.Series[i].Marks) > 0 {
			marks = append(marks, g.what)
		}
	}
	if c.HasInterval() {
		marks = append(marks, "bars: "+percent(r.Comparison.Level)+" intervals")
	}
	return strings.Join(marks, "\n")
}

// armChart is a chart with a series a group.
type armChart struct {
	plot.Chart
	report *search.Report
	first  *search.Result // the best, whose figures name the axes
}

func newArmChart(r *search.Report) *armChart {
	c := &armChart{report: r, first: &r.Arms[r.Order[0]-1]}
	c.X = axisOf(&c.first.Figures[0])
	for _, g := range groups {
		c.Series = append(c.Series, plot.Series{Name: g.what, Tone: g.tone, Dashed: true}) // dashed is out of the legend
	}
	return c
}

// axisOf breaks a long label before its unit, as an upright one is no longer than its panel.
func axisOf(f *search.Figure) plot.Axis {
	name, unit := quantityName(f), " ("+f.Unit+")"
	if len(name+unit) > mostLetters {
		unit = "\n" + strings.TrimSpace(unit)
	}
	return plot.Axis{Label: name + unit}
}

// mostLetters of a name leave half the width to the marks.
const mostLetters = 48

// shortened is a name with at most mostLetters.
func shortened(name string) string {
	if letters := []rune(name); len(letters) > mostLetters {
		return string(letters[:mostLetters-1]) + "…"
	}
	return name
}

// add puts an arm at x, y with the interval of one of its figures.
func (c *armChart) add(a *search.Result, f *search.Figure, x, y float64) {
	m := plot.Mark{X: x, Y: y}
	if f.Interval != nil {
		m.Low, m.High = f.Interval.Low, f.Interval.High
	}
	for i, g := range groups {
		if slices.Contains(g.standings, a.Standing) {
			c.Series[i].Marks = append(c.Series[i].Marks, m)
		}
	}
}

// listed names arms from the top, best first, each with its place.
func listed(c *armChart) plot.Chart {
	c.ID = "arms"
	for _, choice := range c.first.Choices {
		c.Y.Label += ", " + choice.Axis
	}
	c.Y.Label = shortened("place: " + strings.TrimPrefix(c.Y.Label, ", "))
	for k, n := range c.report.Order[:min(mostArms, len(c.report.Order))] {
		a := &c.report.Arms[n-1]
		c.Y.Names = append(c.Y.Names, shortened(placeOf(c.report, a, k)+":  "+strings.Join(optionsOf(a), ", ")))
		c.add(a, &a.Figures[0], a.Figures[0].Value, float64(k))
	}
	return c.Chart
}

// frontier sets the first figure of every arm against the second; arms that miss a
// constraint are shown apart.
func frontier(c *armChart) plot.Chart {
	c.ID, c.Y = "front", axisOf(&c.first.Figures[1])
	put := func(a *search.Result) { c.add(a, &a.Figures[1], a.Figures[0].Value, a.Figures[1].Value) }
	for _, n := range c.report.Order { // the front in the order of its first figure, to be joined
		put(&c.report.Arms[n-1])
	}
	for i := range c.report.Arms {
		if a := &c.report.Arms[i]; a.Standing == "" && len(a.Figures) > 1 {
			put(a)
		}
	}
	c.Series[1].Joined = true
	return c.Chart
}
