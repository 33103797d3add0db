package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	width  = 7.2 * vg.Inch
	height = 4.0 * vg.Inch
	// rowHeight is what one category of a category axis takes.
	rowHeight = 0.24 * vg.Inch
)

// SVG draws the chart on a transparent ground.
// It refuses a chart with no mark to draw: an empty picture says nothing.
func SVG(c Chart, t Theme) ([]byte, error) {
	if c.Count() == 0 {
		return nil, fmt.Errorf("chart %s: no mark to draw", c.ID)
	}
	p := frame(c, t)
	lo, hi := c.bounds()
	if err := addReferences(p, c, t, lo, hi); err != nil {
		return nil, err
	}
	for _, s := range c.Series {
		if err := addSeries(p, c, s, t); err != nil {
			return nil, fmt.Errorf("chart %s: series %s: %w", c.ID, s.Name, err)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo.X, hi.X, lo.Y, hi.Y
	h := height
	if n := len(c.Y.Names); n > 0 {
		h = vg.Length(n)*rowHeight + 1.2*vg.Inch
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, h), vgsvg.EmbedFonts(false))
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	// The reader's machine need not have the font gonum measured with.
	return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}

func frame(c Chart, t Theme) *plot.Plot {
	p := plot.New()
	ink := hex(t.Ink)
	p.BackgroundColor = color.Transparent
	p.Title.Text = ""
	p.Legend.Top = true
	p.Legend.TextStyle.Color = ink
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
	p.Legend.TextStyle.Font = sans
	for _, a := range []struct {
		axis *plot.Axis
		of   Axis
	}{{&p.X, c.X}, {&p.Y, c.Y}} {
		a.axis.Label.Text = a.of.Label
		a.axis.Label.TextStyle.Color, a.axis.Tick.Label.Color = ink, ink
		a.axis.Label.TextStyle.Font, a.axis.Tick.Label.Font = sans, sans
		a.axis.LineStyle.Color, a.axis.Tick.LineStyle.Color = hex(t.Rule), hex(t.Rule)
		switch {
		case len(a.of.Names) > 0:
			a.axis.Tick.Marker = names(a.of.Names)
		case a.of.Log:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, decades{}
		}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = hex(t.Rule), hex(t.Rule)
	grid.Vertical.Width, grid.Horizontal.Width = vg.Points(0.4), vg.Points(0.4)
	p.Add(grid)
	return p
}

// bounds is the smallest box with some air that holds every mark and, where a tolerance lies
// just outside, that tolerance.
func (c Chart) bounds() (lo, hi plotter.XY) {
	lo, hi = plotter.XY{X: math.Inf(1), Y: math.Inf(1)}, plotter.XY{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, s := range c.Series {
		for _, m := range s.Marks {
			if c.Drawable(m) {
				lo = plotter.XY{X: min(lo.X, m.X), Y: min(lo.Y, m.Y)}
				hi = plotter.XY{X: max(hi.X, m.X), Y: max(hi.Y, m.Y)}
			}
		}
	}
	if len(c.Ratios) > 0 { // one scale for both, so that y = x is the diagonal
		lo.X = min(lo.X, lo.Y)
		hi.X = max(hi.X, hi.Y)
		lo.Y, hi.Y = lo.X, hi.X
	}
	for _, t := range c.Tolerances {
		lo.Y, hi.Y = min(lo.Y, -t), max(hi.Y, t)
	}
	lo.X, hi.X = air(c.X, lo.X, hi.X)
	lo.Y, hi.Y = air(c.Y, lo.Y, hi.Y)
	return lo, hi
}

func air(a Axis, lo, hi float64) (float64, float64) {
	switch {
	case len(a.Names) > 0:
		return -0.6, float64(len(a.Names)) - 0.4
	case a.Log:
		return lo / 1.25, hi * 1.25
	case hi == lo:
		return lo - 1, hi + 1
	}
	return lo - 0.04*(hi-lo), hi + 0.04*(hi-lo)
}

func addReferences(p *plot.Plot, c Chart, t Theme, lo, hi plotter.XY) error {
	line := func(ends plotter.XYs, width float64, dashes ...vg.Length) error {
		l, err := plotter.NewLine(ends)
		if err != nil {
			return err
		}
		l.Color, l.Width, l.Dashes = hex(t.Ink), vg.Points(width), dashes
		p.Add(l)
		return nil
	}
	diagonal := func(f float64) plotter.XYs {
		return plotter.XYs{{X: max(lo.X, lo.Y/f), Y: max(lo.X, lo.Y/f) * f}, {X: min(hi.X, hi.Y/f), Y: min(hi.X, hi.Y/f) * f}}
	}
	level := func(y float64) plotter.XYs { return plotter.XYs{{X: lo.X, Y: y}, {X: hi.X, Y: y}} }
	shape, tolerances, none := diagonal, c.Ratios, 1.0
	if len(c.Tolerances) > 0 {
		shape, tolerances, none = level, c.Tolerances, 0
	}
	for i, r := range tolerances {
		if i == 0 {
			if err := line(shape(none), 0.8); err != nil {
				return err
			}
		}
		dash := vg.Points(float64(6 - 3*i))
		if err := line(shape(none+r), 0.6, dash, vg.Points(3)); err != nil {
			return err
		}
		if err := line(shape(none-r), 0.6, dash, vg.Points(3)); err != nil {
			return err
		}
	}
	return nil
}

// shapes tell series apart where colour cannot.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}

func addSeries(p *plot.Plot, c Chart, s Series, t Theme) error {
	var xys plotter.XYs
	for _, m := range s.Marks {
		if c.Drawable(m) {
			xys = append(xys, plotter.XY{X: m.X, Y: m.Y})
		}
	}
	if len(xys) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	tone := hex(t.Tone(s.Tone))
	tone.A = 0xc0
	dots.GlyphStyle = draw.GlyphStyle{Color: tone, Radius: vg.Points(2.2), Shape: shapes[s.Tone%len(shapes)]}
	p.Add(dots)
	marks := []plot.Thumbnailer{dots}
	if s.Joined {
		l, err := plotter.NewLine(xys)
		if err != nil {
			return err
		}
		l.Color, l.Width = hex(t.Tone(s.Tone)), vg.Points(1.2)
		if s.Dashed {
			l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(l)
		marks = append(marks, l)
	}
	if len(c.Series) > 1 {
		p.Legend.Add(s.Name, marks...)
	}
	return nil
}

// names labels each category.
type names []string

func (n names) Ticks(lo, hi float64) []plot.Tick {
	ticks := make([]plot.Tick, len(n))
	for i, name := range n {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	return ticks
}

// decades labels 1, 2 and 5 of each power of ten, in plain numbers.
type decades struct{}

func (decades) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for e := -9; e <= 12; e++ {
		for _, m := range []string{"1", "2", "5"} {
			v, err := strconv.ParseFloat(m+"e"+strconv.Itoa(e), 64)
			if err == nil && v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
			}
		}
	}
	return ticks
}

func hex(s string) color.NRGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil {
		return color.NRGBA{A: 0xff}
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}
