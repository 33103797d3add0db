package plot

import (
	"bytes"
	"regexp"
	"testing"
)

// Panels under each other can be read along one vertical line.
func TestStackSharesTheXAxis(t *testing.T) {
	panel := func(xs ...float64) Chart {
		c := Chart{X: Axis{Label: "x", Ticks: []float64{3}}, Y: Axis{Label: "y"}, Series: []Series{{}}}
		for _, x := range xs {
			c.Series[0].Marks = append(c.Series[0].Marks, Mark{X: x, Y: 1e6 * x})
		}
		return c
	}
	small := panel(3, 4)
	small.Series[0].Marks[0].Y, small.Series[0].Marks[1].Y = 0, 1 // shorter labels, less room
	svg, err := Stack("a title", []Chart{panel(0, 10), {ID: "empty"}, small}, Light)
	if err != nil || !bytes.Contains(svg, []byte(">a title<")) {
		t.Fatalf("got %v, %d bytes", err, len(svg))
	}
	at := regexp.MustCompile(`<text [^>]*\bx="([0-9.]+)"[^>]*>3<`).FindAllSubmatch(svg, -1)
	if len(at) != 2 || !bytes.Equal(at[0][1], at[1][1]) {
		t.Errorf("tick 3 is at %q, want two of one place", at)
	}
	if _, err := Stack("", []Chart{{ID: "empty"}}, Light); err == nil {
		t.Error("nothing to draw: got no error")
	}
}
