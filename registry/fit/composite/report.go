package composite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Errors are relative errors of one metric over some observations.
type Errors struct {
	Lane   string  `json:"lane"` // "" for all
	Metric string  `json:"metric"`
	Count  int     `json:"count"`
	Mean   float64 `json:"mean_absolute"`
	Median float64 `json:"median_absolute"`
	Bias   float64 `json:"mean_signed"`
}

// Errors is the table of predicted against measured, by lane and over all lanes
// together; observations limited by KV capacity are left out, or alone in it.
func (p *Problem) Errors(predicted []float64, capacity bool) []Errors {
	var out []Errors
	for _, lane := range append([]string{""}, p.lanes()...) {
		for _, metric := range []string{"tpot_mean", "ttft_mean"} {
			var e []float64
			for i := range p.Observations {
				o := &p.Observations[i]
				if o.Capacity == capacity && o.Metric == metric && (lane == "" || o.Lane == lane) {
					e = append(e, predicted[i]/o.Measured-1)
				}
			}
			if len(e) > 0 {
				out = append(out, summarise(lane, metric, e))
			}
		}
	}
	return out
}

func summarise(lane, metric string, e []float64) Errors {
	s := Errors{Lane: lane, Metric: metric, Count: len(e)}
	abs := make([]float64, len(e))
	for i, v := range e {
		abs[i] = math.Abs(v)
		s.Mean += abs[i] / float64(len(e))
		s.Bias += v / float64(len(e))
	}
	slices.Sort(abs)
	s.Median = (abs[len(abs)/2] + abs[(len(abs)-1)/2]) / 2
	return s
}

// Text writes values with intervals and the left-out table for people.
func (p *Problem) Text(f *Fit) string {
	var b strings.Builder
	for j, q := range p.Parameters {
		fmt.Fprintf(&b, "%-16s %-28s %10.4g  95%% [%.4g, %.4g] %s\n", q.Key.Primitive, q.Key.Kernel+" "+strings.Join(q.Chips, " "), f.Values[j], f.Low[j], f.High[j], q.Unit)
	}
	for _, t := range []struct {
		title     string
		predicted []float64
		capacity  bool
	}{{"all lanes fitted", f.Predicted, false}, {"own lane left out", f.LeftOut, false}, {"own lane left out, limited by KV capacity", f.LeftOut, true}} {
		b.WriteString("\n" + Table(t.title, p.Errors(t.predicted, t.capacity)))
	}
	return b.String()
}

// Table writes errors for people.
func Table(title string, errors []Errors) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%-44s %-10s %5s %7s %7s %7s\n", title, "lane", "metric", "count", "mean", "median", "bias")
	for _, e := range errors {
		fmt.Fprintf(&b, "%-44s %-10s %5d %6.1f%% %6.1f%% %+6.1f%%\n", cmp.Or(e.Lane, "all"), e.Metric, e.Count, 100*e.Mean, 100*e.Median, 100*e.Bias)
	}
	return b.String()
}

// Report is the published record of a fit.
type Report struct {
	Engine     string           `json:"engine"`
	Units      int              `json:"units"`
	Left       map[string]int   `json:"units_left_out"` // by the harness's reason
	Parameters []ReportedValue  `json:"parameters"`
	Fitted     []Errors         `json:"errors_all_lanes_fitted"`
	LeftOut    []Errors         `json:"errors_own_lane_left_out"`
	Capacity   []Errors         `json:"errors_limited_by_kv_capacity"`
	Runs       []ReportedFigure `json:"runs"`
}

// ReportedValue is one coefficient with its interval, and its range over the fits
// that left a lane out.
type ReportedValue struct {
	Name         string     `json:"name"`
	Kernel       string     `json:"kernel,omitempty"`
	Chips        []string   `json:"chips,omitempty"`
	Meaning      string     `json:"meaning"`
	Unit         string     `json:"unit"`
	Value        float64    `json:"value"`
	Interval     [2]float64 `json:"interval_95"`
	LanesLeftOut [2]float64 `json:"range_over_lanes_left_out"`
	Identified   bool       `json:"identified"`
}

// ReportedFigure is one measured figure and both predictions of it.
type ReportedFigure struct {
	Unit     string  `json:"unit_id"`
	Lane     string  `json:"lane"`
	Metric   string  `json:"metric"`
	Measured float64 `json:"measured_s"`
	Fitted   float64 `json:"fitted_s"`
	LeftOut  float64 `json:"lane_left_out_s"`
	Capacity bool    `json:"limited_by_kv_capacity,omitempty"`
}

// Report puts a fit on record; figures carry four significant digits.
func (p *Problem) Report(engine string, f *Fit, left map[string]int) Report {
	r := Report{Engine: engine, Units: len(p.Observations) / len(metrics), Left: left,
		Fitted: p.Errors(f.Predicted, false), LeftOut: p.Errors(f.LeftOut, false), Capacity: p.Errors(f.LeftOut, true)}
	for j, q := range p.Parameters {
		v := ReportedValue{Name: string(q.Key.Primitive), Kernel: q.Key.Kernel, Chips: q.Chips, Meaning: q.Meaning, Unit: q.Unit,
			Value: f.Values[j], Interval: [2]float64{f.Low[j], f.High[j]}, LanesLeftOut: [2]float64{math.Inf(1), 0}}
		for _, lane := range p.lanes() {
			x := f.ByLane[lane][j]
			v.LanesLeftOut = [2]float64{math.Min(v.LanesLeftOut[0], digits(x)), math.Max(v.LanesLeftOut[1], digits(x))}
		}
		v.Identified = v.Value > 0 && (v.Interval[1]-v.Interval[0]) <= v.Value/2
		r.Parameters = append(r.Parameters, v)
	}
	for i := range p.Observations {
		o := &p.Observations[i]
		r.Runs = append(r.Runs, ReportedFigure{o.Unit, o.Lane, o.Metric, digits(o.Measured), digits(f.Predicted[i]), digits(f.LeftOut[i]), o.Capacity})
	}
	for _, t := range [][]Errors{r.Fitted, r.LeftOut, r.Capacity} {
		for i := range t {
			t[i].Mean, t[i].Median, t[i].Bias = digits(t[i].Mean), digits(t[i].Median), digits(t[i].Bias)
		}
	}
	return r
}

// Round keeps three significant digits of the fit's values and intervals, below
// what the data tell apart; what is written is what was simulated.
func (f *Fit) Round() {
	for _, v := range [][]float64{f.Values, f.Low, f.High} {
		for j := range v {
			v[j] = significant(v[j], 3)
		}
	}
}

func digits(v float64) float64 { return significant(v, 4) }

func significant(v float64, n int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	return r
}
