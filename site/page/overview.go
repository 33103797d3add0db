package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// overview is the home page: how close, over how many points, how many are scored, how closely
// each resembles what was measured, and what it all rests on.
func (s *site) overview() error {
	d := Doc{
		Title: "How close is the simulator?", Section: true,
		Lead: "BLIS simulates LLM serving clusters: vLLM and SGLang decide step by step as the real engines do, and a cost model prices " +
			"each step. Here every simulation stands beside the benchmark run it predicts.",
		Description: "Simulated latency of LLM serving beside measured benchmark runs, with counts, intervals and every difference named.",
	}
	var err error
	if d.Dataset, err = s.dataset(); err != nil {
		return err
	}
	bar := s.gradeBar(s.Summary.Coverage)
	bar.Facts = append(bar.Facts, Fact{"Why the rest are not scored", "", "coverage/"})
	d.Blocks = append(d.Blocks,
		Block{Kind: "figures", ID: "headline", Title: "How far off the latency is",
			Note: "TTFT is the time to the first token, TPOT the time for each one after it. The absolute error is the mean size of the error over every graded run, lower is closer; bias keeps the sign, positive where the simulation is slower.", Figures: figuresOf(s.Summary.Headline, "")},
		s.ways(), s.find(), bar)
	moved, err := s.moved()
	if err != nil {
		return err
	}
	if moved != nil {
		d.Blocks = append(d.Blocks, *moved)
	}
	for _, draw := range []func(metric string) plot.Chart{
		func(m string) plot.Chart {
			return s.scatter("scatter-"+m, "Measured and simulated "+metricName(m), m, s.Points, byEngine)
		},
		func(m string) plot.Chart {
			return s.againstLoad("load-"+m, "Error of "+metricName(m)+" against concurrency", m, s.Points, byEngine)
		},
	} {
		b, err := s.pair("points/", draw)
		if err != nil {
			return err
		}
		d.Blocks = append(d.Blocks, b)
	}
	grades, err := s.accuracy("each-grade", "Grade", "Each grade on its own", "How much of the headline rests on close comparisons. “Outside noise” counts an error within the spread of repeated runs as none; bias and spread are of the signed errors.", s.Summary.ByGrade, nil)
	if err != nil {
		return err
	}
	engines, err := s.accuracy("each-engine", "Engine", "Each engine", "", s.Summary.ByEngine, func(g string) string { return "engines/" + slug(g) + "/" })
	if err != nil {
		return err
	}
	bands, err := s.accuracy("each-concurrency", "Concurrency", "By concurrency", "", s.Summary.ByBand, nil)
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, grades, engines, bands, s.build())
	return s.page(d)
}

// gradeBar shows how many units got each grade; the parts make up every unit.
func (s *site) gradeBar(c record.Coverage) Block {
	var parts []Part
	var sizes []float64
	for _, g := range record.Grades() {
		n := c.ByGrade[g]
		parts = append(parts, Part{Name: string(g) + " " + gradeNames[g], Value: share(n, c.Units), Tone: gradeTone(g)})
		sizes = append(sizes, float64(n))
	}
	b := Block{Kind: "bar", ID: "grades", Title: "How closely each comparison matches what was measured",
		Note: fmt.Sprintf("%s graded of %s; the rest are listed with the reason. %s read from the source, %s left out by the ledger.",
			share(c.Graded, c.Units), plural(c.Units, "unit"), plural(c.Records, "record"), count(c.LeftOut))}
	if c.Units == 0 {
		return Block{Kind: "text", ID: b.ID, Title: b.Title, Paragraphs: []string{"No unit was scored."}}
	}
	var said []string
	for _, p := range parts {
		said = append(said, p.Name+" "+p.Value)
	}
	b.Bar = newBar("Units by grade: "+strings.Join(said, ", "), parts, sizes)
	b.Facts = []Fact{{"What a grade means", "", "method/#grades"}}
	return b
}

// build says what made the figures.
func (s *site) build() Block {
	b := s.Summary.Build
	facts := []Fact{{Name: "Release", Value: b.Release}, {Name: "Source revision", Value: b.Commit}, {Name: "Toolchain", Value: b.Toolchain}}
	for _, kind := range sortedKeys(b.Engines) {
		facts = append(facts, Fact{Name: "Modelled " + kind, Value: b.Engines[kind], Href: "method/#upstreams"})
	}
	facts = append(facts, Fact{Name: "Catalog", Value: short(b.Catalog)}, Fact{Name: "Coefficients", Value: short(b.Registry)}, Fact{Name: "Ledger", Value: short(b.Ledger)})
	return Block{Kind: "facts", ID: "rests-on", Title: "What every figure here rests on", Facts: facts}
}

func short(hash string) string {
	if len(hash) > 16 {
		return hash[:16] + "…"
	}
	return hash
}

