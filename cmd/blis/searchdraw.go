package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/sim/search"
)

// drawSearch prints a report for people: the ranking, what is not ranked and why, how
// far to trust it.
func drawSearch(out io.Writer, file string, r *search.Report) error {
	w := &lines{to: out}
	w.print("%s: %d arms of %s, %s\n", file, len(r.Arms), r.Inputs.Base.Path, replicationsOf(r))
	if len(r.Order) > 0 {
		w.ranking(r)
	}
	w.rest(r)
	w.again(r)
	w.moved(r)
	w.trust(r)
	w.foot(r)
	return w.err
}

// lines keeps the first error of what is printed.
type lines struct {
	to  io.Writer
	err error
}

func (w *lines) print(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.to, format, args...)
	}
}

// table prints rows in columns.
func (w *lines) table(rows [][]string) {
	t := tabwriter.NewWriter(w.to, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	if w.err == nil {
		w.err = t.Flush()
	}
}

func replicationsOf(r *search.Report) string {
	c := r.Comparison
	switch c.Runs {
	case 0:
		return "none of which runs"
	case 1:
		return "one run each: nothing is drawn"
	}
	return fmt.Sprintf("each run with the seeds %d to %d", c.First, int(c.First)+c.Runs-1)
}

// quantityName is a figure's metric, with its scope where that is not the whole cluster.
func quantityName(f *search.Figure) string {
	name := f.Metric
	if f.Aggregate != "" {
		name = f.Aggregate + " " + name
	}
	if f.Scope != "cluster" {
		name += " of " + f.Scope
	}
	return name
}

func (w *lines) ranking(r *search.Report) {
	first := &r.Arms[r.Order[0]-1]
	head := []string{"place"}
	for _, c := range first.Choices {
		head = append(head, c.Axis)
	}
	head = append(head, "chips")
	objectives := len(r.Inputs.Spec.Rank)
	for i := range first.Figures {
		f := &first.Figures[i]
		head = append(head, strings.TrimSpace(quantityName(f)+" ("+f.Unit+") "+f.Required))
	}
	rows := [][]string{append(head, "standing")}
	for k, n := range r.Order {
		a := &r.Arms[n-1]
		row := []string{placeOf(r, a, k)}
		row = append(row, optionsOf(a)...)
		row = append(row, fmt.Sprint(a.Run.Accelerators))
		for i := range a.Figures {
			row = append(row, figureText(&a.Figures[i]))
		}
		rows = append(rows, append(row, standingOf(r, a, objectives)))
	}
	w.print("\n")
	w.table(rows)
}

func figureText(f *search.Figure) string {
	if f.Interval == nil {
		return fmt.Sprintf("%.4g", f.Value)
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", f.Value, f.Interval.Low, f.Interval.High)
}

// placeOf is a place that says what is tied: 1= stands for all that are not told apart
// from the best, or from the front, and for the best itself where some are.
func placeOf(r *search.Report, a *search.Result, k int) string {
	notTold := func(n int) bool { return r.Arms[n-1].Standing == search.NotTold }
	switch {
	case strings.HasPrefix(a.Standing, "not told"), a.Standing == search.Best && slices.ContainsFunc(r.Order, notTold), same(r, a) != nil:
		return "1="
	case len(a.Differences) == 0:
		return "1"
	case a.Standing == search.Dominated:
		return "-"
	}
	return fmt.Sprint(k + 1)
}

// same is another arm on the front with the figures of a, which is on it; nil for none.
func same(r *search.Report, a *search.Result) *search.Result {
	for _, n := range r.Order {
		b := &r.Arms[n-1]
		if b == a || a.Standing != search.Front || b.Standing != search.Front {
			continue
		}
		if a.Figures[0].Value == b.Figures[0].Value && a.Figures[1].Value == b.Figures[1].Value {
			return b
		}
	}
	return nil
}

// signed is a share as a difference in percent; one that rounds to nothing has no sign.
func signed(share float64) string {
	text := fmt.Sprintf("%+.1f%%", 100*share)
	if v := text[1:]; v == "0.0%" {
		return v
	}
	return text
}

// standingOf is an arm's standing, with its differences from the arm that says so.
func standingOf(r *search.Report, a *search.Result, objectives int) string {
	if b := same(r, a); b != nil {
		return a.Standing + ", tied with " + options(b)
	}
	if a.Against == 0 {
		return a.Standing
	}
	var each []string
	base := &r.Arms[a.Against-1]
	for i, d := range a.Differences {
		text := signed(d.Share)
		if v, of := d.Interval, abs(base.Figures[i].Value); v != nil && of > 0 {
			text += " [" + signed(v.Low/of) + ", " + signed(v.High/of) + "]"
		}
		if d.Equivalent {
			text += " equivalent"
		}
		each = append(each, text)
	}
	name, _, _ := strings.Cut(a.Standing, " from the")
	text := name + ", " + strings.Join(each, ", ")
	if objectives > 1 {
		text += " from " + options(base)
	}
	return text
}

func optionsOf(a *search.Result) (out []string) {
	for _, c := range a.Choices {
		out = append(out, c.Option)
	}
	return out
}

func options(a *search.Result) string {
	var out []string
	for _, c := range a.Choices {
		out = append(out, c.Axis+"="+c.Option)
	}
	return strings.Join(out, " ")
}

func percent(share float64) string { return fmt.Sprintf("%g%%", 100*share) }

func abs(v float64) float64 { return max(v, -v) }

// rest lists the arms without a place; neighbours that differ in the last axis alone and
// have one reason share a line.
func (w *lines) rest(r *search.Report) {
	rows := [][]string{}
	var last *search.Result
	for i := range r.Arms {
		a := &r.Arms[i]
		if a.Standing != "" {
			last = nil
			continue
		}
		n := len(a.Choices) - 1
		if last != nil && a.Status == last.Status && a.Reason == last.Reason && slices.Equal(a.Choices[:n], last.Choices[:n]) {
			rows[len(rows)-1][0] += ", " + a.Choices[n].Option
		} else {
			rows = append(rows, []string{"  " + options(a), strings.ReplaceAll(string(a.Status), "_", " "), a.Reason})
		}
		last = a
	}
	if len(rows) > 0 {
		w.print("\nNot ranked:\n")
		w.table(rows)
	}
}

// again prints what fresh seeds say of the winners.
func (w *lines) again(r *search.Report) {
	if r.Comparison.Fresh == 0 {
		return
	}
	c := r.Comparison
	w.print("\nThe winners again, with the seeds %d to %d, which had no part in the choice:\n", c.Fresh, int(c.Fresh)+c.Runs-1)
	rows := [][]string{}
	for _, n := range r.Order {
		a := &r.Arms[n-1]
		if a.Fresh == nil {
			continue
		}
		row := []string{"  " + options(a)}
		for i := range a.Fresh.Figures {
			f := &a.Fresh.Figures[i]
			row = append(row, quantityName(f)+" "+figureText(f))
		}
		rows = append(rows, append(row, a.Fresh.Problem))
	}
	w.table(rows)
}

// moved prints who wins with prices at the ends of their intervals.
func (w *lines) moved(r *search.Report) {
	s := r.Sensitivity
	if s == nil {
		return
	}
	verdict := "the winners stay"
	if !s.Holds {
		verdict = "another arm wins"
	}
	w.print("\nPrices moved to the ends of their 95%% intervals, with the seed %d: %s. These intervals hold the mean over shapes only, not the error of single shapes. %.0f%% of the winners' time has prices without an interval, which stay.\n", s.Seed, verdict, 100*s.Unstated)
	rows := [][]string{}
	for _, c := range s.Coefficients {
		row := []string{"  " + c.Name, fmt.Sprintf("%.0f%% of time", 100*c.Share)}
		for _, e := range c.Ends {
			wins := "no change"
			for i, n := range e.New {
				wins = strings.TrimPrefix(wins, "no change")
				if i > 0 {
					wins += "; "
				}
				wins += options(&r.Arms[n-1])
			}
			row = append(row, fmt.Sprintf("x%.4g: %s", e.Factor, wins))
		}
		if e := c.ShapeError; e != nil {
			row = append(row, fmt.Sprintf("error of a single shape: p95 %.2g%%", 100**e))
		}
		rows = append(rows, row)
	}
	w.table(rows)
}

// trust groups the arms that ran by what their figures rest on.
func (w *lines) trust(r *search.Report) {
	var texts []string
	of := map[string][]string{} // the arms it is said of
	add := func(text string, a *search.Result) {
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], options(a))
	}
	ran := 0
	for i := range r.Arms {
		a := &r.Arms[i]
		if a.Run == nil {
			continue
		}
		ran++
		add("least trusted method: "+a.Run.Method, a)
		if a.Run.Extrapolated != "" {
			add(a.Run.Extrapolated, a)
		}
		for _, p := range a.Run.Acceptance {
			step := strings.Join(append([]string{p.Step}, p.Differs...), ", another ")
			add(fmt.Sprintf("acceptance of %s with %s: %s (%s)", p.Target, p.Drafter, p.Source, step), a)
		}
	}
	if ran == 0 {
		return
	}
	w.print("\nHow far to trust it:\n")
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(len(of[b]), len(of[a])) })
	for _, text := range texts {
		switch said := of[text]; {
		case len(said) == ran:
		case len(said) > 3:
			text += fmt.Sprintf(" (%d of the %d arms that ran)", len(said), ran)
		default:
			text += " (" + strings.Join(said, "; ") + ")"
		}
		w.print("  %s\n", text)
	}
}

