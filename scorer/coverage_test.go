package scorer

import (
	"maps"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Each engine, release and chip has a row of its own, with its grades.
func TestCoverageHasARowForEachEngineReleaseAndChip(t *testing.T) {
	keep.Rule(t, "COV-7")
	of := func(engine, release, chip string, g record.Grade) record.Point {
		return record.Point{Engine: engine, EngineVersion: release, Hardware: chip, Grade: g}
	}
	c := Cover([]record.Point{of("b", "1", "x", record.G1), of("a", "1", "x", record.G1), of("a", "1", "x", record.G5), of("a", "1", "y", record.G1), of("a", "2", "x", record.G4)}, 5, 0)
	want := []record.CoverageRow{
		{Engine: "a", Release: "1", Hardware: "x", Units: 2, ByGrade: map[record.Grade]int{record.G1: 1, record.G5: 1}},
		{Engine: "a", Release: "1", Hardware: "y", Units: 1, ByGrade: map[record.Grade]int{record.G1: 1}},
		{Engine: "a", Release: "2", Hardware: "x", Units: 1, ByGrade: map[record.Grade]int{record.G4: 1}},
		{Engine: "b", Release: "1", Hardware: "x", Units: 1, ByGrade: map[record.Grade]int{record.G1: 1}},
	}
	if len(c.Rows) != len(want) {
		t.Fatalf("got %+v, want %+v", c.Rows, want)
	}
	for i, w := range want {
		g := c.Rows[i]
		if g.Engine != w.Engine || g.Release != w.Release || g.Hardware != w.Hardware || g.Units != w.Units || !maps.Equal(g.ByGrade, w.ByGrade) {
			t.Errorf("row %d: got %+v, want %+v", i, g, w)
		}
	}
}
