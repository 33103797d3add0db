package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Chart is a drawn plot.Chart: its option for the live renderer, its pictures and its data.
type Chart struct {
	ID           string
	Few          string // why there is no picture; the rest is then empty
	Caption, Alt string
	Option       string // file of the ECharts option
	Tones        string // colour of each series, -1 for a reference line
	Light, Dark  string
	Height       int
	Tall         bool // rows of a fixed height
	Marks        int  // that a renderer draws
	CSV, JSON    string
	Table        *Table // of a chart few enough to read; nil where a page holds the values
	List         string // that page, or empty
	Rows         int    // of its files
}

// chart writes the files of c and returns its block. list is the page that lists its marks, or empty: a chart of few has a
// table of its own.
func (s *site) chart(c plot.Chart, list string) (Block, error) {
	b := Block{Kind: "chart", ID: c.ID, Title: c.Title, Chart: &Chart{ID: strings.ReplaceAll(c.ID, ".", "_")}}
	if b.Chart.Few = few(c); b.Chart.Few != "" {
		return b, nil
	}
	live, tones, err := option(c)
	if err != nil {
		return b, fmt.Errorf("chart %s: %w", c.ID, err)
	}
	b.Chart.Tones, b.Chart.Height, b.Chart.Tall, b.Chart.Marks = tones, plot.Height(c), len(c.Y.Names) > 0, c.Count()
	b.Chart.Alt = fmt.Sprintf("%s: %s against %s, %d marks", c.Title, c.Y.Label, c.X.Label, c.Count())
	b.Chart.Caption = caption(c)
	t := chartTable(c)
	rows, err := t.csv()
	if err != nil {
		return b, err
	}
	b.Chart.Rows = len(t.Rows)
	if n := b.Chart.Rows; n <= readable || list == "" && n <= longest {
		b.Chart.Table = t
	} else {
		b.Chart.List = list
	}
	return b, s.chartFiles(b.Chart, c.ID, live, rows, c.Data(), func(t plot.Theme) ([]byte, error) { return plot.SVG(c, t) })
}

// readable is the most rows of a table under a chart whose marks another page lists, longest that of any other. What is
// longer is the file.
const readable, longest = 48, 400

// few says why a picture of c would be a picture of nothing, or "".
func few(c plot.Chart) string {
	switch n, _ := points(c); {
	case len(c.X.Names) == 1:
		return "one release so far: a history takes two"
	case len(c.X.Names) == 0 && n < record.MinPoints:
		return fmt.Sprintf("too few points (%d): a picture takes %d", n, record.MinPoints)
	case n == 0:
		return "no figure to draw"
	}
	return ""
}

// chartFiles writes a picture for each theme, the option for the script, and the data.
func (s *site) chartFiles(c *Chart, id string, option, rows []byte, data plot.Data, draw func(plot.Theme) ([]byte, error)) error {
	base := "charts/" + id
	c.Light, c.Dark, c.CSV, c.JSON = base+"-light.svg", base+"-dark.svg", base+".csv", base+".json"
	c.Option = base + ".option.json" // not in the page: a reader without scripts need not carry it
	doc, err := json.Marshal(data)
	if err != nil {
		return err
	}
	for _, t := range []plot.Theme{plot.Light, plot.Dark} {
		svg, err := draw(t)
		if err != nil {
			return err
		}
		if err := s.w.File(base+"-"+t.Name+".svg", svg); err != nil {
			return err
		}
	}
	return errors.Join(s.w.File(c.Option, option), s.w.File(c.CSV, rows), s.w.File(c.JSON, doc))
}

