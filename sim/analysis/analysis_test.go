package analysis

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

func stream(name string, i int) *substream.Stream {
	f := substream.New(9, "test", name)
	s := f.At(uint64(i))
	return &s
}

// The whole paired procedure, repeated on a known difference, covers it at its level.
func TestPairedCoversAKnownDifference(t *testing.T) {
	keep.Rule(t, "DEV-11")
	const repeats, difference = 1000, 0.3
	covered, wrong := 0, 0
	for i := range repeats {
		s := stream("paired", i)
		var a, b []float64
		for range 8 {
			common := s.Normal()
			a = append(a, 10+common+0.2*s.Normal())
			b = append(b, 10+difference+common+0.2*s.Normal())
		}
		c, err := Paired(a, b, 0, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if c.Difference.Low <= difference && difference <= c.Difference.High {
			covered++
		}
		if c.Outcome == Lower {
			wrong++
		}
	}
	if covered < 930 || covered > 970 {
		t.Errorf("covered %d of %d, want 950 within 20", covered, repeats)
	}
	if wrong > 2 {
		t.Errorf("called lower %d times", wrong)
	}
}

// Metrics whose true differences are the margin itself have no winner. Comparing them as
// the commands do, by Holm's method and the whole interval, names one at most as often as
// the level allows over all of them together.
func TestFalseWinnersAtTheMargin(t *testing.T) {
	keep.Rule(t, "DEV-11")
	const families, metrics, seeds, margin, alpha = 4000, 4, 5, 1.0, 0.05
	named, rejected := 0, 0
	for i := range families {
		s := stream("margin", i)
		var p []float64
		var beyond []bool
		for range metrics {
			var a, b []float64
			for range seeds {
				common := s.Normal()
				a, b = append(a, 10+common), append(b, 10+margin+common+s.Normal())
			}
			c, err := Paired(a, b, margin, 1-alpha)
			if err != nil {
				t.Fatal(err)
			}
			p, beyond = append(p, c.P), append(beyond, c.Outcome != NotDistinguished)
		}
		winner, any := false, false
		for k, keep := range Holm(p, alpha) {
			winner, any = winner || keep && beyond[k], any || keep
		}
		if winner {
			named++
		}
		if any {
			rejected++
		}
	}
	if limit := int(families*alpha + 3*math.Sqrt(families*alpha*(1-alpha))); named > limit || rejected > limit {
		t.Errorf("%d families of %d named a false winner and %d rejected, want at most %d", named, families, rejected, limit)
	}
}

func TestPairedOutcomes(t *testing.T) {
	keep.Rule(t, "DEV-11")
	a := []float64{10, 11, 12, 13, 14}
	shift := func(d ...float64) []float64 {
		b := slices.Clone(a)
		for i := range b {
			b[i] += d[i%len(d)]
		}
		return b
	}
	cases := []struct {
		name       string
		b          []float64
		margin     float64
		want       Outcome
		equivalent bool
	}{
		{"higher", shift(1, 1.1), 0.5, Higher, false},
		{"lower", shift(-1, -1.1), 0.5, Lower, false},
		{"within the margin", shift(0.1, -0.1), 0.5, NotDistinguished, true},
		{"too noisy", shift(5, -5), 0.5, NotDistinguished, false},
		{"higher, but not by the margin", shift(0.4, 0.42), 0.5, NotDistinguished, true},
	}
	for _, c := range cases {
		got, err := Paired(a, c.b, c.margin, 0.95)
		if err != nil || got.Outcome != c.want || got.Equivalent != c.equivalent {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	if _, err := Paired(a, a[:4], 0, 0.95); !errors.Is(err, ErrTooFew) {
		t.Errorf("unpaired: got %v", err)
	}
}

func TestWarmupCutsTheTransient(t *testing.T) {
	s := stream("warm-up", 0)
	series := make([]float64, 1000)
	for i := range series {
		series[i] = 5 - 5*math.Exp(-float64(i)/30) + 0.3*s.Normal()
	}
	cut, err := Warmup(series)
	if err != nil || cut < 50 || cut > 250 {
		t.Errorf("got %d, %v, want a cut around 100", cut, err)
	}
	for i := range series {
		series[i] = 5 + 0.3*s.Normal()
	}
	if cut, _ = Warmup(series); cut > 250 {
		t.Errorf("a series without a transient: cut %d", cut)
	}
}

// The cut is the one that minimises the squared standard error of what is left, here
// computed anew for every cut.
func TestWarmupMinimisesTheStandardError(t *testing.T) {
	for i := range 50 {
		s, x := stream("cuts", i), 0.0
		series := make([]float64, 200+i)
		for k := range series {
			x = 0.9*x + s.Normal()
			series[k] = 1e6 + x
		}
		means := batchMeans(series[:len(series)/5*5], len(series)/5)
		want, best := 0, math.Inf(1)
		for d := range len(means)/2 + 1 {
			mean, squares := 0.0, 0.0
			for _, m := range means[d:] {
				mean += m / float64(len(means)-d)
			}
			for _, m := range means[d:] {
				squares += (m - mean) * (m - mean)
			}
			if v := squares / float64(len(means)-d) / float64(len(means)-d); v < best {
				best, want = v, 5*d
			}
		}
		if got, err := Warmup(series); err != nil || got != want {
			t.Errorf("series %d: got %d, %v, want %d", i, got, err, want)
		}
	}
	if cut, err := Warmup(slices.Repeat([]float64{0.1}, 1000)); err != nil || cut != 0 {
		t.Errorf("a constant series: cut %d, %v", cut, err)
	}
}

func TestBatchMeansCover(t *testing.T) {
	keep.Rule(t, "DEV-11")
	covered := 0
	const runs = 300
	for i := range runs {
		s, x := stream("batches", i), 0.0
		series := make([]float64, 6000)
		for k := range series { // AR(1) around 0
			x = 0.7*x + s.Normal()
			series[k] = x
		}
		e, err := BatchMeans(series, 0.95)
		if err == nil && e.Low <= 0 && 0 <= e.High {
			covered++
		}
	}
	if covered < runs*90/100 {
		t.Errorf("covered %d of %d", covered, runs)
	}
	trend := make([]float64, 300)
	for i := range trend {
		trend[i] = float64(i)
	}
	if _, err := BatchMeans(trend, 0.95); err == nil {
		t.Error("a trend was estimated from")
	}
}

func TestHolm(t *testing.T) {
	keep.Rule(t, "DEV-11")
	if got, want := Holm([]float64{0.04, 0.001, 0.03, 0.012}, 0.05), []bool{false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBootstrapCoversAMean(t *testing.T) {
	covered := 0
	for i := range 200 {
		s := stream("bootstrap", i)
		x := make([]float64, 60)
		for k := range x {
			x[k] = s.Exponential()
		}
		low, high := Bootstrap(len(x), func(drawn []int) float64 {
			sum := 0.0
			for _, k := range drawn {
				sum += x[k]
			}
			return sum / float64(len(drawn))
		}, 400, 0.95, s)
		if low <= 1 && 1 <= high {
			covered++
		}
	}
	if covered < 174 {
		t.Errorf("covered %d of 200", covered)
	}
}

func TestTwoSample(t *testing.T) {
	keep.Rule(t, "DEV-7")
	draw := func(name string, shift float64) []float64 {
		s := stream(name, 0)
		x := make([]float64, 400)
		for i := range x {
			x[i] = s.Normal() + shift
		}
		return x
	}
	if p := TwoSample(draw("a", 0), draw("b", 0)); p < 0.01 {
		t.Errorf("one distribution: p = %v", p)
	}
	if p := TwoSample(draw("a", 0), draw("b", 0.4)); p > 0.001 {
		t.Errorf("two distributions: p = %v", p)
	}
}
