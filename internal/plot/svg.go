package plot

import (
	"bytes"
	"fmt"
	"image/color"
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
	p, err := build(c, t)
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, tall(c)), vgsvg.EmbedFonts(false))
	p.Draw(draw.New(canvas))
	return write(canvas)
}

// build is the chart ready to draw.
func build(c Chart, t Theme) (*plot.Plot, error) {
	if c.Count() == 0 {
		return nil, fmt.Errorf("chart %s: no mark to draw", c.ID)
	}
	p := frame(c, t)
	lo, hi := c.Bounds()
	if err := addReferences(p, c, t); err != nil {
		return nil, err
	}
	for _, s := range c.Series {
		if err := addSeries(p, c, s, t); err != nil {
			return nil, fmt.Errorf("chart %s: series %s: %w", c.ID, s.Name, err)
		}
	}
	if c.Interval != "" && c.HasInterval() {
		p.Legend.Add(c.Interval, &plotter.Line{LineStyle: whiskerStyle(hex(t.Ink))})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo.X, hi.X, lo.Y, hi.Y
	return p, nil
}

func write(canvas *vgsvg.Canvas) ([]byte, error) {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	// The reader's machine need not have the font gonum measured with.
	return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}

func tall(c Chart) vg.Length {
	if n := len(c.Y.Names); n > 0 {
		return vg.Length(n)*rowHeight + 1.2*vg.Inch
	}
	return height
}

// Height of the SVG in CSS pixels; its width is always Width.
func Height(c Chart) int { return int(tall(c).Points() * 4 / 3) }

// Width of every SVG in CSS pixels.
const Width = 691

func frame(c Chart, t Theme) *plot.Plot {
	p := plot.New()
	ink := hex(t.Ink)
	p.BackgroundColor = color.Transparent
	p.Title.Text = ""
	p.Legend.Top, p.Legend.Left = true, len(c.Ratios) > 0 // beside the diagonal, not on it
	p.Legend.TextStyle.Color, p.Legend.Padding = ink, vg.Points(4)
	p.Legend.YOffs = -vg.Points(4)
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
			if a.axis == &p.Y {
				a.axis.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
			}
		case a.of.Log:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, decades{}
		}
		if len(a.of.Ticks) > 0 {
			a.axis.Tick.Marker = fixed(a.of.Ticks)
		}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = hex(t.Rule), hex(t.Rule)
	grid.Vertical.Width, grid.Horizontal.Width = vg.Points(0.4), vg.Points(0.4)
	p.Add(grid)
	return p
}

func addReferences(p *plot.Plot, c Chart, t Theme) error {
	for i, ends := range References(c) {
		l, err := plotter.NewLine(plotter.XYs{{X: ends[0].X, Y: ends[0].Y}, {X: ends[1].X, Y: ends[1].Y}})
		if err != nil {
			return err
		}
		l.Color, l.Width = hex(t.Ink), vg.Points(0.6)
		if i > 0 { // two lines a tolerance, the wider the tolerance the finer the dashes
			l.Dashes = []vg.Length{vg.Points(6 / float64((i+1)/2)), vg.Points(3)}
		}
		p.Add(l)
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
	p.Add(dots, whiskers{c, s, tone})
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
	if len(c.Series) > 1 && !s.Dashed { // dashed repeats the name of a solid one
		p.Legend.Add(s.Name, marks...)
	}
	return nil
}

// whiskers draws the intervals of a series.
type whiskers struct {
	of    Chart
	s     Series
	color color.Color
}

func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := whiskerStyle(w.color)
	for _, m := range w.s.Marks {
		if !m.Interval() || !w.of.Drawable(m) {
			continue
		}
		ends := w.of.Whisker(m)
		c.StrokeLine2(style, x(ends[0].X), y(ends[0].Y), x(ends[1].X), y(ends[1].Y))
	}
}

func whiskerStyle(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(0.9)}
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

// fixed labels stated places.
type fixed []float64

func (f fixed) Ticks(lo, hi float64) []plot.Tick {
	ticks := make([]plot.Tick, len(f))
	for i, v := range f {
		ticks[i] = plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return ticks
}

// decades labels 1, 2 and 5 of each power of ten, in plain numbers; over many powers the 1 alone.
type decades struct{}

func (decades) Ticks(lo, hi float64) []plot.Tick {
	const many = 1e4
	var ticks []plot.Tick
	for e := -9; e <= 12; e++ {
		for _, m := range []string{"1", "2", "5"} {
			v, err := strconv.ParseFloat(m+"e"+strconv.Itoa(e), 64)
			if err == nil && v >= lo && v <= hi {
				label := ""
				if m == "1" || hi/lo < many {
					label = strconv.FormatFloat(v, 'f', -1, 64)
				}
				ticks = append(ticks, plot.Tick{Value: v, Label: label})
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