// foot prints how arms were compared, and what the report rests on.
func (w *lines) foot(r *search.Report) {
	c := r.Comparison
	w.print("\n")
	if c.Count > 0 {
		plural := "s"
		if c.Count == 1 {
			plural = ""
		}
		w.print("%d comparison%s: %s; margin %s.\n", c.Count, plural, c.Method, percent(r.Inputs.Spec.Margin))
	}
	if c.Runs > 1 {
		w.print("Confidence: %s for all differences together, and for each interval [low, high] alone, which covers %s.\n", percent(c.Level), c.Covers)
	} else {
		w.print("No intervals: %s.\n", c.Covers)
	}
	w.print("Build: %s, commit %s.", r.Build.Release, r.Build.Commit)
	if len(r.Experimental) > 0 {
		w.print(" Experimental: %s", strings.Join(r.Experimental, " "))
	}
	w.print("\nInputs: spec %.12s, base %.12s", r.Inputs.SpecSHA256, r.Inputs.Base.SHA256)
	for _, s := range r.Inputs.Data {
		w.print(", %s %.12s", s.Kind, s.SHA256)
	}
	if a := r.Inputs.Accuracy; a != nil {
		w.print(", summary %.12s of %s", a.SummarySHA256, a.Build.Release)
	}
	w.print("\n")
}
