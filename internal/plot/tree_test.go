package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

var tree = Tree{ID: "units", Unit: "units", Groups: []Group{
	{Name: "vllm", Of: []Leaf{{"G1", 0, 0}, {"G4", 30, 3}, {"G5", 10, 4}}}, {Name: "sglang", Of: []Leaf{{"G4", 20, 3}}}}}

func TestAreasFillTheirRectangleInProportion(t *testing.T) {
	r := rect{10, 20, 300, 200}
	sizes := []float64{5, 0, 40, 15, 20, 1}
	total := 81.0
	for i, a := range squarify(sizes, r) {
		if got, want := a.w*a.h, sizes[i]/total*r.w*r.h; math.Abs(got-want) > 1e-6 {
			t.Errorf("area %d: got %v, want %v", i, got, want)
		}
		if sizes[i] > 0 && (a.x < r.x-1e-9 || a.y < r.y-1e-9 || a.x+a.w > r.x+r.w+1e-9 || a.y+a.h > r.y+r.h+1e-9) {
			t.Errorf("area %d: %v lies outside %v", i, a, r)
		}
	}
}

func TestTreeDrawsEveryAreaWithASize(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		svg, err := tree.SVG(theme)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Count(svg, []byte("<rect")), tree.Count(); got != want || want != 3 {
			t.Errorf("%s: got %d areas, want %d", theme.Name, got, want)
		}
	}
	if _, err := (Tree{ID: "x", Groups: []Group{{Name: "g", Of: []Leaf{{"a", 0, 0}}}}}).SVG(Light); err == nil {
		t.Error("a tree without a size: got a picture, want an error")
	}
}

func TestIntervalIsDrawnAndHeldByTheBounds(t *testing.T) {
	c := scatter
	c.X.Log, c.Y.Log, c.Ratios = false, false, nil
	c.Series = []Series{{Name: "a", Marks: []Mark{{X: 1, Y: 5, Low: 2, High: 9}, {X: 2, Y: 5}}}}
	if lo, hi := c.Bounds(); lo.Y > 2 || hi.Y < 9 {
		t.Errorf("got bounds %v to %v, want the interval inside", lo, hi)
	}
	with, err := SVG(c, Light)
	if err != nil {
		t.Fatal(err)
	}
	c.Series[0].Marks[0].Low, c.Series[0].Marks[0].High = 0, 0
	without, err := SVG(c, Light)
	if err != nil {
		t.Fatal(err)
	}
	if got, none := strings.Count(string(with), "stroke-width:0.9"), strings.Count(string(without), "stroke-width:0.9"); got != none+1 {
		t.Errorf("got %d whiskers with an interval and %d without, want one more", got, none)
	}
}
