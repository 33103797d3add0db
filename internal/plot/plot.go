// Package plot is a chart as data, and its drawing as a static SVG.
//
// In: a [Chart], which any renderer can draw. Out: one SVG per [Theme], for readers without
// scripts, for print and for feeds. It computes nothing: every mark is a value handed in, and a
// band is a stated tolerance, not a statistic. The bytes depend on the chart alone.
package plot

import (
	"math"
	"slices"
)

// Chart is one figure: marks over two axes. ID names it on its page and in file names.
type Chart struct {
	ID, Title string
	X, Y      Axis
	Series    []Series
	// Ratios draws y = x and, around it, a pair of lines at each tolerance (0.1 is ±10%): for
	// measured against simulated. Tolerances draws zero and lines at ±t on the value axis instead:
	// y, or x where y counts categories.
	Ratios, Tolerances []float64
	Sideways           bool   // intervals lie along x, although y counts no categories
	Interval           string // what a mark's interval is, in a few words: its entry in the legend
	Whiskers           string // the same in a sentence, for captions; also why no mark has one
}

// Axis of a chart. A log axis takes positive values only. A category axis has Names, and its
// values are indices into them; as y it counts from the top.
type Axis struct {
	Label string // with the unit, e.g. "measured TTFT (ms)"
	Log   bool
	Names []string
	Ticks []float64 // places to label; none lets the renderer choose
}

// Series is one set of marks of one colour, drawn as dots, or joined in order when Joined.
type Series struct {
	Name   string
	Kind   string // tells apart series of one name, e.g. "measured"
	Joined bool
	Dashed bool
	Marks  []Mark
	// Tone picks the colour; series of one tone belong together (measured and simulated of one
	// deployment). Colours follow tones, never the order of series.
	Tone int
}

// Mark is one value, with the text and the link a live renderer may show for it. Low and High are
// the ends of its interval along the value axis, which is y, or x where y counts categories or the
// chart says Sideways; a mark without an interval has both 0.
type Mark struct {
	X, Y       float64
	Low, High  float64
	Text, Link string
}

// Interval is whether m has one.
func (m Mark) Interval() bool { return m.Low < m.High }

// Theme is the ground a chart is drawn on.
type Theme struct {
	Name      string
	Ink, Rule string   // #rrggbb: text and axes; grid and reference lines
	Tones     []string // #rrggbb, cyclic
}

// Light and Dark keep a contrast of 3:1 for marks and 4.5:1 for text on the site's two grounds.
// The tones are those of Okabe and Ito, "Color universal design", darkened or lightened to
// that contrast: they stay apart in the common forms of colour blindness.
var (
	Light = Theme{"light", "#3b4250", "#cfd3da", []string{"#0f62a8", "#b84a00", "#00735a", "#a3448c", "#7a5c00", "#54606f"}}
	Dark  = Theme{"dark", "#c3c9d4", "#3a4150", []string{"#6cb6f5", "#f29a4d", "#4cc9a6", "#e39bd0", "#d9b94a", "#9aa6b8"}}
)

// Tone returns the colour of a tone in this theme.
func (t Theme) Tone(i int) string { return t.Tones[i%len(t.Tones)] }

// Drawable says whether a log axis leaves anything of the mark.
func (c Chart) Drawable(m Mark) bool {
	if m.Interval() {
		low := c.Whisker(m)[0]
		return (!c.X.Log || min(low.X, m.X) > 0) && (!c.Y.Log || min(low.Y, m.Y) > 0)
	}
	return (!c.X.Log || m.X > 0) && (!c.Y.Log || m.Y > 0)
}

// HasInterval is whether any mark has one.
func (c Chart) HasInterval() bool {
	return slices.ContainsFunc(c.Series, func(s Series) bool { return slices.ContainsFunc(s.Marks, Mark.Interval) })
}

// Count is the number of marks a renderer draws.
func (c Chart) Count() int {
	n := 0
	for _, s := range c.Series {
		for _, m := range s.Marks {
			if c.Drawable(m) {
				n++
			}
		}
	}
	return n
}

// XY is a place on the axes.
type XY struct{ X, Y float64 }

// Bounds is the smallest box with some air that holds every mark and, where the chart has
// tolerances about zero, those.
func (c Chart) Bounds() (lo, hi XY) {
	lo, hi = XY{math.Inf(1), math.Inf(1)}, XY{math.Inf(-1), math.Inf(-1)}
	for _, s := range c.Series {
		for _, m := range s.Marks {
			if c.Drawable(m) {
				lo = XY{min(lo.X, m.X), min(lo.Y, m.Y)}
				hi = XY{max(hi.X, m.X), max(hi.Y, m.Y)}
				if ends := c.Whisker(m); m.Interval() {
					lo = XY{min(lo.X, ends[0].X), min(lo.Y, ends[0].Y)}
					hi = XY{max(hi.X, ends[1].X), max(hi.Y, ends[1].Y)}
				}
			}
		}
	}
	if len(c.Ratios) > 0 { // one scale for both, so that y = x is the diagonal
		lo.X, hi.X = min(lo.X, lo.Y), max(hi.X, hi.Y)
		lo.Y, hi.Y = lo.X, hi.X
	}
	for _, t := range c.Tolerances {
		if c.upright() {
			lo.X, hi.X = min(lo.X, -t), max(hi.X, t)
		} else {
			lo.Y, hi.Y = min(lo.Y, -t), max(hi.Y, t)
		}
	}
	lo.X, hi.X = air(c.X, lo.X, hi.X)
	lo.Y, hi.Y = air(c.Y, lo.Y, hi.Y)
	return lo, hi
}

// Whisker is the two ends of m's interval.
func (c Chart) Whisker(m Mark) [2]XY {
	if c.Sideways || c.upright() {
		return [2]XY{{m.Low, m.Y}, {m.High, m.Y}}
	}
	return [2]XY{{m.X, m.Low}, {m.X, m.High}}
}

func (c Chart) upright() bool { return len(c.Y.Names) > 0 }

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

// References are the ends of the line of agreement and of two lines a tolerance, clipped to
// Bounds. There is none in a chart without Ratios and Tolerances.
func References(c Chart) [][2]XY {
	lo, hi := c.Bounds()
	var lines [][2]XY
	ratio := func(f float64) {
		x0, x1 := max(lo.X, lo.Y/f), min(hi.X, hi.Y/f)
		lines = append(lines, [2]XY{{x0, float64(x0 * f)}, {x1, float64(x1 * f)}})
	}
	level := func(v float64) {
		line := [2]XY{{lo.X, v}, {hi.X, v}}
		if c.upright() {
			line = [2]XY{{v, lo.Y}, {v, hi.Y}}
		}
		lines = append(lines, line)
	}
	if len(c.Ratios) > 0 {
		ratio(1)
	}
	for _, r := range c.Ratios {
		ratio(1 + r)
		ratio(1 - r)
	}
	if len(c.Tolerances) > 0 {
		level(0)
	}
	for _, t := range c.Tolerances {
		level(t)
		level(-t)
	}
	return lines
}
