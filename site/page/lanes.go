package page

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// rowsPerPage is the most rows a page carries as plain HTML; the rest follow on numbered pages.
const rowsPerPage = 500

func (s *site) lanes() error {
	all, err := s.laneTable("all-lanes", s.Points)
	if err != nil {
		return err
	}
	d := Doc{Path: "lanes/", Title: "Lanes", Section: true, Description: "Every engine, model, chip and precision that was measured.",
		Lead: "A lane is one engine serving one model at one precision on one chip. Its points differ in load and layout."}
	strips, err := s.pair("points/", s.strip)
	if err != nil {
		return err
	}
	d.Blocks = []Block{all, strips}
	distances, err := s.distances()
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, distances...)
	if err := s.page(d); err != nil {
		return err
	}
	split := splitBy(s.Points, func(p *record.Point) string { return p.Lane })
	for _, lane := range sortedKeys(split) {
		if err := s.lane(lane, split[lane]); err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
	}
	return nil
}

// strip shows the error of every point, one row a lane.
func (s *site) strip(metric string) plot.Chart {
	c := plot.Chart{ID: "strip-" + metric, Title: "Error of " + metricName(metric) + " in each lane",
		X: plot.Axis{Label: "error (%)"}, Tolerances: []float64{10, 25}}
	row := map[string]int{}
	for i := range s.Points {
		p := &s.Points[i]
		if _, ok := p.Metrics[metric]; ok && p.Grade != record.G5 {
			if _, ok := row[p.Lane]; !ok {
				row[p.Lane] = len(c.Y.Names)
				c.Y.Names = append(c.Y.Names, laneName(p))
			}
		}
	}
	c.Series = s.series(s.Points, metric, byEngine, func(p *record.Point, m record.Metric) (float64, float64) {
		return m.RelativeError * 100, float64(row[p.Lane])
	})
	return c
}

func (s *site) lane(lane string, points []record.Point) error {
	p := &points[0]
	head := Doc{Path: lanePath(lane), Title: fmt.Sprintf("%s on %s, %s, %s", modelName(p.Model), p.Hardware, p.Engine, p.Precision), LinkTitle: laneName(p), Section: true,
		Lead: fmt.Sprintf("%s, %s graded.", plural(len(points), "unit"), count(graded(points)))}
	head.Description = head.Title + ": " + head.Lead
	head.Blocks = append(head.Blocks,
		Block{Kind: "figures", ID: "accuracy", Title: "Accuracy", Note: accuracyNote, Figures: figuresOf(s.Summary.ByLane, lane)},
		Block{Kind: "links", Facts: []Fact{
			{Name: "Engine: " + p.Engine, Href: "engines/" + slug(p.Engine) + "/"}, {Name: "Model: " + p.Model, Href: "models/" + slug(p.Model) + "/"},
			{Name: "Chip: " + p.Hardware, Href: "chips/" + slug(p.Hardware) + "/"}}})
	charts, err := s.curves(lane, points)
	if err != nil {
		return err
	}
	for from := 0; from < len(points); from += rowsPerPage {
		d := head
		part := points[from:min(from+rowsPerPage, len(points))]
		if from > 0 {
			n := from/rowsPerPage + 1
			d = Doc{Path: fmt.Sprintf("%s%d/", head.Path, n), Title: fmt.Sprintf("%s, part %d", head.Title, n)}
			d.Description = fmt.Sprintf("%s: units %s to %s of %s.", d.Title, count(from+1), count(from+len(part)), count(len(points)))
		}
		t, err := s.pointTable(fmt.Sprintf("%s-%d", slug(lane), from/rowsPerPage+1), part)
		if err != nil {
			return err
		}
		d.Blocks = append(d.Blocks, t)
		if from == 0 {
			d.Blocks = append(d.Blocks, s.moreParts(head.Path, len(points))...)
			d.Blocks = append(d.Blocks, charts...)
		}
		if err := s.page(d); err != nil {
			return err
		}
	}
	return nil
}

// distances are how far apart the latency distributions are, where the source records percentiles.
func (s *site) distances() ([]Block, error) {
	if len(s.Summary.Distances) == 0 {
		return nil, nil
	}
	t := &Table{Caption: "Distribution distance", Sortable: true, CSV: "data/tables/distances.csv", Columns: []Column{{Label: "Group"}, {Label: "Points", Num: true}, {Label: "Mean", Num: true}, interval95, {Label: "Median", Num: true}}}
	for _, c := range s.Summary.Distances {
		mean, interval := figureCells(c.Mean)
		median, _ := figureCells(c.Median)
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(c.Group), text(fmt.Sprint(c.Mean.Points())), mean, interval, median}})
	}
	b, err := s.table("distances", "Distribution distance", "The largest relative error over the median, the 90th and the 99th percentile of TTFT and TPOT.", t)
	return []Block{b}, err
}

func (s *site) moreParts(path string, n int) []Block {
	var facts []Fact
	for part := 2; (part-1)*rowsPerPage < n; part++ {
		facts = append(facts, Fact{Name: fmt.Sprintf("Part %d of the points", part), Href: fmt.Sprintf("%s%d/", path, part)})
	}
	if facts == nil {
		return nil
	}
	return []Block{{Kind: "links", Facts: facts}}
}

