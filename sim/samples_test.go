package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A run-length distribution and a list of the same samples have one set of statistics.
func TestRunsAgreeWithSingleSamples(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 1))
	var r runs
	single := &distribution{}
	for range 300 {
		v, n := int64(g.IntN(40)), int64(1+g.IntN(9))
		if v >= 30 { // beyond the counters
			v += smallLimit
		}
		r.add(v, n)
		for range n {
			single.values = append(single.values, float64(v))
		}
	}
	d := r.distribution(1)
	single.seal()
	if d.count() != single.count() || math.Abs(d.mean-single.mean) > 1e-9 || math.Abs(d.std-single.std) > 1e-9 {
		t.Errorf("got %d, %v, %v, want %d, %v, %v", d.count(), d.mean, d.std, single.count(), single.mean, single.std)
	}
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		if got, want := d.quantile(q), single.quantile(q); got != want {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
}

// numpy.percentile([1, 2, 3, 4], [0, 25, 50, 90, 100]) is [1, 1.75, 2.5, 3.7, 4].
func TestQuantileInterpolatesAsNumPy(t *testing.T) {
	d := &distribution{values: []float64{4, 1, 3, 2}}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 2.5, 0.9: 3.7, 1: 4} {
		if got := d.quantile(q); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: got %v, want %v", q, got, want)
		}
	}
}

func TestSortPositive(t *testing.T) {
	g := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 255, 256, 5000} {
		v := make([]float64, n)
		for i := range v {
			v[i] = g.ExpFloat64() * float64(g.IntN(2)) * math.Pow(10, float64(g.IntN(9)))
		}
		want := slices.Sorted(slices.Values(v))
		if sortPositive(v); !slices.Equal(v, want) {
			t.Errorf("%d samples are not sorted", n)
		}
	}
}
