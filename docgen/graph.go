package docgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// Sizes of the drawing, in pixels.
const (
	boxHeight, rowHeight = 20, 64
	charWidth, boxGap    = 7, 14
	margin               = 16
)

type box struct{ x, y, w int }

// graph draws the import policy as SVG: rows from the leaves up, and an edge where no
// longer path says the same.
func graph(l *invariants.Layers) string {
	edges := reduce(l.Edges())
	rows, width := layers(edges)
	boxes := map[string]box{}
	for i, row := range rows {
		x := margin + (width-rowWidth(row))/2
		for _, p := range row {
			w := boxWidth(p)
			boxes[p] = box{x, margin + (len(rows)-1-i)*rowHeight, w}
			x += w + boxGap
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="ui-monospace, monospace" font-size="11">`+"\n<title>Who may import whom</title>\n",
		width+2*margin, len(rows)*rowHeight+margin)
	for _, p := range sorted(edges) {
		for _, q := range edges[p] {
			from, to := boxes[p], boxes[q]
			fmt.Fprintf(&b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#7a8794" stroke-opacity=".55"/>`+"\n",
				from.x+from.w/2, from.y+boxHeight, from.x+from.w/2, from.y+boxHeight+22, to.x+to.w/2, to.y-22, to.x+to.w/2, to.y)
		}
	}
	for _, p := range sorted(edges) {
		at := boxes[p]
		fmt.Fprintf(&b, `<g><title>%s imports %s</title><rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s" stroke="#51606e"/><text x="%d" y="%d" text-anchor="middle" fill="#1b2530">%s</text></g>`+"\n",
			p, strings.Join(edges[p], ", "), at.x, at.y, at.w, boxHeight, tint(p), at.x+at.w/2, at.y+14, p)
	}
	return b.String() + "</svg>\n"
}

// reduce drops an edge that a longer path implies, so that what is left is readable.
func reduce(may map[string][]string) map[string][]string {
	out := map[string][]string{}
	for p, below := range may {
		out[p] = slices.DeleteFunc(slices.Clone(below), func(q string) bool {
			return slices.ContainsFunc(below, func(r string) bool { return slices.Contains(may[r], q) })
		})
	}
	return out
}

// layers puts each package one row above the highest package it imports, and orders a
// row by the middle of what each package stands on, which leaves few crossings.
func layers(edges map[string][]string) (rows [][]string, width int) {
	level := map[string]int{}
	var rise func(p string) int
	rise = func(p string) int {
		if n, done := level[p]; done {
			return n
		}
		n := 0
		for _, q := range edges[p] {
			n = max(n, rise(q)+1)
		}
		level[p] = n
		return n
	}
	for _, p := range sorted(edges) {
		n := rise(p)
		for len(rows) <= n {
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], p)
	}
	place := map[string]int{}
	for _, row := range rows {
		middle := func(p string) int {
			sum := 0
			for _, q := range edges[p] {
				sum += place[q]
			}
			return sum / max(1, len(edges[p]))
		}
		slices.SortStableFunc(row, func(a, b string) int { return middle(a) - middle(b) })
		x := -rowWidth(row) / 2
		for _, p := range row {
			place[p] = x + boxWidth(p)/2
			x += boxWidth(p) + boxGap
		}
		width = max(width, rowWidth(row))
	}
	return rows, width
}

func boxWidth(p string) int { return len(p)*charWidth + 12 }

func rowWidth(row []string) int {
	w := -boxGap
	for _, p := range row {
		w += boxWidth(p) + boxGap
	}
	return w
}

// tint tells the parts of the module apart by their top folder.
func tint(p string) string {
	top, _, _ := strings.Cut(p, "/")
	tints := map[string]string{"internal": "#eef0f2", "cmd": "#f6e3c5", "engines": "#d9ead9", "sim": "#d7e6f5", "cost": "#f3dada", "registry": "#f3dada", "catalog": "#ece0f3", "ledger": "#ece0f3"}
	if t, ok := tints[top]; ok {
		return t
	}
	return "#f5f0d8"
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
