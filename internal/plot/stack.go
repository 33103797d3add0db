package plot

import (
	"errors"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Stack draws charts of one x axis under each other on white, under a title: one range
// of x for all, and their axes in line. A chart with no mark is left out; one must have some.
func Stack(title string, charts []Chart, t Theme) ([]byte, error) {
	var rows [][]*plot.Plot
	for _, c := range charts {
		if c.Count() == 0 {
			continue
		}
		p, err := build(c, t)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []*plot.Plot{p})
	}
	if len(rows) == 0 {
		return nil, errors.New(title + ": no mark to draw")
	}
	first := rows[0][0]
	first.Title.Text, first.Title.TextStyle.Color = title, hex(t.Ink)
	lo, hi := first.X.Min, first.X.Max
	for _, r := range rows {
		lo, hi = min(lo, r[0].X.Min), max(hi, r[0].X.Max)
	}
	for _, r := range rows {
		r[0].X.Min, r[0].X.Max = lo, hi
	}
	canvas := newCanvas(width, height*vg.Length(len(rows)))
	paper := draw.New(canvas)
	paper.SetColor(color.White)
	paper.Fill(paper.Rectangle.Path())
	for i, tile := range plot.Align(rows, draw.Tiles{Rows: len(rows), Cols: 1, PadTop: vg.Points(6), PadBottom: vg.Points(4), PadLeft: vg.Points(6), PadRight: vg.Points(14), PadY: vg.Points(6)}, paper) {
		rows[i][0].Draw(tile[0])
	}
	return write(canvas)
}
