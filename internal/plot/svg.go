package plot

import (
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
	canvas := newCanvas(width, tall(c))
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(4), -vg.Points(8), vg.Points(2), -vg.Points(4))) // labels are not cut at the edges
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
	if len(c.Ratios) == 0 && len(c.Y.Names) == 0 && !c.Y.Log { // room above the marks for the legend
		hi.Y += (hi.Y - lo.Y) * 0.055 * float64(legends(c))
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo.X, hi.X, lo.Y, hi.Y
	return p, nil
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
		default:
			a.axis.Tick.Marker = rounds{}
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

// shapes tell series apart where colour cannot, hollows the dashed ones from the others: their marks must differ where a
// line of one mark shows no dash.
var (
	shapes  = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, polygon{diamond, false}, polygon{arrow, false}, polygon{plate, false}}
	hollows = []draw.GlyphDrawer{draw.RingGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, polygon{diamond, true}, polygon{arrow, true}, polygon{plate, true}}

	diamond = []vg.Point{{X: 1.2}, {Y: 1.2}, {X: -1.2}, {Y: -1.2}}
	arrow   = []vg.Point{{X: 1, Y: 0.8}, {X: -1, Y: 0.8}, {Y: -1.2}}
	plate   = []vg.Point{{X: 1.4, Y: 0.5}, {X: -1.4, Y: 0.5}, {X: -1.4, Y: -0.5}, {X: 1.4, Y: -0.5}}
)

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
	dots.GlyphStyle = draw.GlyphStyle{Color: tone, Radius: radius(len(xys)), Shape: shapes[s.Tone%len(shapes)]}
	if s.Joined && s.Dashed {
		dots.GlyphStyle.Shape = hollows[s.Tone%len(hollows)]
	}
	marks := []plot.Thumbnailer{dots}
	switch {
	case s.Joined && len(xys) > few: // the line alone, on paler intervals
		tone.A, marks = 0x60, nil
		p.Add(whiskers{c, s, tone})
	case len(xys) > many:
		p.Add(specks{xys, dots.GlyphStyle}, whiskers{c, s, tone})
	default:
		p.Add(dots, whiskers{c, s, tone})
	}
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
	if inLegend(c, s) {
		p.Legend.Add(s.Name, marks...)
	}
	return nil
}

// inLegend is whether a series is named there: alone it needs no name, and a dashed one repeats
// that of a solid one.
func inLegend(c Chart, s Series) bool { return len(c.Series) > 1 && s.Name != "" && !s.Dashed }

// legends is the lines of the legend.
func legends(c Chart) (n int) {
	for _, s := range c.Series {
		if inLegend(c, s) {
			n++
		}
	}
	if c.Interval != "" && c.HasInterval() {
		n++
	}
	return n
}

// A series of more than few marks that are joined has no dot at each; one of more than many has
// specks, which take a tenth of the bytes.
const few, many = 100, 1000

// radius of a dot: dots of a series cover about as much, however many there are.
func radius(n int) vg.Length {
	return vg.Points(max(0.9, min(3.2, 2.2*math.Sqrt(200/float64(n)))))
}

// polygon is a glyph with these corners, in shares of the radius.
type polygon struct {
	corners []vg.Point
	hollow  bool
}

// DrawGlyph implements draw.GlyphDrawer.
func (s polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	path.Move(at.Add(s.corners[0].Scale(style.Radius)))
	for _, corner := range s.corners[1:] {
		path.Line(at.Add(corner.Scale(style.Radius)))
	}
	path.Close()
	if s.hollow {
		c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: style.Radius / 3})
		c.Stroke(path)
		return
	}
	c.SetColor(style.Color)
	c.Fill(path)
}

// specks draws squares as one path.
type specks struct {
	of    plotter.XYs
	style draw.GlyphStyle
}

func (s specks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, at := range s.of {
		path.Move(vg.Point{X: x(at.X) - s.style.Radius, Y: y(at.Y)})
		path.Line(vg.Point{X: x(at.X) + s.style.Radius, Y: y(at.Y)})
	}
	c.SetLineStyle(draw.LineStyle{Color: s.style.Color, Width: 2 * s.style.Radius})
	c.Stroke(path)
}

// whiskers draws the intervals of a series as one path.
type whiskers struct {
	of    Chart
	s     Series
	color color.Color
}

func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, m := range w.s.Marks {
		if !m.Interval() || !w.of.Drawable(m) {
			continue
		}
		ends := w.of.Whisker(m)
		path.Move(vg.Point{X: x(ends[0].X), Y: y(ends[0].Y)})
		path.Line(vg.Point{X: x(ends[1].X), Y: y(ends[1].Y)})
	}
	if len(path) > 0 {
		c.SetLineStyle(whiskerStyle(w.color))
		c.Stroke(path)
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

// rounds labels multiples of 1, 2 or 5 times a power of ten, three to seven of them.
type rounds struct{}

func (rounds) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, finer := range []float64{0.5, 1, 2, 5} {
		if (hi-lo)/(step/finer) >= 3.5 {
			step /= finer
			break
		}
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		v := i*step + 0 // not -0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', decimals, 64)})
	}
	return ticks
}

// decades labels 1, 2 and 5 of each power of ten, in plain numbers; over many powers the 1 alone, and
// within one more of them.
type decades struct{}

func (decades) Ticks(lo, hi float64) []plot.Tick {
	const many = 1e4
	ticks := multiples(lo, hi, "1", "2", "5")
	if len(ticks) < 3 {
		return multiples(lo, hi, "1", "1.5", "2", "3", "4", "5", "6", "7", "8", "9")
	}
	for i := range ticks {
		if hi/lo >= many && strings.Trim(ticks[i].Label, "0.") != "1" {
			ticks[i].Label = ""
		}
	}
	return ticks
}

// multiples of the powers of ten between two values, labelled.
func multiples(lo, hi float64, of ...string) (ticks []plot.Tick) {
	for e := -9; e <= 12; e++ {
		for _, m := range of {
			if v, err := strconv.ParseFloat(m+"e"+strconv.Itoa(e), 64); err == nil && v >= lo && v <= hi {
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
