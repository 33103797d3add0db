package page

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// unreleased is the name of scores that belong to no release.
const unreleased = "unreleased"

// BuildName is how a build is called at the start of a sentence.
func BuildName(release string) string {
	if release == unreleased {
		return "Unreleased build"
	}
	return "Release " + release
}

// history draws a metric's published errors, release after release, with their intervals; these
// scores come last when they are not one of the releases.
func (s *site) history(metric string) plot.Chart {
	c := plot.Chart{ID: "history-" + metric, Title: "Mean absolute error of " + metricName(metric) + ", by release", Y: plot.Axis{Label: "mean absolute error (%)"},
		X: plot.Axis{Label: "release"}, Interval: "95% interval", Whiskers: "a vertical line is the 95% interval over which deployments were measured"}
	summaries := make([]*record.Summary, 0, len(s.Releases)+1)
	for _, r := range s.Releases {
		summaries = append(summaries, r.Summary)
	}
	if s.Summary.Build.Release == unreleased {
		summaries = append(summaries, s.Summary)
	}
	series := map[string]*plot.Series{}
	for i, sum := range summaries {
		c.X.Names = append(c.X.Names, buildLabel(sum.Build.Release))
		for _, a := range slices.Concat(sum.Headline, sum.ByEngine) {
			v, ok := a.MAPE.Value()
			if a.Metric != metric || !ok {
				continue
			}
			if series[a.Group] == nil {
				series[a.Group] = &plot.Series{Name: a.Group, Joined: true}
			}
			m := plot.Mark{X: float64(i), Y: 100 * v, Text: fmt.Sprintf("%s, %s\n%s", sum.Build.Release, a.Group, a.MAPE)}
			if low, high, ok := a.MAPE.Interval(); ok {
				m.Low, m.High = 100*low, 100*high
			}
			if i < len(s.Releases) {
				m.Link = "releases/" + s.Releases[i].Name + "/"
			}
			series[a.Group].Marks = append(series[a.Group].Marks, m)
		}
	}
	for tone, name := range sortedKeys(series) {
		series[name].Tone = tone
		c.Series = append(c.Series, *series[name])
	}
	return c
}

// inEachRelease is what a point was in every release, and is now.
func (s *site) inEachRelease(p *record.Point) []Block {
	if len(s.Releases) == 0 {
		return nil
	}
	t := &Table{ID: "history", Caption: "This point in each release", Columns: []Column{{Label: "Release"}, {Label: "Grade"}}}
	for _, m := range headlineMetrics {
		t.Columns = append(t.Columns, Column{Label: metricName(m) + " simulated", Unit: "ms", Num: true}, Column{Label: "error", Num: true})
	}
	add := func(name, href string, p *record.Point) {
		r := Row{Cells: []Cell{link(name, href), gradeCell(p.Grade)}}
		for _, m := range headlineMetrics {
			r.Cells = append(r.Cells, comparisonCells(p, m)[1:]...)
		}
		t.Rows = append(t.Rows, r)
	}
	for i := range s.Releases {
		r := &s.Releases[i]
		if at, ok := r.at[p.UnitID]; ok {
			add(r.Name, "releases/"+r.Name+"/", &r.Points[at])
		}
	}
	if s.Summary.Build.Release == unreleased {
		add(buildLabel(unreleased), "", p)
	}
	return []Block{{Kind: "table", ID: "history", Title: "In each release", Table: t}}
}
