package scorer

import (
	"cmp"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Cover counts points by grade and reason, and by engine, engine release and
// chip. records and leftOut come from the ledger's ingest report (COV-7).
func Cover(points []record.Point, records, leftOut int) record.Coverage {
	c := record.Coverage{Records: records, LeftOut: leftOut, Units: len(points), ByGrade: map[record.Grade]int{}, ByReason: map[record.Reason]int{}, Rows: []record.CoverageRow{}}
	rows := map[[3]string]*record.CoverageRow{}
	for i := range points {
		p := &points[i]
		c.ByGrade[p.Grade]++
		if p.Grade == record.G5 {
			c.ByReason[p.Reason]++
		} else {
			c.Graded++
		}
		k := [3]string{p.Engine, p.EngineVersion, p.Hardware}
		if rows[k] == nil {
			rows[k] = &record.CoverageRow{Engine: p.Engine, Release: p.EngineVersion, Hardware: p.Hardware, ByGrade: map[record.Grade]int{}}
		}
		rows[k].Units++
		rows[k].ByGrade[p.Grade]++
	}
	for _, r := range rows { //determinism:any-order sorted below
		c.Rows = append(c.Rows, *r)
	}
	slices.SortFunc(c.Rows, func(a, b record.CoverageRow) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Release, b.Release), cmp.Compare(a.Hardware, b.Hardware))
	})
	return c
}