func (s *site) pointTable(id string, points []record.Point) (Block, error) {
	t := &Table{Caption: "Points", Sortable: true, CSV: "data/tables/points-" + id + ".csv", Columns: []Column{
		{Label: "Prompt→output", Unit: "tokens"}, {Label: "Concurrency", Num: true}, {Label: "Chips", Num: true}, {Label: "Grade"}}}
	for _, m := range headlineMetrics {
		n := strings.TrimSuffix(metricName(m), " mean")
		t.Columns = append(t.Columns, Column{Label: n + " measured", Unit: "ms", Num: true}, Column{Label: "simulated", Unit: "ms", Num: true}, Column{Label: "error", Num: true})
	}
	t.Columns = append(t.Columns, Column{Label: "Engine build"})
	for i := range points {
		p := &points[i]
		r := Row{ID: "u-" + p.UnitID, Cells: []Cell{{Text: load(p), Value: fmt.Sprintf("%d %d", p.ISL, p.OSL), Href: pointPath(p)}, text(fmt.Sprint(p.Concurrency)),
			chipCount(p), gradeCell(p.Grade)}}
		for _, m := range headlineMetrics {
			r.Cells = append(r.Cells, comparisonCells(p, m)...)
		}
		r.Cells = append(r.Cells, text(buildName(p.EngineVersion)))
		t.Rows = append(t.Rows, r)
	}
	return s.table("points", "Points", "Latencies are means over the requests of a run.", t)
}

// chipCount is "–" where no launch says how many chips a run had.
func chipCount(p *record.Point) Cell {
	if p.GPUs == 0 {
		return Cell{Text: "–", Value: "0"}
	}
	return text(fmt.Sprint(p.GPUs))
}

// comparisonCells are measured, simulated and error of a metric; empty where there is none.
func comparisonCells(p *record.Point, metric string) []Cell {
	latency := func(seconds float64) Cell { return Cell{Text: aligned(metric, seconds), Value: raw(seconds)} }
	if m, ok := p.Metrics[metric]; ok {
		return []Cell{latency(m.Measured), latency(m.Simulated), {Text: signed(m.RelativeError), Value: raw(m.RelativeError)}}
	}
	if v, ok := p.Measured[metric]; ok {
		return []Cell{latency(v), {}, {}}
	}
	return []Cell{{}, {}, {}}
}

// curves draws latency against concurrency, measured joined and simulated dashed, one chart a
// load and metric, one tone a deployment.
func (s *site) curves(lane string, points []record.Point) ([]Block, error) {
	var blocks, frontiers []Block
	var without []string
	loads := splitBy(points, func(p *record.Point) string { return fmt.Sprintf("%07d-%07d", p.ISL, p.OSL) })
	for _, key := range sortedKeys(loads) {
		of := loads[key]
		if n := graded(of); n < record.MinPoints { // this few are better read in the table
			without = append(without, fmt.Sprintf("%s tokens: %s, and a picture takes %d", load(&of[0]), plural(n, "graded point"), record.MinPoints))
			continue
		}
		b, err := s.pair(lanePath(lane)+"#points", func(m string) plot.Chart {
			return s.curve(fmt.Sprintf("%s-%d-%d-%s", slug(lane), of[0].ISL, of[0].OSL, m), m, of)
		})
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
		f, err := s.chart(s.frontier(fmt.Sprintf("%s-%d-%d-frontier", slug(lane), of[0].ISL, of[0].OSL), of), lanePath(lane)+"#points")
		if err != nil {
			return nil, err
		}
		frontiers = append(frontiers, f)
	}
	if frontiers != nil {
		blocks = append(blocks, Block{Kind: "pair", ID: "frontiers", Title: "What a chip gives against what a user gets", Blocks: frontiers,
			Note: "Up and to the right is better. Each line is one deployment, from few users to many. Both sides are derived from mean latencies, as the source records no throughput."})
	}
	if without != nil {
		blocks = append(blocks, Block{Kind: "text", ID: "without", Title: "Loads without a chart", Items: without})
	}
	return blocks, nil
}

func (s *site) curve(id, metric string, points []record.Point) plot.Chart {
	c := plot.Chart{ID: id, Title: metricName(metric) + " at " + load(&points[0]) + " tokens",
		X: concurrency(points), Y: plot.Axis{Label: metricName(metric) + " (ms, log scale)", Log: true}}
	by := deployments(points)
	measured := s.series(points, metric, by, func(p *record.Point, m record.Metric) (float64, float64) {
		return float64(p.Concurrency), m.Measured * 1000
	})
	noisy(&c, measured, points, metric, func(m *plot.Mark, noise float64) (at, half float64) { return m.Y, m.Y * noise })
	simulated := s.series(points, metric, by, func(p *record.Point, m record.Metric) (float64, float64) {
		return float64(p.Concurrency), m.Simulated * 1000
	})
	for i := range measured {
		m, z := measured[i], simulated[i]
		m.Joined, z.Joined, z.Dashed = true, true, true
		m.Kind, z.Kind = "measured", "simulated"
		c.Series = append(c.Series, m, z)
	}
	return c
}
