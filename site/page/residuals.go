package page

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// residuals is how far the fitted methods are from data they never saw.
func (s *site) residuals() error {
	d := Doc{Path: "residuals/", Title: "Calibration residuals", Description: "How far each fitted method is from data it never saw.",
		Lead: "Coefficients are fitted on operator timings and on runs set aside for it, never on a run scored here. This is what is left over when each is asked about data it never saw."}
	if s.Fits == nil {
		d.Blocks = []Block{{Kind: "text", Paragraphs: []string{"This build holds no record of its fits."}}}
		return s.page(d)
	}
	operators, err := s.chart(operatorErrors(s.Fits.Operators), "")
	if err != nil {
		return err
	}
	operators.Note = "Absolute errors over the shapes of each table. Held-out shapes are a fifth of every table; one chip out prices a measured chip as if it had no table."
	table, err := s.operatorTable()
	if err != nil {
		return err
	}
	runs, err := s.pair("", func(m string) plot.Chart { return runErrors(m, s.Fits.Runs) })
	if err != nil {
		return err
	}
	d.Blocks = []Block{operators, table, runs, {Kind: "links", ID: "more", Title: "More", Facts: []Fact{
		{"Every fit, with its plots", "each operator on each chip, each coefficient with its interval", "reference/fits/"},
		{"Coefficients", "what each price rests on", "reference/coefficients/"},
		{"residuals.json", "these figures", "data/residuals.json"}}}}
	return s.page(d)
}

func operatorErrors(of []record.OperatorFit) plot.Chart {
	c := plot.Chart{ID: "residual-operators", Title: "Operators", X: plot.Axis{Label: "absolute error (%)"}, Interval: "to the 95th percentile",
		Whiskers: "the mark is the median, the line goes on to the 95th percentile"}
	held, out := plot.Series{Name: "held-out shapes"}, plot.Series{Name: "one chip out", Tone: 1}
	for _, o := range of {
		for _, one := range []struct {
			to *plot.Series
			e  record.FitError
		}{{&held, o.Held}, {&out, o.OneChipOut}} {
			if one.e.Count == 0 {
				continue
			}
			one.to.Marks = append(one.to.Marks, plot.Mark{X: 100 * one.e.Median, Y: float64(len(c.Y.Names)), Low: 100 * one.e.Median, High: 100 * one.e.P95,
				Text: fmt.Sprintf("%s, %s\nmedian %s, 95th percentile %s over %s", o.Primitive, one.to.Name, percent(one.e.Median), percent(one.e.P95), plural(one.e.Count, "shape"))})
			c.Y.Names = append(c.Y.Names, o.Primitive+", "+one.to.Name)
		}
	}
	c.Series = []plot.Series{held, out}
	return c
}

func (s *site) operatorTable() (Block, error) {
	t := &Table{Caption: "Operators", Sortable: true, CSV: "data/tables/residuals.csv", Columns: []Column{{Label: "Primitive"},
		{Label: "Held-out shapes", Num: true}, {Label: "median", Num: true}, {Label: "95th percentile", Num: true}, {Label: "One chip out, shapes", Num: true}, {Label: "median", Num: true}, {Label: "95th percentile", Num: true}}}
	for _, o := range s.Fits.Operators {
		r := Row{Cells: []Cell{code(o.Primitive)}}
		for _, e := range []record.FitError{o.Held, o.OneChipOut} {
			cells := []Cell{{Text: "none", Class: "few"}, {}, {}}
			if e.Count > 0 {
				cells = []Cell{{Text: count(e.Count), Value: fmt.Sprint(e.Count)}, {Text: percent(e.Median), Value: raw(e.Median)}, {Text: percent(e.P95), Value: raw(e.P95)}}
			}
			r.Cells = append(r.Cells, cells...)
		}
		t.Rows = append(t.Rows, r)
	}
	return s.table("operators", "", "", t)
}

func runErrors(metric string, of []record.RunFit) plot.Chart {
	c := plot.Chart{ID: "residual-runs-" + metric, Title: "Whole runs, " + metricName(metric), X: plot.Axis{Label: "error with its lane left out of the fit (%)"}, Tolerances: []float64{10, 25}}
	row, marks := map[string]int{}, map[string][]plot.Mark{}
	for _, r := range of {
		if r.Metric != metric {
			continue
		}
		if _, ok := row[r.Lane]; !ok {
			row[r.Lane] = len(c.Y.Names)
			c.Y.Names = append(c.Y.Names, r.Lane)
		}
		name := r.Engine
		if r.KVLimited {
			name += ", short of KV space"
		}
		marks[name] = append(marks[name], plot.Mark{X: 100 * r.Error, Y: float64(row[r.Lane]),
			Text: fmt.Sprintf("%s, run %s\nmeasured %s ms, predicted %s ms, error %s", r.Lane, short(r.UnitID), number(1000*r.Measured), number(1000*r.Predicted), signed(r.Error))})
	}
	for tone, name := range sortedKeys(marks) {
		c.Series = append(c.Series, plot.Series{Name: name, Tone: tone, Marks: marks[name]})
	}
	return c
}