// tree writes the files of t and returns its block. Its tones are the grades'.
func (s *site) tree(t plot.Tree) (Block, error) {
	b := Block{Kind: "chart", ID: t.ID, Title: t.Title, Chart: &Chart{ID: t.ID, Height: plot.TreeHeight, Tones: "0"}}
	if t.Count() == 0 {
		b.Chart.Few = "nothing to draw"
		return b, nil
	}
	type node struct {
		Name     string  `json:"name"`
		Value    float64 `json:"value,omitempty"`
		Tone     int     `json:"tone"`
		Link     string  `json:"link,omitempty"`
		Children []node  `json:"children,omitempty"`
	}
	var nodes []node
	table := &Table{ID: "c-" + t.ID, Caption: t.Title, Sortable: true, Columns: []Column{{Label: "Group"}, {Label: "Part"}, {Label: t.Unit, Num: true}}}
	for _, g := range t.Groups {
		n := node{Name: g.Name, Link: g.Link}
		for _, l := range g.Of {
			if l.Value > 0 {
				n.Children = append(n.Children, node{Name: l.Name, Value: l.Value, Tone: l.Tone, Link: g.Link})
				table.Rows = append(table.Rows, row(g.Name, l.Name, raw(l.Value)))
			}
		}
		nodes = append(nodes, n)
	}
	live, err := json.Marshal(map[string]any{"series": []any{map[string]any{"type": "treemap", "data": nodes}}})
	if err != nil {
		return b, err
	}
	rows, err := table.csv()
	if err != nil {
		return b, err
	}
	b.Chart.Marks, b.Chart.Table = t.Count(), table
	b.Chart.Alt = fmt.Sprintf("%s: %d areas of %s", t.Title, t.Count(), t.Unit)
	b.Chart.Caption = fmt.Sprintf("An area is as large as its number of %s.", t.Unit)
	return b, s.chartFiles(b.Chart, t.ID, live, rows, t.Data(), t.SVG)
}

// pair draws one chart a headline metric, side by side. list is the page that lists their marks, as in chart.
func (s *site) pair(list string, draw func(metric string) plot.Chart) (Block, error) {
	pair := Block{Kind: "pair"}
	for _, m := range headlineMetrics {
		b, err := s.chart(draw(m), list)
		if err != nil {
			return pair, err
		}
		pair.Blocks = append(pair.Blocks, b)
	}
	return pair, nil
}

// repeats is whether a series holds the simulated marks of points that another has as measured.
func repeats(s plot.Series) bool { return s.Joined && s.Dashed }

// points are those of c, each counted once, and how many more a logarithmic axis has no place for.
func points(c plot.Chart) (shown, left int) {
	for _, s := range c.Series {
		if repeats(s) {
			continue
		}
		for _, m := range s.Marks {
			if c.Drawable(m) {
				shown++
			} else {
				left++
			}
		}
	}
	return shown, left
}

func caption(c plot.Chart) string {
	shown, left := points(c)
	said := plural(shown, "point")
	if left > 0 {
		said += fmt.Sprintf(" (%d more have no place on a logarithmic axis)", left)
	}
	var bands []string
	for _, r := range c.Ratios {
		bands = append(bands, fmt.Sprintf("±%g%%", 100*r))
	}
	for _, t := range c.Tolerances { // of axes in percent
		bands = append(bands, fmt.Sprintf("±%g%%", t))
	}
	if len(bands) > 0 {
		said += "; the solid line is agreement, dashed lines are " + strings.Join(bands, " and ")
	}
	if slices.ContainsFunc(c.Series, repeats) {
		said += "; solid lines and filled marks are measured, dashed lines and hollow marks simulated"
	}
	if c.Whiskers != "" {
		said += "; " + c.Whiskers
	}
	return said + "."
}

// option renders c with go-echarts. Colours are the page's: they follow the theme.
func option(c plot.Chart) (option []byte, tones string, err error) {
	var series charts.MultiSeries
	var names, tone []string
	for _, s := range c.Series {
		kind, data := "scatter", []any{}
		for _, m := range s.Marks {
			if c.Drawable(m) {
				data = append(data, opts.ScatterData{Name: cmp.Or(m.Text, s.Name), Value: []any{m.X, m.Y, m.Link}})
			}
		}
		one := charts.SingleSeries{Name: s.Name, Data: data}
		if s.Joined {
			kind = "line"
			one.LineStyle = &opts.LineStyle{Width: 1.6}
			if s.Dashed {
				one.LineStyle.Type = "dashed"
			}
		}
		one.Type = kind
		series = append(series, one)
		if whiskers := intervals(c, s); whiskers != nil {
			series = append(series, charts.SingleSeries{Name: c.Interval, Type: "line", Data: whiskers, Symbol: "none", LineStyle: &opts.LineStyle{Width: 1.2}})
			tone = append(tone, fmt.Sprint(s.Tone))
		}
		if !s.Dashed {
			names = append(names, s.Name)
		}
		tone = append(tone, fmt.Sprint(s.Tone))
	}
	if c.Interval != "" && c.HasInterval() {
		names = append(names, c.Interval)
	}
	for i, ends := range plot.References(c) {
		dash := "dashed"
		if i == 0 {
			dash = "solid"
		}
		series = append(series, charts.SingleSeries{Type: "line", Data: []any{[]float64{ends[0].X, ends[0].Y}, []float64{ends[1].X, ends[1].Y}},
			Symbol: "none", LineStyle: &opts.LineStyle{Width: 1, Type: dash}})
		tone = append(tone, "-1")
	}
	x, y := axes(c)
	option, err = json.Marshal(map[string]any{
		"ticks":  c.X.Ticks, // for the page's script: go-echarts has no name for them
		"legend": map[string]any{"data": names, "show": len(names) > 1}, "grid": grid(c, len(names)),
		"xAxis": []opts.XAxis{x}, "yAxis": []opts.YAxis{y}, "series": series,
	})
	return option, strings.Join(tone, ","), err
}

