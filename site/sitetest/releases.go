package sitetest

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

// publish invents two earlier releases of in, what moved between the three, and fits.
func publish(in *page.Input) {
	in.Summary.Distances = []record.Closeness{}
	for _, a := range in.Summary.ByLane {
		if a.Metric == "ttft_mean" {
			in.Summary.Distances = append(in.Summary.Distances, record.Closeness{Group: a.Group, Mean: a.MAPE, Median: a.MedianAPE})
		}
	}
	in.Snapshots = map[string][]byte{}
	for k, name := range []string{"v0.1.0", "v0.2.0"} {
		sum := *in.Summary
		sum.Build.Release, sum.Experiment = name, ""
		points := slices.Clone(in.Points)
		for i := range points {
			points[i].Trial = nil
		}
		r := page.Release{Name: name, ID: hash(1000 + k), Summary: &sum, Points: points}
		for _, f := range []string{"points", "summary", "coverage", "backlog", "build", "stack", "snapshot"} {
			in.Snapshots[r.ID+"/"+f+".json"] = []byte("{}\n")
		}
		in.Releases = append(in.Releases, r)
	}
	in.Snapshots["index.json"] = []byte("{}\n")
	in.Changes = []record.Change{change(in, "v0.1.0", "v0.2.0"), change(in, "v0.1.0", "unreleased"), change(in, "v0.2.0", "unreleased")}
	in.Fits = new(record.Residuals)
	for i, p := range []string{"gemm", "grouped_gemm", "attention_decode", "attention_prefill", "all_reduce", "elementwise"} {
		in.Fits.Operators = append(in.Fits.Operators, record.OperatorFit{Primitive: p, Held: record.FitError{Count: 40 + i, Median: 0.02 * float64(i+1), P95: 0.05 * float64(i+1)},
			OneChipOut: record.FitError{Count: 10 * (i % 3), Median: 0.1, P95: 0.3}})
	}
	for i := range 60 {
		e := float64(i*31%41-20) / 100
		in.Fits.Runs = append(in.Fits.Runs, record.RunFit{Engine: engines[i%2], UnitID: hash(i), Lane: fmt.Sprintf("%s lane %d", engines[i%2], i%7), Metric: []string{"ttft_mean", "tpot_mean"}[i/2%2],
			Measured: 0.1, Predicted: 0.1 * (1 + e), Error: e, KVLimited: i%9 == 0})
	}
}

// change invents what moved: every fourth point a little, in the first lanes.
func change(in *page.Input, from, to string) record.Change {
	c := record.Change{Schema: record.ChangeSchema, From: from, To: to, Points: []record.PointChange{}, Lanes: []record.LaneChange{}, Whole: []record.LaneChange{}}
	for i := range in.Points {
		p := &in.Points[i]
		m, ok := p.Metrics["ttft_mean"]
		if i%4 > 0 || !ok {
			c.Same++
			continue
		}
		before := m.RelativeError * 1.2
		c.Points = append(c.Points, record.PointChange{UnitID: p.UnitID, Lane: p.Lane, Before: p.Grade, After: p.Grade, Metrics: []record.MetricMoved{{Metric: "ttft_mean", Before: &before, After: &m.RelativeError}}})
	}
	all := record.LaneCoverage{Lane: "all", Before: map[record.Grade]int{}, After: map[record.Grade]int{}}
	for i := range in.Points {
		all.After[in.Points[i].Grade]++
		if i%9 > 0 {
			all.Before[in.Points[i].Grade]++
		}
	}
	c.Coverage = []record.LaneCoverage{all}
	lane := func(name, metric string, n int, difference float64, outcome record.Outcome) record.LaneChange {
		f := func(v float64) record.Figure {
			return record.NewFigure(v, "ratio", n, name, v-0.02, v+0.02, "resampling of deployments")
		}
		return record.LaneChange{Lane: name, Metric: metric, Before: f(0.12), After: f(0.12 + difference), Difference: f(difference), Outcome: outcome}
	}
	for _, m := range []string{"ttft_mean", "tpot_mean"} {
		c.Whole = append(c.Whole, lane("G1 to G4", m, max(0, len(in.Points)-c.Same), -0.03, record.Better))
	}
	for i, a := range in.Summary.ByLane {
		d := []float64{-0.04, 0, 0.05}[i%3]
		c.Lanes = append(c.Lanes, lane(a.Group, a.Metric, a.MAPE.Points(), d, []record.Outcome{record.Better, record.NotDistinguished, record.Worse}[i%3]))
	}
	return c
}
