package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

var scatter = Chart{
	ID: "ttft", Title: "Measured and simulated TTFT",
	X: Axis{Label: "measured TTFT (ms)", Log: true}, Y: Axis{Label: "simulated TTFT (ms)", Log: true},
	Ratios: []float64{0.1, 0.25},
	Series: []Series{
		{Name: "vllm", Marks: []Mark{{X: 100, Y: 110}, {X: 2000, Y: 1500}, {X: 0, Y: 3}}},
		{Name: "sglang", Tone: 1, Marks: []Mark{{X: 40, Y: 41}}},
	},
}

func TestSVGIsWellFormedAndTheSameTwice(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		first, err := SVG(scatter, theme)
		if err != nil {
			t.Fatal(err)
		}
		second, err := SVG(scatter, theme)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two drawings of one chart differ", theme.Name)
		}
		for dec := xml.NewDecoder(bytes.NewReader(first)); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", theme.Name, err)
			}
		}
		if dir := os.Getenv("PLOT_OUT"); dir != "" {
			if err := os.WriteFile(dir+"/"+theme.Name+".svg", first, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSVGDrawsEveryMark(t *testing.T) {
	base, err := SVG(scatter, Light)
	if err != nil {
		t.Fatal(err)
	}
	more := scatter
	more.Series = append([]Series{}, scatter.Series...)
	more.Series[0].Marks = append(append([]Mark{}, scatter.Series[0].Marks...), Mark{X: 500, Y: 520})
	longer, err := SVG(more, Light)
	if err != nil {
		t.Fatal(err)
	}
	got, want := bytes.Count(longer, []byte("<path"))-bytes.Count(base, []byte("<path")), 1
	if got != want {
		t.Errorf("one more mark: got %d more paths, want %d", got, want)
	}
}

// A text is as long as it was measured in whatever font it is shown, so that none runs over
// another.
func TestTextsHaveTheirLength(t *testing.T) {
	c := scatter
	c.X.Label = "a < b"
	svg, err := SVG(c, Light)
	if err != nil {
		t.Fatal(err)
	}
	if texts, long := bytes.Count(svg, []byte("<text ")), bytes.Count(svg, []byte("<text textLength=")); texts == 0 || texts != long || !bytes.Contains(svg, []byte(">a &lt; b<")) {
		t.Errorf("%d texts, %d with a length", texts, long)
	}
}

func TestSVGRefusesAnEmptyChart(t *testing.T) {
	empty := Chart{ID: "x", X: Axis{Log: true}, Series: []Series{{Marks: []Mark{{X: 0, Y: 1}}}}}
	if _, err := SVG(empty, Light); err == nil {
		t.Error("got a picture, want an error")
	}
	empty.Series[0].Marks[0].X = 1
	if _, err := SVG(empty, Light); err != nil {
		t.Errorf("got %v, want the closest accepted chart drawn", err)
	}
}

func TestCountLeavesOutWhatALogAxisCannotShow(t *testing.T) {
	if got, want := scatter.Count(), 3; got != want {
		t.Errorf("got %d marks, want %d", got, want)
	}
}

func TestIntervalsLieAlongTheAxisOfWhatHasThem(t *testing.T) {
	m := Mark{X: 10, Y: 20, Low: 8, High: 12}
	for _, c := range []struct {
		name  string
		chart Chart
		want  [2]XY
	}{
		{"upright", Chart{}, [2]XY{{10, 8}, {10, 12}}}, {"sideways", Chart{Sideways: true}, [2]XY{{8, 20}, {12, 20}}},
		{"rows", Chart{Y: Axis{Names: []string{"a"}}}, [2]XY{{8, 20}, {12, 20}}},
	} {
		if got := c.chart.Whisker(m); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	for low, want := range map[float64]bool{-1: false, 1: true} { // a log axis has no place for the first
		if got := (Chart{Sideways: true, X: Axis{Log: true}}).Drawable(Mark{X: 10, Y: -5, Low: low, High: 12}); got != want {
			t.Errorf("low end %v on a log axis: got drawable %v, want %v", low, got, want)
		}
	}
}

func TestTicksOfManyDecadesLabelTheOnesAlone(t *testing.T) {
	for _, c := range []struct {
		lo, hi        float64
		labels, ticks int
	}{{1, 100, 7, 7}, {0.001, 1000, 7, 19}, {7, 19, 5, 5}} {
		ticks, labels := (decades{}).Ticks(c.lo, c.hi), 0
		for _, tick := range ticks {
			if tick.Label != "" {
				labels++
			}
		}
		if labels != c.labels || len(ticks) != c.ticks {
			t.Errorf("%g to %g: got %d labels on %d ticks, want %d on %d", c.lo, c.hi, labels, len(ticks), c.labels, c.ticks)
		}
	}
}

// However many marks, a picture stays readable and small: a line has no dot at each, dots are small.
func TestManyMarksStaySmall(t *testing.T) {
	line := func(n int, joined bool) Chart {
		c := Chart{Series: []Series{{Joined: joined}}}
		for i := range n {
			c.Series[0].Marks = append(c.Series[0].Marks, Mark{X: float64(i), Y: float64(i % 7), Low: float64(i%7) - 1, High: float64(i%7) + 1})
		}
		return c
	}
	for _, c := range []struct {
		n       int
		joined  bool
		circles int
	}{{few, true, few}, {2000, true, 0}, {few, false, few}, {2000, false, 0}} {
		svg, err := SVG(line(c.n, c.joined), Light)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(svg, []byte(" 1 1 ")) / 2; got != c.circles || len(svg) > 150e3 {
			t.Errorf("%d, joined %v: got %d circles in %d bytes, want %d in at most 150,000", c.n, c.joined, got, len(svg), c.circles)
		}
	}
	if one, some, lots := radius(1), radius(20), radius(2000); some != one || some < 3 || lots >= some/2 {
		t.Errorf("radius of a dot: got %v of 1 mark, %v of 20 and %v of 2000, want the last much smaller", one, some, lots)
	}
}

func TestTicksAreRoundAndAsLongAsEachOther(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{-0.3, 5000, "0 1000 2000 3000 4000 5000"}, {0, 2.2, "0.0 0.5 1.0 1.5 2.0"}, {-0.12, 0.25, "-0.1 0.0 0.1 0.2"}, {20, 61, "20 30 40 50 60"}, {1740, 2680, "1800 2000 2200 2400 2600"}, {1e6, 3.1e6, "1000000 1500000 2000000 2500000 3000000"},
	} {
		var got []string
		for _, tick := range (rounds{}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%g to %g: got %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// A dashed series of one mark has no line to tell it by.
func TestMarksOfADashedSeriesAreHollow(t *testing.T) {
	for tone := range shapes {
		draw := func(dashed bool) string {
			svg, err := SVG(Chart{Series: []Series{{Tone: tone, Joined: true, Dashed: dashed, Marks: []Mark{{X: 1, Y: 1}}}}}, Light)
			if err != nil {
				t.Fatal(err)
			}
			return string(svg)
		}
		if draw(false) == draw(true) {
			t.Errorf("tone %d: a mark of a dashed series looks like one of a solid series", tone)
		}
	}
}
