package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
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
	}{{1, 100, 7, 7}, {0.001, 1000, 7, 19}} {
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
