package page

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
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
	CSV, JSON    string
	Table        *Table // of a chart few enough to read; nil where a page holds the values
}

// chart writes the files of c and returns its block.
func (s *site) chart(c plot.Chart) (Block, error) {
	b := Block{Kind: "chart", ID: c.ID, Title: c.Title, Chart: &Chart{ID: strings.ReplaceAll(c.ID, ".", "_")}}
	if n := c.Count(); n < record.MinPoints {
		b.Chart.Few = fmt.Sprintf("too few points (%d): a picture takes %d", n, record.MinPoints)
		return b, nil
	}
	option, tones, err := option(c)
	if err != nil {
		return b, fmt.Errorf("chart %s: %w", c.ID, err)
	}
	base := "charts/" + c.ID
	b.Chart.Tones, b.Chart.Height = tones, plot.Height(c)
	b.Chart.Alt = fmt.Sprintf("%s: %s against %s, %d marks", c.Title, c.Y.Label, c.X.Label, c.Count())
	b.Chart.Caption = caption(c)
	b.Chart.Light, b.Chart.Dark, b.Chart.CSV, b.Chart.JSON = base+"-light.svg", base+"-dark.svg", base+".csv", base+".json"
	for _, t := range []plot.Theme{plot.Light, plot.Dark} {
		svg, err := plot.SVG(c, t)
		if err != nil {
			return b, err
		}
		if err := s.w.File(base+"-"+t.Name+".svg", svg); err != nil {
			return b, err
		}
	}
	b.Chart.Option = base + ".option.json" // not in the page: a reader without scripts need not carry it
	if err := s.w.File(b.Chart.Option, option); err != nil {
		return b, err
	}
	rows, err := chartCSV(c)
	if err != nil {
		return b, err
	}
	doc, err := json.Marshal(c.Data())
	if err != nil {
		return b, err
	}
	if err := s.w.File(b.Chart.CSV, rows); err != nil {
		return b, err
	}
	return b, s.w.File(b.Chart.JSON, doc)
}

// pair draws one chart a headline metric, side by side.
func (s *site) pair(draw func(metric string) plot.Chart) (Block, error) {
	pair := Block{Kind: "pair"}
	for _, m := range headlineMetrics {
		b, err := s.chart(draw(m))
		if err != nil {
			return pair, err
		}
		pair.Blocks = append(pair.Blocks, b)
	}
	return pair, nil
}

func caption(c plot.Chart) string {
	said := plural(c.Count(), "point")
	left := 0
	for _, s := range c.Series {
		left += len(s.Marks)
	}
	if left -= c.Count(); left > 0 {
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
	if slices.ContainsFunc(c.Series, func(s plot.Series) bool { return s.Dashed }) {
		said += "; solid lines are measured, dashed ones simulated"
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
		if !s.Dashed {
			names = append(names, s.Name)
		}
		tone = append(tone, fmt.Sprint(s.Tone))
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

func chartCSV(c plot.Chart) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write([]string{"series", "kind", c.X.Label, c.Y.Label, "page"}); err != nil {
		return nil, err
	}
	for _, s := range c.Series {
		for _, m := range s.Marks {
			y := raw(m.Y)
			if len(c.Y.Names) > 0 {
				y = c.Y.Names[int(m.Y)]
			}
			if err := w.Write([]string{s.Name, s.Kind, raw(m.X), y, m.Link}); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
