package page

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// frontier draws what a chip gives against what a user gets, measured joined and simulated dashed,
// one tone a deployment, along its sweep of concurrency.
func (s *site) frontier(id string, points []record.Point) plot.Chart {
	c := plot.Chart{ID: id, Title: "Throughput and interactivity at " + load(&points[0]) + " tokens",
		X: plot.Axis{Label: "interactivity (output tokens/s a user)"}, Y: plot.Axis{Label: "output tokens/s a chip"}}
	by := deployments(points)
	split := splitBy(points, by)
	for tone, name := range sortedKeys(split) {
		measured := plot.Series{Name: name, Kind: "measured", Joined: true, Tone: tone}
		simulated := plot.Series{Name: name, Kind: "simulated", Joined: true, Dashed: true, Tone: tone}
		for i := range split[name] {
			p := &split[name][i]
			if p.Tradeoff == nil || p.Grade == record.G5 {
				continue
			}
			add := func(to *plot.Series, o record.Operating) {
				to.Marks = append(to.Marks, plot.Mark{X: o.Interactivity, Y: o.Throughput, Link: pointPath(p),
					Text: fmt.Sprintf("%s, %s, concurrency %d\n%s output tokens/s a user, %s a chip", to.Kind, name, p.Concurrency, number(o.Interactivity), number(o.Throughput))})
			}
			add(&measured, p.Tradeoff.Measured)
			add(&simulated, p.Tradeoff.Simulated)
		}
		if len(measured.Marks) > 0 {
			c.Series = append(c.Series, measured, simulated)
		}
	}
	return c
}

// deployments names what was measured within a lane: its chips and, where they differ, its build.
func deployments(points []record.Point) func(*record.Point) string {
	if len(splitBy(points, func(p *record.Point) string { return p.EngineVersion })) < 2 {
		return chips
	}
	return func(p *record.Point) string { return fmt.Sprintf("%s, %s", chips(p), buildName(p.EngineVersion)) }
}
