package sim

import (
	"cmp"
	"math"
	"slices"
)

// runs is an exact distribution of integers of 0 or more, kept as counts of equal
// samples in an open-addressing table. The zero value is empty.
type runs struct {
	slots []repeated // a power of two; a slot with no count is free
	used  int
}

type repeated struct{ value, count int64 }

// add counts n samples of value v.
func (r *runs) add(v, n int64) {
	if 2*r.used >= len(r.slots) {
		r.grow()
	}
	mask := uint64(len(r.slots) - 1)
	for i := uint64(v) * hashFactor >> 32 & mask; ; i = (i + 1) & mask {
		switch s := &r.slots[i]; {
		case s.count == 0:
			*s = repeated{v, n}
			r.used++
			return
		case s.value == v:
			s.count += n
			return
		}
	}
}

// hashFactor is 2^64 over the golden ratio (Knuth, The Art of Computer Programming 6.4).
const hashFactor = 0x9e3779b97f4a7c15

func (r *runs) grow() {
	old := r.slots
	r.slots, r.used = make([]repeated, max(64, 2*len(old))), 0
	for _, s := range old {
		if s.count > 0 {
			r.add(s.value, s.count)
		}
	}
}

// merge adds every sample of o.
func (r *runs) merge(o *runs) {
	for _, s := range o.slots {
		if s.count > 0 {
			r.add(s.value, s.count)
		}
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
	sorted := slices.DeleteFunc(slices.Clone(r.slots), func(s repeated) bool { return s.count == 0 })
	slices.SortFunc(sorted, func(a, b repeated) int { return cmp.Compare(a.value, b.value) })
	d := &distribution{values: make([]float64, len(sorted)), through: make([]int64, len(sorted)), sorted: true}
	total := int64(0)
	for i, s := range sorted {
		total += s.count
		d.values[i], d.through[i] = float64(float64(s.value)*scale), total
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
