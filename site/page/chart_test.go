package page

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
)

// nowhere takes what a page writes.
type nowhere struct{}

func (nowhere) Page(Doc) error            { return nil }
func (nowhere) File(string, []byte) error { return nil }

// A reader of a chart too long to be a table is told so, and where its values are.
func TestAChartIsATableOrSaysWhereItsValuesAre(t *testing.T) {
	s := newSite(Input{}, nowhere{})
	for _, c := range []struct {
		marks int
		list  string
		want  string
	}{
		{longest, "", "As a table"}, {longest + 1, "", "Its 401 rows are too many to read here: the CSV and the JSON hold them."},
		{readable, "points/", "As a table"}, {readable + 1, "points/", "These points as a table"},
	} {
		chart := plot.Chart{ID: "x", Title: "x", Series: []plot.Series{{Name: "s"}}}
		for i := range c.marks {
			chart.Series[0].Marks = append(chart.Series[0].Marks, plot.Mark{X: float64(i), Y: float64(i % 9)})
		}
		b, err := s.chart(chart, c.list)
		if err != nil {
			t.Fatal(err)
		}
		d := Doc{Blocks: []Block{b}}
		d.render(true, "")
		for _, said := range []string{"As a table", "These points as a table", "too many to read here"} {
			if got, want := strings.Contains(d.Body, said), strings.Contains(c.want, said); got != want {
				t.Errorf("%d marks, listed at %q: %q is said: %v, want %v", c.marks, c.list, said, got, want)
			}
		}
		if !strings.Contains(d.Body, c.want) || !strings.Contains(d.Body, "charts/x.csv") || !strings.Contains(d.Body, "charts/x.json") {
			t.Errorf("%d marks, listed at %q: want %q and both files", c.marks, c.list, c.want)
		}
	}
}

// A run that is drawn twice, as measured and as simulated, is one point.
func TestACaptionCountsARunOnce(t *testing.T) {
	marks := make([]plot.Mark, 6)
	for i := range marks {
		marks[i] = plot.Mark{X: float64(i + 1), Y: float64(i)}
	}
	c := plot.Chart{Y: plot.Axis{Log: true}, Series: []plot.Series{{Name: "a", Marks: marks, Joined: true}, {Name: "a", Marks: marks, Joined: true, Dashed: true}}}
	if got := caption(c); !strings.HasPrefix(got, "5 points (1 more have no place on a logarithmic axis); ") || !strings.Contains(got, "hollow marks simulated") {
		t.Errorf("got %q, want the five runs that can be drawn, and how to tell them apart", got)
	}
}
