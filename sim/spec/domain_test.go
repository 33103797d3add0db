package spec_test

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func TestJudge(t *testing.T) {
	cells, err := spec.Domain()
	if err != nil || len(cells) == 0 {
		t.Fatal(len(cells), err)
	}
	c := cells[0]
	inside := func() *spec.Scenario {
		return &spec.Scenario{Engine: spec.Engine{Kind: c.Engine}, Model: c.Model, Hardware: c.Hardware, Cluster: spec.Cluster{Instances: 1},
			Workload: spec.Workload{InferenceX: &spec.InferenceX{ISL: c.Lengths[0][0], OSL: c.Lengths[0][1], Concurrency: c.Concurrency[1]}}}
	}
	other := c.Layout
	other.Pipeline += 3
	cases := []struct {
		change func(*spec.Scenario)
		want   string
	}{
		{func(*spec.Scenario) {}, "inside"},
		{func(s *spec.Scenario) { s.Model = "none" }, "outside"},
		{func(s *spec.Scenario) { s.Cluster.Instances = 2 }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX.ISL++ }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX.Concurrency++ }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX = nil }, "outside"},
	}
	for i, k := range cases {
		s := inside()
		k.change(s)
		if got, err := spec.Judge(s, c.Layout); err != nil || got.Inside != k.want || got.Statement == "" {
			t.Errorf("case %d: got %+v, %v, want %s", i, got, err, k.want)
		}
	}
	if got, err := spec.Judge(inside(), other); err != nil || got.Inside != "outside" || !strings.Contains(got.Statement, "with the layout "+other.String()) {
		t.Errorf("another layout: got %+v, %v", got, err)
	}
}
