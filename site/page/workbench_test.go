package page_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// TestWorkbenchStartsFromEachSimulatedLane: one lane's points were simulated, and one unit, its
// errors and what they rest on are in a file that its schema describes.
func TestWorkbenchStartsFromEachSimulatedLane(t *testing.T) {
	in := sitetest.Release(120)
	lane := ""
	units := map[string]bool{}
	for i := range in.Points {
		p := &in.Points[i]
		if p.Grade == record.G5 || lane != "" && p.Lane != lane {
			continue
		}
		lane, units[p.UnitID] = p.Lane, true
		p.Trial.Scenario, p.Trial.Result = &spec.Scenario{Engine: spec.Engine{Kind: p.Engine}, Model: p.Model, Hardware: p.Hardware}, &spec.Result{}
	}
	file := build(t, in).files["data/workbench.json"]
	if err := validate(t, "workbench", file); err != nil {
		t.Error(err)
	}
	if err := validate(t, "workbench", bytes.Replace(file, []byte(`"unit":`), []byte(`"units":`), 1)); err == nil {
		t.Error("the schema accepts another key")
	}
	var got record.Workbench
	if err := json.Unmarshal(file, &got); err != nil || len(got.Lanes) != 1 {
		t.Fatalf("got %d lanes, %v, want the one that was simulated", len(got.Lanes), err)
	}
	if l := got.Lanes[0]; !units[l.Unit] || got.Default != l.Unit || len(l.Errors) != 2 || len(l.Points) != len(units) || l.Errors[0].Rests == "" || l.Engine == "" {
		t.Errorf("got %+v, want a unit of %s with every point, two errors and what they rest on", got, lane)
	}
}
