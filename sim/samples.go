package sim

import (
	"math"
	"slices"
)

// runs is an exact distribution of integers kept as runs of equal samples.
type runs struct {
	counts map[int64]int64
	value  int64 // of the run being extended
	n      int64
}

// add counts n samples of value v.
func (r *runs) add(v, n int64) {
	if v == r.value {
		r.n += n
		return
	}
	r.flush()
	r.value, r.n = v, n
}

func (r *runs) flush() {
	if r.n == 0 {
		return
	}
	if r.counts == nil {
		r.counts = map[int64]int64{}
	}
	r.counts[r.value] += r.n
	r.n = 0
}

// merge adds every sample of o.
func (r *runs) merge(o *runs) {
	o.flush()
	for v, n := range o.counts { //determinism:any-order sums of integers
		r.add(v, n)
	}
}

// distribution is sorted samples with their weights, in units of scale seconds.
type distribution struct {
	values  []float64
	through []int64 // samples up to and including this value
}

// distribution sorts the runs; scale turns a value into the metric's unit.
func (r *runs) distribution(scale float64) distribution {
	r.flush()
	keys := make([]int64, 0, len(r.counts))
	for v := range r.counts { //determinism:any-order sorted below
		keys = append(keys, v)
	}
	slices.Sort(keys)
	d := distribution{make([]float64, len(keys)), make([]int64, len(keys))}
	total := int64(0)
	for i, v := range keys {
		total += r.counts[v]
		d.values[i], d.through[i] = float64(v)*scale, total
	}
	return d
}

// distributionOf sorts v in place; every sample has weight 1.
func distributionOf(v []float64) distribution {
	slices.Sort(v)
	return distribution{values: v}
}

// count is the number of samples.
func (d *distribution) count() int64 {
	if n := len(d.through); n > 0 {
		return d.through[n-1]
	}
	return int64(len(d.values))
}

// at is the sample of rank k, from 0.
func (d *distribution) at(k int64) float64 {
	if d.through == nil {
		return d.values[k]
	}
	i, _ := slices.BinarySearch(d.through, k+1)
	return d.values[i]
}

// quantile interpolates linearly between order statistics (NumPy's default; type 7
// of Hyndman and Fan, The American Statistician 50(4), 1996).
func (d *distribution) quantile(q float64) float64 {
	rank := float64(q * float64(d.count()-1))
	k := math.Floor(rank)
	low := d.at(int64(k))
	if rank == k {
		return low
	}
	return low + float64((d.at(int64(k)+1)-low)*(rank-k))
}

// mean and std are over all samples; std is the population's.
func (d *distribution) mean() float64 {
	sum := 0.0
	for i, v := range d.values {
		sum += float64(v * d.weight(i))
	}
	return sum / float64(d.count())
}

func (d *distribution) std() float64 {
	m, sum := d.mean(), 0.0
	for i, v := range d.values {
		sum += float64((v - m) * (v - m) * d.weight(i))
	}
	return math.Sqrt(sum / float64(d.count()))
}

func (d *distribution) weight(i int) float64 {
	switch {
	case d.through == nil:
		return 1
	case i == 0:
		return float64(d.through[0])
	}
	return float64(d.through[i] - d.through[i-1])
}
