package docgen

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/registry/fit"
	"github.com/inference-sim/accuracy-dashboard/registry/fit/composite"
)

// Fits is what the writers of the registry left on record.
type Fits struct {
	Operators *fit.Report
	Whole     []composite.Report // one an engine
	Plots     fs.FS              // plots/*.svg
}

// fits shows how good each method is: operators on shapes and chips they never saw,
// and whole runs with their own lane left out of the fit (VAL-5).
func fits(in Fits, out map[string][]byte) (string, error) {
	if in.Operators == nil {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("## Operators\n\nEach cell is the median and the 95th percentile of the absolute error, over the number of shapes beside it. Held-out shapes are a fifth of every table, " +
		"drawn by a hash of the shape; the frontier is the upper end of a size; one chip out prices a measured chip as if it had no table. " +
		"Knots and smoothing were chosen while these shapes were in view, so the figures are somewhat optimistic.\n\n")
	var rows [][]string
	for _, p := range in.Operators.Families {
		rows = append(rows, []string{code(string(p.Primitive)), fmt.Sprint(p.Kernels), judged(p.Held), judged(p.Table), judged(p.Frontier), judged(p.LeftOut), judged(p.Same)})
	}
	b.WriteString(table([]string{"primitive", "kernels", "held-out shapes", "interpolating the table", "frontier", "one chip out", "of them with a donor of the same architecture"}, rows))
	if err := pictures(in.Plots, out, &b); err != nil {
		return "", err
	}
	for _, r := range in.Whole {
		whole(&b, r)
	}
	return b.String(), nil
}

func judged(j fit.Judged) string {
	if j.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%s, %s (%d)", percent(j.Median), percent(j.P95), j.N)
}

// pictures publishes the plots beside the page and shows them in pairs.
func pictures(plots fs.FS, out map[string][]byte, b *strings.Builder) error {
	names, err := fs.Glob(plots, "plots/*.svg")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		data, err := fs.ReadFile(plots, n)
		if err != nil {
			return err
		}
		out[dir+n] = data
		what, kind, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(path.Base(n), ".svg"), "-", " "), " fit")
		title := what + ", fitted without it against measured"
		if kind == "" && strings.HasSuffix(what, " error") {
			title = strings.TrimSuffix(what, " error") + ", residual over ideal time"
		}
		fmt.Fprintf(b, "\n![%s](/reference/%s)\n", title, n)
	}
	return nil
}

// whole writes one engine's fit to whole runs.
func whole(b *strings.Builder, r composite.Report) {
	fmt.Fprintf(b, "\n## Whole runs of %s\n\n%d measured runs of role fit. A coefficient whose interval is wider than half its value is not determined by them and prices as assumed.\n\n", r.Engine, r.Units)
	var rows [][]string
	for _, p := range r.Parameters {
		rows = append(rows, []string{code(strings.TrimSpace(p.Name + " " + p.Kernel)), p.Meaning, fmt.Sprintf("%.3g %s", p.Value, p.Unit),
			fmt.Sprintf("%.3g to %.3g", p.Interval[0], p.Interval[1]), fmt.Sprint(p.Identified)})
	}
	b.WriteString(table([]string{"coefficient", "meaning", "value", "95% interval", "determined"}, rows))
	b.WriteString("\nErrors with the run's own lane left out of the fit; runs limited by KV capacity are apart.\n\n")
	rows = nil
	for _, e := range append(slices.Clone(r.LeftOut), r.Capacity...) {
		lane := e.Lane
		if lane == "" {
			lane = "all lanes"
		}
		rows = append(rows, []string{lane, code(e.Metric), fmt.Sprint(e.Count), percent(e.Mean), percent(e.Median), percent(e.Bias)})
	}
	b.WriteString(table([]string{"lane", "metric", "runs", "mean absolute error", "median", "bias"}, rows))
}
