package kv

import "github.com/inference-sim/accuracy-dashboard/engines"

// Key is a token sequence in a namespace, held as runs so that a prompt of any
// length costs one entry and comparing two costs their runs, not their tokens.
// Adjacent runs that continue each other are one run, so equal sequences have
// equal runs.
type Key struct {
	runs []engines.Segment
	skip int // tokens of runs[0] before the key starts
	n    int
	Ns   Namespace
}

// Namespace separates requests that may not share KV: extra_key and cache_salt
// (mem_cache/radix_cache.py:217 at 0bda0b16).
type Namespace struct{ Extra, Salt string }

// View is the first n tokens of runs built with AppendRun. It shares them: later
// AppendRun calls on the same runs do not change the key.
func View(ns Namespace, runs []engines.Segment, n int) Key {
	return Key{runs: runs, n: max(n, 0), Ns: ns}
}

// AppendRun adds a run to runs, merged with the last one when it continues it.
func AppendRun(runs []engines.Segment, r engines.Segment) []engines.Segment {
	if r.Count == 0 {
		return runs
	}
	if last := len(runs) - 1; last >= 0 && runs[last].Stream == r.Stream && runs[last].Start+runs[last].Count == r.Start {
		runs[last].Count += r.Count
		return runs
	}
	return append(runs, r)
}

// Len is the number of tokens.
func (k Key) Len() int { return k.n }

// First is the key's first n tokens, all of them when it has fewer.
func (k Key) First(n int) Key {
	k.n = max(0, min(n, k.n))
	return k
}

// From is the key without its first n tokens, n <= Len.
func (k Key) From(n int) Key {
	k.n -= n
	k.skip += n
	for len(k.runs) > 0 && k.skip >= k.runs[0].Count {
		k.skip -= k.runs[0].Count
		k.runs = k.runs[1:]
	}
	return k
}

// common is the number of leading tokens two keys share.
func (k Key) common(o Key) int {
	total, limit := 0, min(k.n, o.n)
	for total < limit {
		a, b := k.head(), o.head()
		if a.Stream != b.Stream || a.Start != b.Start {
			break
		}
		step := min(a.Count, b.Count, limit-total)
		total += step
		k, o = k.From(step), o.From(step)
	}
	return total
}

// head is the first run, cut to the key.
func (k Key) head() engines.Segment {
	r := k.runs[0]
	r.Start += k.skip
	r.Count = min(r.Count-k.skip, k.n)
	return r
}

// Each yields the key's runs in order.
func (k Key) Each(yield func(engines.Segment) bool) {
	for k.n > 0 {
		r := k.head()
		if !yield(r) {
			return
		}
		k = k.From(r.Count)
	}
}

// edge identifies the first page of a key below one node: exactly when it is one
// run, by two independent 64-bit hashes when it is several.
type edge struct {
	a, b  uint64
	mixed bool
	ns    Namespace
}

func (k Key) edge(page int) edge {
	first := k.First(page)
	if r := first.head(); r.Count == first.n {
		return edge{a: r.Stream, b: uint64(r.Start), ns: k.Ns}
	}
	e := edge{a: 14695981039346656037, b: 0x9e3779b97f4a7c15, mixed: true, ns: k.Ns}
	for r := range first.Each {
		for _, v := range [...]uint64{r.Stream, uint64(r.Start), uint64(r.Count)} {
			e.a = (e.a ^ v) * 1099511628211
			e.b = (e.b + v) * 0xbf58476d1ce4e5b9
		}
	}
	return e
}
