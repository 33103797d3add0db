package scorer

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// SummarySchema names the layout of a Summary.
const SummarySchema = "blis.summary/1"

// Resamples is the number of bootstrap resamples behind an interval.
const Resamples = 2000

// FewestKeys is the fewest role keys an interval is drawn from. A resample never leaves
// the range of its k values, and that range holds the centre they scatter about with
// probability 1 - 2^(1-k): 0.97 of six, 0.94 of five.
const FewestKeys = 6

// grouping is one way to split points into groups.
type grouping struct {
	of func(*record.Point) string
	to func(*record.Summary) *[]record.Accuracy
}

var groupings = []grouping{
	{whole, func(s *record.Summary) *[]record.Accuracy { return &s.Headline }},
	{func(p *record.Point) string { return string(p.Grade) }, func(s *record.Summary) *[]record.Accuracy { return &s.ByGrade }},
	{func(p *record.Point) string { return p.Engine }, func(s *record.Summary) *[]record.Accuracy { return &s.ByEngine }},
	{lane, func(s *record.Summary) *[]record.Accuracy { return &s.ByLane }},
	{func(p *record.Point) string { return p.Hardware }, func(s *record.Summary) *[]record.Accuracy { return &s.ByChip }},
	{func(p *record.Point) string { return p.Model }, func(s *record.Summary) *[]record.Accuracy { return &s.ByModel }},
	{band, func(s *record.Summary) *[]record.Accuracy { return &s.ByBand }},
}

// band puts a concurrency in a power-of-four band.
func band(p *record.Point) string {
	for low := 1; ; low *= 4 {
		if p.Concurrency < low*4 {
			return fmt.Sprintf("%d to %d", low, low*4-1)
		}
	}
}

// Summarize reduces points to the published figures. build and coverage come from
// the caller; the rest depends on points alone, whatever their order.
func Summarize(points []record.Point, build record.Build, coverage record.Coverage) *record.Summary {
	s := &record.Summary{Schema: SummarySchema, Build: build, Coverage: coverage}
	for _, g := range groupings {
		*g.to(s) = accuracies(points, g.of)
	}
	s.Distances = append(distances(points, whole), distances(points, lane)...)
	return s
}

func whole(*record.Point) string  { return "G1 to G4" }
func lane(p *record.Point) string { return p.Lane }

// sample is one point's error on one metric.
type sample struct {
	key     string // role key: what the bootstrap draws
	signed  float64
	counted float64 // absolute, 0 when within the measurement's own noise (COV-10)
}

// accuracies gives one Accuracy a group and metric, in order of name.
func accuracies(points []record.Point, of func(*record.Point) string) []record.Accuracy {
	groups := map[[2]string][]sample{}
	for i := range points {
		p := &points[i]
		if p.Grade == record.G5 {
			continue
		}
		for id, m := range p.Metrics { //determinism:any-order each metric goes to its own group
			k := [2]string{of(p), id}
			groups[k] = append(groups[k], sample{p.RoleKey, m.RelativeError, counted(m)})
		}
	}
	out := make([]record.Accuracy, 0, len(groups))
	for _, k := range inOrder(groups) {
		out = append(out, accuracy(k[0], k[1], groups[k]))
	}
	return out
}

// distances gives one Closeness a group, in order of name.
func distances(points []record.Point, of func(*record.Point) string) []record.Closeness {
	groups := map[[2]string][]sample{}
	for i := range points {
		if p := &points[i]; p.Grade != record.G5 && p.Distance != nil {
			k := [2]string{of(p)}
			groups[k] = append(groups[k], sample{key: p.RoleKey, signed: p.Distance.Value})
		}
	}
	out := []record.Closeness{}
	for _, k := range inOrder(groups) {
		a := accuracy(k[0], "", groups[k])
		out = append(out, record.Closeness{Group: k[0], Mean: a.MAPE, Median: a.MedianAPE})
	}
	return out
}

