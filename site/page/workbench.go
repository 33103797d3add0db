package page

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// workbench writes the page on which a reader changes a measured unit's scenario.
func (s *site) workbench() error {
	b := record.Workbench{Schema: record.WorkbenchSchema, Lanes: []record.WorkbenchLane{}}
	most := 0
	for from := 0; from < len(s.Points); {
		to := from + 1
		for to < len(s.Points) && s.Points[to].Lane == s.Points[from].Lane {
			to++
		}
		if points := slices.DeleteFunc(slices.Clone(s.Points[from:to]), func(p record.Point) bool { return !rerunnable(&p) }); len(points) > 0 {
			l := s.benchLane(points)
			b.Lanes = append(b.Lanes, l)
			if len(points) > most {
				most, b.Default = len(points), l.Unit
			}
		}
		from = to
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := s.w.File("data/workbench.json", data); err != nil {
		return err
	}
	return s.page(s.benchPage(len(b.Lanes)))
}

// benchLane sums up a lane's simulated points.
func (s *site) benchLane(points []record.Point) record.WorkbenchLane {
	p := &points[len(points)/2]
	sc := p.Trial.Scenario
	l := record.WorkbenchLane{Name: laneName(p), Href: lanePath(p.Lane), Unit: p.UnitID, Engine: sc.Engine.Kind, Model: sc.Model, Checkpoint: sc.Checkpoint,
		Hardware: sc.Hardware, Covers: span(points), Errors: []record.WorkbenchError{}}
	for i := range points {
		q := &points[i]
		l.Points = append(l.Points, record.WorkbenchPoint{Unit: q.UnitID, Concurrency: q.Concurrency, ISL: q.ISL, OSL: q.OSL})
	}
	for _, id := range headlineMetrics {
		for _, a := range s.Summary.ByLane {
			if a.Group == p.Lane && a.Metric == id {
				f := figure("Mean absolute error of "+metricName(id), a.MAPE)
				l.Errors = append(l.Errors, record.WorkbenchError{Name: f.Name, Value: f.Value, Few: f.Few, Interval: f.Interval, Rests: f.Count + " · " + f.Scope, Covers: f.Covers})
			}
		}
	}
	return l
}

// span says between which loads points lie.
func span(points []record.Point) string {
	low, high := points[0], points[0]
	for _, p := range points {
		low.Concurrency, high.Concurrency = min(low.Concurrency, p.Concurrency), max(high.Concurrency, p.Concurrency)
		low.ISL, high.ISL = min(low.ISL, p.ISL), max(high.ISL, p.ISL)
		low.OSL, high.OSL = min(low.OSL, p.OSL), max(high.OSL, p.OSL)
		low.GPUs, high.GPUs = min(low.GPUs, p.GPUs), max(high.GPUs, p.GPUs)
	}
	return fmt.Sprintf("%s at %s, %s, prompts of %s, outputs of %s", plural(len(points), "measured point"), between("concurrency", low.Concurrency, high.Concurrency),
		between("chips", low.GPUs, high.GPUs), tokens(low.ISL, high.ISL), tokens(low.OSL, high.OSL))
}

func between(name string, low, high int) string {
	if low == high {
		return fmt.Sprintf("%s %s", name, count(low))
	}
	return fmt.Sprintf("%s %s to %s", name, count(low), count(high))
}

func tokens(low, high int) string {
	if low == high {
		return count(low) + " tokens"
	}
	return fmt.Sprintf("%s to %s tokens", count(low), count(high))
}

// exampleScenario is a scenario a reader can save as it stands.
const exampleScenario = `schema: blis.scenario/1
engine: {kind: vllm, version: %s, args: {tensor-parallel-size: 1}}
model: llama-3.1-8b
hardware: h100_sxm
workload:
  inferencex: {release: %s, isl: 1024, osl: 128, range_ratio: 0.8, num_prompts: 80, concurrency: 8}
`

func (s *site) benchPage(lanes int) Doc {
	d := Doc{Path: "workbench/", Title: "Workbench", View: "workbench", Description: "Change a measured deployment and see what the simulator expects.",
		Lead: "Start from a measured deployment, change its load, layout, chip, model or engine settings, and see what the simulator expects. What no measured point has is an extrapolation; the error in the measured lane of that engine, model and chip stands beside it."}
	if s.Simulator == "" || lanes == 0 {
		d.View = ""
	}
	d.Blocks = []Block{{Kind: "workbench"},
		{Kind: "text", ID: "read", Title: "How to read it", Items: []string{
			"The simulator runs in this browser. Nothing is sent anywhere, and the address holds what you changed.",
			"A lane's error is over its measured points. A change that leaves their loads, chips or settings rests on the cost model alone, and may be further off.",
			"An argument the simulator does not model is refused, never ignored. The refusal says what would be accepted.",
			"The figures are of one run of a closed loop with the lengths and the number of requests that are stated.",
		}},
		{Kind: "code", ID: "local", Title: "The same without a browser", Note: "In a checkout of the source. Save as scenario.yaml, or take the scenario this page shows; the Result is the same, byte for byte.",
			Code: []string{fmt.Sprintf(exampleScenario, s.Summary.Build.Engines["vllm"], spec.ClientInferenceX), "go run ./cmd/blis run scenario.yaml"}},
		{Kind: "links", ID: "choose", Title: "Many at once", Facts: []Fact{choosing}}}
	return d
}
