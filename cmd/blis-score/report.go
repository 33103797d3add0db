package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

func printSummary(w io.Writer, s *record.Summary) error {
	data, err := canon.Indent(s)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// printTable is the closing table: points, grades, reasons, and the accuracy of each engine.
func printTable(out io.Writer, in page.Input) {
	c := in.Summary.Coverage
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "units\t%d\tgraded %d\n", c.Units, c.Graded)
	for _, g := range record.Grades() {
		fmt.Fprintf(w, "  %s\t%d\n", g, c.ByGrade[g])
	}
	for _, r := range record.Reasons() {
		if c.ByReason[r] > 0 {
			fmt.Fprintf(w, "    %s\t%d\n", r, c.ByReason[r])
		}
	}
	for _, group := range [][]record.Accuracy{in.Summary.Headline, in.Summary.ByEngine} {
		for _, a := range group {
			fmt.Fprintf(w, "%s\t%s\tmean absolute error %s\n", a.Group, a.Metric, a.MAPE)
		}
	}
	w.Flush()
	if e := in.Summary.Experiment; e != "" {
		fmt.Fprintf(out, "experimental: %s\n", e)
	}
}

func closing(o options) string {
	if o.recordsOnly {
		return fmt.Sprintf("records: %s/data, and %s/points/ID/point.json\n", o.out, o.out)
	}
	key := " --key KEY.pub"
	if o.key == "" {
		key = ""
	}
	charts := ""
	if live, err := site.LibraryThere(o.library); err == nil && !live {
		charts = "charts:  static pictures, for want of the chart library; npm ci in site brings it\n"
	}
	return charts + fmt.Sprintf("site:    %s\nopen:    blis-score serve %s\nverify:  blis-score verify %s%s\n         (go run ./cmd/blis-score in place of blis-score, from the source)\n", o.out, o.out, o.out, key)
}
