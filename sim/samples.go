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

// distribution is samples of one quantity; sorting waits for the first quantile.
type distribution struct {
	values  []float64
	through []int64 // samples up to and including this value; nil when each counts once
	sorted  bool

	mean, std float64 // of every sample; std is the population's. Set by seal.
}

// distribution gives the runs as sorted samples; scale turns a value into the
// metric's unit.
func (r *runs) distribution(scale float64) *distribution {
	r.flush()
	keys := make([]int64, 0, len(r.counts))
	for v := range r.counts { //determinism:any-order sorted below
		keys = append(keys, v)
	}
	slices.Sort(keys)
	d := &distribution{values: make([]float64, len(keys)), through: make([]int64, len(keys)), sorted: true}
	total := int64(0)
	for i, v := range keys {
		total += r.counts[v]
		d.values[i], d.through[i] = float64(float64(v)*scale), total
	}
	d.seal()
	return d
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

// seal computes the moments, in the order of the samples: once sorted, their sums
// would round otherwise.
func (d *distribution) seal() {
	n, sum, squares := float64(d.count()), 0.0, 0.0
	for i, v := range d.values {
		sum += float64(v * d.weight(i))
	}
	d.mean = sum / n
	for i, v := range d.values {
		squares += float64((v - d.mean) * (v - d.mean) * d.weight(i))
	}
	d.std = math.Sqrt(squares / n)
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

// quantile interpolates linearly between order statistics (NumPy's default; type 7
// of Hyndman and Fan, The American Statistician 50(4), 1996).
func (d *distribution) quantile(q float64) float64 {
	if !d.sorted {
		sortPositive(d.values)
		d.sorted = true
	}
	rank := float64(q * float64(d.count()-1))
	k := math.Floor(rank)
	low := d.at(int64(k))
	if rank == k {
		return low
	}
	return low + float64((d.at(int64(k)+1)-low)*(rank-k))
}

// sortPositive sorts numbers of 0 or more by radix: their bits are in their order.
func sortPositive(v []float64) {
	if len(v) < 256 {
		slices.Sort(v)
		return
	}
	a, b := make([]uint64, len(v)), make([]uint64, len(v))
	var any, all uint64 = 0, math.MaxUint64
	for i, x := range v {
		a[i] = math.Float64bits(x)
		any, all = any|a[i], all&a[i]
	}
	for shift := uint(0); shift < 64; shift += radixBits {
		if (any^all)>>shift&radixMask == 0 {
			continue // every sample has the same digit here
		}
		var at [radixMask + 1]int
		for _, x := range a {
			at[x>>shift&radixMask]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range a {
			digit := x >> shift & radixMask
			b[at[digit]] = x
			at[digit]++
		}
		a, b = b, a
	}
	for i, x := range a {
		v[i] = math.Float64frombits(x)
	}
}

const (
	radixBits = 11
	radixMask = 1<<radixBits - 1
)
