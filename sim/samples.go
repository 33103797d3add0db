package sim

import (
	"math"
	"slices"
)

// runs is an exact distribution of integers of 0 or more, kept as runs of equal
// samples. Small values have a counter each; runs of larger ones are appended and now
// and then sorted and merged, so that counting touches memory in order. The zero
// value is empty.
type runs struct {
	small []uint32 // samples by value
	list  []uint64 // value above, count in the low countBits
	full  int      // length at which the list is merged
}

const (
	countBits  = 24
	countMask  = 1<<countBits - 1
	firstFull  = 1 << 13
	smallest   = 1 << 12 // counters at first
	smallLimit = 1 << 16 // and at most
)

// add counts n samples of value v, which is below 2^40.
func (r *runs) add(v, n int64) {
	if v < smallLimit && n <= countMask {
		for int64(len(r.small)) <= v {
			r.small = append(r.small, make([]uint32, max(smallest, len(r.small)))...)
		}
		if r.small[v] > math.MaxUint32-countMask {
			r.spill()
		}
		r.small[v] += uint32(n)
		return
	}
	r.append(v, n)
}

// spill moves the counters to the list.
func (r *runs) spill() {
	for v, n := range r.small {
		if n > 0 {
			r.append(int64(v), int64(n))
			r.small[v] = 0
		}
	}
}

func (r *runs) append(v, n int64) {
	for ; n > countMask; n -= countMask {
		r.push(uint64(v)<<countBits | countMask)
	}
	r.push(uint64(v)<<countBits | uint64(n))
}

func (r *runs) push(x uint64) {
	if len(r.list) >= r.full {
		r.tidy()
		r.full = max(firstFull, 2*len(r.list))
	}
	r.list = append(r.list, x)
}

// merge adds every sample of o, and leaves one run a value as far as counts fit.
func (r *runs) merge(o *runs) {
	r.spill()
	if o != nil {
		o.spill()
		r.list = append(r.list, o.list...)
	}
	r.tidy()
}

func (r *runs) tidy() {
	radixSort(r.list)
	kept := r.list[:0]
	for _, x := range r.list {
		if k := len(kept); k > 0 && kept[k-1]>>countBits == x>>countBits && kept[k-1]&countMask+x&countMask <= countMask {
			kept[k-1] += x & countMask
			continue
		}
		kept = append(kept, x)
	}
	r.list = kept
}

// distribution is samples of one quantity; sorting waits for the first quantile.
type distribution struct {
	values  []float64
	through []int64 // samples up to and including this value; nil when each counts once
	sorted  bool

	mean, std float64 // of every sample; std is the population's. Set by seal.

	half    float64 // half width of the mean's interval by batch means; 0 for none
	batches int
}

// distribution gives the runs as sorted samples; scale turns a value into the
// metric's unit.
func (r *runs) distribution(scale float64) *distribution {
	r.merge(nil)
	d := &distribution{values: make([]float64, len(r.list)), through: make([]int64, len(r.list)), sorted: true}
	total := int64(0)
	for i, x := range r.list {
		total += int64(x & countMask)
		d.values[i], d.through[i] = float64(float64(x>>countBits)*scale), total
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
	bits := make([]uint64, len(v))
	for i, x := range v {
		bits[i] = math.Float64bits(x)
	}
	radixSort(bits)
	for i, x := range bits {
		v[i] = math.Float64frombits(x)
	}
}

// radixSort sorts by digits of radixBits, skipping those that are all the same.
func radixSort(a []uint64) {
	if len(a) < 256 {
		slices.Sort(a)
		return
	}
	var any, all uint64 = 0, math.MaxUint64
	for _, x := range a {
		any, all = any|x, all&x
	}
	from, to := a, make([]uint64, len(a))
	for shift := uint(0); shift < 64; shift += radixBits {
		if (any^all)>>shift&radixMask == 0 {
			continue
		}
		var at [radixMask + 1]int
		for _, x := range from {
			at[x>>shift&radixMask]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range from {
			digit := x >> shift & radixMask
			to[at[digit]] = x
			at[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &a[0] {
		copy(a, from)
	}
}

const (
	radixBits = 11
	radixMask = 1<<radixBits - 1
)