// accuracy is a table of accuracies, one row a group and metric; one is what a group is.
func (s *site) accuracy(id, one, title, note string, of []record.Accuracy, href func(group string) string) (Block, error) {
	t := &Table{Caption: title, Sortable: true, CSV: "data/tables/" + id + ".csv", Columns: []Column{
		{Label: one}, {Label: "Metric"}, {Label: "Points", Num: true}, {Label: "Mean absolute error", Num: true}, interval95,
		{Label: "Outside noise", Num: true}, {Label: "Median absolute error", Num: true}, {Label: "Bias", Num: true}, {Label: "Spread", Num: true}}}
	of = slices.Clone(of)
	slices.SortStableFunc(of, func(a, b record.Accuracy) int {
		return cmp.Or(leading(a.Group)-leading(b.Group), cmp.Compare(strings.ToLower(modelName(a.Group)), strings.ToLower(modelName(b.Group))), metricRank(a.Metric)-metricRank(b.Metric))
	})
	for _, a := range of {
		group := text(modelName(a.Group))
		if href != nil {
			group.Href = href(a.Group)
		}
		mape, interval := figureCells(a.MAPE)
		counted, _ := figureCells(a.CountedMAPE)
		median, _ := figureCells(a.MedianAPE)
		off, _ := figureCells(a.Bias)
		if v, ok := a.Bias.Value(); ok {
			off.Text = withSign(v, a.Bias.Unit())
		}
		spread, _ := figureCells(a.Spread)
		r := Row{Cells: []Cell{group, {Text: metricName(a.Metric), Class: "metric"}, {Text: count(a.MAPE.Points()), Value: fmt.Sprint(a.MAPE.Points())},
			mape, interval, counted, median, off, spread}}
		if _, ok := a.MAPE.Value(); !ok { // said once a row
			for i := range r.Cells[5:] {
				r.Cells[5+i] = Cell{}
			}
		}
		t.Rows = append(t.Rows, r)
	}
	if len(of) == 0 {
		return Block{Kind: "text", ID: id, Title: title, Paragraphs: []string{"No graded point, so no figure."}}, nil
	}
	return s.table(id, title, note, t)
}

// metricRank puts the headline's metrics before any other, in its order.
func metricRank(id string) int {
	if i := slices.Index(headlineMetrics, id); i >= 0 {
		return i
	}
	return len(headlineMetrics)
}

// leading is the number a name begins with, or 0: bands of concurrency stand in order.
func leading(name string) int {
	n := 0
	for _, r := range name {
		if r < '0' || r > '9' {
			break
		}
		n = 10*n + int(r-'0')
	}
	return n
}

// dataset is the JSON-LD description of the data.
func (s *site) dataset() (string, error) {
	type distribution struct {
		Type   string `json:"@type"`
		Format string `json:"encodingFormat"`
		URL    string `json:"contentUrl"`
	}
	data, err := json.Marshal(struct {
		Context      string         `json:"@context"`
		Type         string         `json:"@type"`
		Name         string         `json:"name"`
		Description  string         `json:"description"`
		Version      string         `json:"version"`
		License      string         `json:"license"`
		Measured     []string       `json:"variableMeasured"`
		Distribution []distribution `json:"distribution"`
	}{"https://schema.org", "Dataset", "BLIS accuracy: simulated and measured LLM serving latency",
		"One record a benchmark run: its configuration, the measured and the simulated latency, the grade of the comparison and every difference.",
		s.Summary.Build.Release, "https://www.apache.org/licenses/LICENSE-2.0", headlineMetrics,
		[]distribution{{"DataDownload", "application/json", s.Home + "data/points.json"}, {"DataDownload", "text/csv", s.Home + "data/points.csv"}}})
	return string(data), err
}

// scatter sets measured against simulated, one series an engine or whatever tone splits by.
func (s *site) scatter(id, title, metric string, points []record.Point, by func(*record.Point) string) plot.Chart {
	name := metricName(metric)
	c := plot.Chart{ID: id, Title: title, Ratios: []float64{0.10, 0.25},
		X: plot.Axis{Label: "measured " + name + " (ms)", Log: true}, Y: plot.Axis{Label: "simulated " + name + " (ms)", Log: true}}
	c.Series = s.series(points, metric, by, func(p *record.Point, m record.Metric) (float64, float64) {
		return m.Measured * 1000, m.Simulated * 1000
	})
	c.Sideways = true // the measurement has noise, the simulation none
	noisy(&c, c.Series, points, metric, func(m *plot.Mark, noise float64) (at, half float64) { return m.X, m.X * noise })
	return c
}

func byEngine(p *record.Point) string { return p.Engine }

// series splits graded points that have the metric by name, names in order.
func (s *site) series(points []record.Point, metric string, by func(*record.Point) string, at func(*record.Point, record.Metric) (x, y float64)) []plot.Series {
	marks := map[string][]plot.Mark{}
	for i := range points {
		p := &points[i]
		m, ok := p.Metrics[metric]
		if !ok || p.Grade == record.G5 {
			continue
		}
		x, y := at(p, m)
		say, unit := quantity(m.Measured, m.Unit)
		sim, _ := quantity(m.Simulated, m.Unit)
		marks[by(p)] = append(marks[by(p)], plot.Mark{X: x, Y: y, Link: pointPath(p),
			Text: fmt.Sprintf("%s, %s, %s, concurrency %d\nmeasured %s %s, simulated %s %s, error %s", p.Engine, deployment(p), load(p), p.Concurrency, say, unit, sim, unit, signed(m.RelativeError))})
	}
	var out []plot.Series
	for i, name := range sortedKeys(marks) {
		out = append(out, plot.Series{Name: name, Tone: i, Marks: marks[name]})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