// intervals is a line from the low to the high end of each mark that has them, with gaps between.
func intervals(c plot.Chart, s plot.Series) []any {
	var line []any
	for _, m := range s.Marks {
		if m.Interval() && c.Drawable(m) {
			ends := c.Whisker(m)
			line = append(line, []any{ends[0].X, ends[0].Y}, []any{ends[1].X, ends[1].Y}, []any{ends[1].X, nil})
		}
	}
	return line
}

func grid(c plot.Chart, names int) opts.Grid {
	g := opts.Grid{Top: "16", Bottom: "48", Left: "64", Right: "24"}
	if names > 1 { // room for the legend, three names a line
		g.Top = fmt.Sprint(24 + 16*((names+2)/3))
	}
	if len(c.Y.Names) > 0 {
		g.Left = "8"
		g.ContainLabel = opts.Bool(true)
	}
	return g
}

func axes(c plot.Chart) (opts.XAxis, opts.YAxis) {
	lo, hi := c.Bounds()
	x := opts.XAxis{Name: c.X.Label, Type: axisType(c.X), Data: nil, Min: lo.X, Max: hi.X, SplitLine: &opts.SplitLine{Show: opts.Bool(true)}}
	y := opts.YAxis{Name: c.Y.Label, Type: axisType(c.Y), Min: lo.Y, Max: hi.Y, NameGap: 44}
	if len(c.X.Names) > 0 {
		x.Data, x.Min, x.Max = c.X.Names, nil, nil
		x.AxisLabel = &opts.AxisLabel{Interval: "0"}
	}
	if len(c.Y.Names) > 0 {
		y.Data, y.Min, y.Max = c.Y.Names, nil, nil
		y.AxisLabel = &opts.AxisLabel{Interval: "0"}
	}
	return x, y
}

func axisType(a plot.Axis) string {
	switch {
	case len(a.Names) > 0:
		return "category"
	case a.Log:
		return "log"
	}
	return "value"
}

// chartTable lists every mark of c, those a log axis cannot show included.
func chartTable(c plot.Chart) *Table {
	intervals := c.HasInterval()
	t := &Table{ID: "c-" + c.ID, Caption: c.Title, Columns: []Column{{Label: "Series"}, {Label: "Kind"}, {Label: c.X.Label, Num: len(c.X.Names) == 0}, {Label: c.Y.Label, Num: len(c.Y.Names) == 0}}}
	if intervals {
		t.Columns = append(t.Columns, Column{Label: "low", Num: true}, Column{Label: "high", Num: true})
	}
	t.Columns = append(t.Columns, Column{Label: "page"})
	value := func(v float64) Cell { return Cell{Text: number(v), Value: raw(v)} }
	place := func(a plot.Axis, v float64) Cell {
		if len(a.Names) > 0 {
			return text(a.Names[int(v)])
		}
		return value(v)
	}
	for _, s := range c.Series {
		for _, m := range s.Marks {
			r := Row{Cells: []Cell{text(s.Name), text(s.Kind), place(c.X, m.X), place(c.Y, m.Y)}}
			switch {
			case m.Interval():
				r.Cells = append(r.Cells, value(m.Low), value(m.High))
			case intervals:
				r.Cells = append(r.Cells, Cell{}, Cell{})
			}
			page := Cell{Value: m.Link}
			if m.Link != "" {
				page = Cell{Text: "open", Value: m.Link, Href: m.Link}
			}
			t.Rows = append(t.Rows, Row{Cells: append(r.Cells, page)})
		}
	}
	return t
}