func inOrder[T any](groups map[[2]string]T) [][2]string {
	keys := make([][2]string, 0, len(groups))
	for k := range groups { //determinism:any-order sorted below
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return keys
}

func counted(m record.Metric) float64 {
	if e := math.Abs(m.RelativeError); m.Noise == nil || e > *m.Noise {
		return e
	}
	return 0
}

// statistics of a group, each with its name on the record.
var statistics = []func([]sample) float64{
	func(s []sample) float64 { return mean(s, func(x sample) float64 { return math.Abs(x.signed) }) },
	func(s []sample) float64 { return median(s, func(x sample) float64 { return math.Abs(x.signed) }) },
	func(s []sample) float64 { return mean(s, func(x sample) float64 { return x.signed }) },
	deviation,
	func(s []sample) float64 { return mean(s, func(x sample) float64 { return x.counted }) },
}

// accuracy computes every statistic of one group with its bootstrap interval.
func accuracy(group, metric string, samples []sample) record.Accuracy {
	slices.SortFunc(samples, func(a, b sample) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.signed, b.signed)) })
	draws, keys := bootstrap(samples)
	fig := func(i int) record.Figure {
		v := statistics[i](samples)
		switch {
		case keys == 1:
			return record.NewBareFigure(v, "ratio", len(samples), group, "no interval: every point belongs to one deployment, so nothing independent is left to resample")
		case keys < FewestKeys:
			return record.NewBareFigure(v, "ratio", len(samples), group, fmt.Sprintf("no interval: %d deployments are too few to resample; %d are needed", keys, FewestKeys))
		}
		lo, hi := percentile(draws[i], 0.025), percentile(draws[i], 0.975)
		return record.NewFigure(v, "ratio", len(samples), group, lo, hi,
			fmt.Sprintf("95%% over which deployments were measured: %d resamples of %d role keys", Resamples, keys))
	}
	return record.Accuracy{Group: group, Metric: metric, MAPE: fig(0), MedianAPE: fig(1), Bias: fig(2), Spread: fig(3), CountedMAPE: fig(4)}
}

// bootstrap resamples whole role keys, because the points of one deployment's
// sweep share its errors and are not independent. The seed is fixed: one set of
// points has one interval.
func bootstrap(samples []sample) (draws [][]float64, keys int) {
	clusters := clusters(samples)
	draws = make([][]float64, len(statistics))
	if len(clusters) < FewestKeys {
		return draws, len(clusters)
	}
	rng := rand.New(rand.NewPCG(11, 22))
	var resample []sample
	for range Resamples {
		resample = resample[:0]
		for range clusters {
			resample = append(resample, clusters[rng.IntN(len(clusters))]...)
		}
		for i, f := range statistics {
			draws[i] = append(draws[i], f(resample))
		}
	}
	return draws, len(clusters)
}

// clusters splits samples, which are in order of role key, by it.
func clusters(samples []sample) [][]sample {
	var out [][]sample
	for i := 0; i < len(samples); {
		j := i
		for j < len(samples) && samples[j].key == samples[i].key {
			j++
		}
		out = append(out, samples[i:j])
		i = j
	}
	return out
}

func mean(s []sample, f func(sample) float64) float64 {
	sum := 0.0
	for _, x := range s {
		sum += f(x)
	}
	return sum / float64(len(s))
}

func median(s []sample, f func(sample) float64) float64 {
	v := make([]float64, len(s))
	for i, x := range s {
		v[i] = f(x)
	}
	return percentile(v, 0.5)
}

func deviation(s []sample) float64 {
	m := mean(s, func(x sample) float64 { return x.signed })
	return math.Sqrt(mean(s, func(x sample) float64 { d := x.signed - m; return float64(d * d) }))
}

// percentile interpolates linearly between order statistics, as NumPy does.
func percentile(v []float64, q float64) float64 {
	slices.Sort(v)
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[i] + float64((at-float64(i))*(v[i+1]-v[i]))
}
