package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
)

// Tree is a whole in parts: areas in proportion to values, two levels deep at most.
type Tree struct {
	ID, Title, Unit string
	Groups          []Group
}

// Group is a named part with its own parts.
type Group struct {
	Name string
	Link string
	Of   []Leaf
}

// Leaf is one area. Tone is a grade's step of the page's sequential scale, from 0, the darkest, to 4.
type Leaf struct {
	Name  string
	Value float64
	Tone  int
}

// Steps is the sequential scale of a theme and, beside it, the text that can be read on each step.
var steps = map[string][2][]string{
	"light": {{"#0b4a6b", "#2c7ea3", "#6fb0cb", "#aed3e0", "#d6d1c6"}, {"#ffffff", "#ffffff", "#10222c", "#10222c", "#10222c"}},
	"dark":  {{"#b5e3f6", "#6fb9da", "#3e86a6", "#285a72", "#454b56"}, {"#10222c", "#10222c", "#ffffff", "#ffffff", "#ffffff"}},
}

// Count is the number of areas with a size.
func (t Tree) Count() int {
	n := 0
	for _, g := range t.Groups {
		for _, l := range g.Of {
			if l.Value > 0 {
				n++
			}
		}
	}
	return n
}

// Data lists every area: x is its place in its group, y its value.
func (t Tree) Data() Data {
	d := Data{ID: t.ID, Title: t.Title, X: "part", Y: t.Unit, Series: []SeriesData{}}
	for _, g := range t.Groups {
		one := SeriesData{Name: g.Name, Marks: []MarkData{}}
		for i, l := range g.Of {
			one.Kind += fmt.Sprintf("%d: %s; ", i, l.Name)
			one.Marks = append(one.Marks, MarkData{X: float64(i), Y: l.Value, Page: g.Link})
		}
		d.Series = append(d.Series, one)
	}
	return d
}

// TreeHeight is the height of a tree's picture in CSS pixels; its width is Width.
const TreeHeight = 380

type rect struct{ x, y, w, h float64 }

// SVG draws the tree; a group's name stands above its areas where there is room.
func (t Tree) SVG(theme Theme) ([]byte, error) {
	if t.Count() == 0 {
		return nil, fmt.Errorf("tree %s: no area to draw", t.ID)
	}
	scale := steps[theme.Name]
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Liberation Sans,Arial,Helvetica,sans-serif">`+"\n", Width, TreeHeight, Width, TreeHeight)
	sizes := make([]float64, len(t.Groups))
	for i, g := range t.Groups {
		for _, l := range g.Of {
			sizes[i] += l.Value
		}
	}
	for i, r := range squarify(sizes, rect{0, 0, Width, TreeHeight}) {
		g := t.Groups[i]
		inner := rect{r.x + 1, r.y + 1, max(0, r.w-3), max(0, r.h-3)}
		if inner.w > 60 && inner.h > 40 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="12" font-weight="bold" fill="%s">%s</text>`+"\n", inner.x, inner.y+12, theme.Ink, html.EscapeString(fit(g.Name, inner.w, 7)))
			inner = rect{inner.x, inner.y + 17, inner.w, inner.h - 17}
		}
		values := make([]float64, len(g.Of))
		for k, l := range g.Of {
			values[k] = l.Value
		}
		for k, a := range squarify(values, inner) {
			l := g.Of[k]
			if l.Value <= 0 {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s, %s: %g</title></rect>`+"\n", a.x, a.y, max(0, a.w-1), max(0, a.h-1), scale[0][l.Tone],
				html.EscapeString(g.Name), html.EscapeString(l.Name), l.Value)
			if a.w > 34 && a.h > 18 {
				fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="11" fill="%s">%s</text>`+"\n", a.x+4, a.y+14, scale[1][l.Tone], html.EscapeString(fit(fmt.Sprintf("%s: %g", l.Name, l.Value), a.w-6, 6)))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// fit shortens a text to a width, at so many pixels a letter.
func fit(s string, width, letter float64) string {
	if most := int(width / letter); len(s) > most {
		return s[:max(0, most-1)] + "…"
	}
	return s
}

// squarify lays areas in proportion to sizes out in r, largest first in rows whose areas stay
// nearly square, and returns them in the order of sizes.
//
// Source: Bruls, Huizing and van Wijk, "Squarified treemaps", 2000.
func squarify(sizes []float64, r rect) []rect {
	out := make([]rect, len(sizes))
	order := make([]int, 0, len(sizes))
	total := 0.0
	for i, s := range sizes {
		if s > 0 {
			order, total = append(order, i), total+s
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	for len(order) > 0 && r.w > 0 && r.h > 0 {
		scale, side := float64(r.w*r.h)/total, min(r.w, r.h)
		n, sum := 1, sizes[order[0]]
		for n < len(order) && worst(sizes, order[:n+1], sum+sizes[order[n]], scale, side) <= worst(sizes, order[:n], sum, scale, side) {
			sum += sizes[order[n]]
			n++
		}
		thick, at := float64(sum*scale)/side, 0.0
		for _, i := range order[:n] {
			long := float64(sizes[i]*scale) / thick
			if r.w >= r.h {
				out[i] = rect{r.x, r.y + at, thick, long}
			} else {
				out[i] = rect{r.x + at, r.y, long, thick}
			}
			at += long
		}
		if r.w >= r.h {
			r = rect{r.x + thick, r.y, r.w - thick, r.h}
		} else {
			r = rect{r.x, r.y + thick, r.w, r.h - thick}
		}
		order, total = order[n:], total-sum
	}
	return out
}

// worst is the least square aspect ratio of a row that holds sum along side.
func worst(sizes []float64, row []int, sum, scale, side float64) float64 {
	thick, w := float64(sum*scale)/side, 0.0
	for _, i := range row {
		long := float64(sizes[i]*scale) / thick
		w = max(w, thick/long, long/thick)
	}
	return w
}
