package kv

import "math/bits"

// index finds nodes by key in buckets of eight slots. A bucket follows from the key
// without its last three bits: keys that count up along a sequence, as a HashSource
// may give them, fill one bucket after another, so that storing or dropping a prompt
// touches an eighth of the memory that scattered keys would. A byte of each key is
// kept apart from the nodes, eight in a word, so that a key which is not there is
// known from the word alone. What does not fit goes to the next bucket, and every
// bucket counts the keys that passed it: a search ends where nothing passed, and a
// removal moves nothing.
type index struct {
	buckets []bucket
	nodes   []int32 // eight a bucket
	shift   int
	live    int // distinct keys
	fresh   octet
}

// octet is eight keys that share a bucket, seen to be absent, and which of them were
// stored since: a sequence stores them one after another.
type octet struct {
	number uint64 // key / slots
	stored uint8
}

type bucket struct {
	tags   uint64 // eight; 0 is an empty slot
	passed int    // keys of earlier buckets that found this one full
}

const slots = 8 // a bucket

func (x *index) init(n int) {
	x.size(1 << bits.Len(uint(max(2*n, 2*slots)/slots-1)))
	x.live, x.fresh = 0, octet{}
}

// grow doubles the buckets.
func (x *index) grow(blocks []block) {
	old, nodes := x.buckets, x.nodes
	x.size(2 * len(old))
	for at, node := range nodes {
		if old[at/slots].tags>>(8*(at%slots))&0xFF != 0 {
			x.put(blocks[node].key, node)
		}
	}
}

func (x *index) size(buckets int) {
	x.buckets, x.nodes = make([]bucket, buckets), make([]int32, slots*buckets)
	x.shift = 64 - bits.Len(uint(buckets-1))
}

// place is a key's first bucket, by Fibonacci hashing, and its tag.
func (x *index) place(key uint64) (bucket int, tag uint64) {
	spread := key / slots * 0x9E3779B97F4A7C15
	return int(spread >> x.shift), 0x80 | key%slots<<4 | spread>>24&0xF
}

const everyByte = 0x0101010101010101

// matches marks the top bit of every byte of word that equals tag, and perhaps of
// bytes above such a one.
func matches(word, tag uint64) uint64 {
	x := word ^ tag*everyByte
	return (x - everyByte) &^ x & (0x80 * everyByte)
}

// find returns the slot of the node of key, -1 for none; nodes index blocks.
func (x *index) find(key uint64, blocks []block) int {
	i, tag := x.place(key)
	for range x.buckets {
		b := x.buckets[i]
		for m := matches(b.tags, tag); m != 0; m &= m - 1 {
			if at := slots*i + bits.TrailingZeros64(m)/8; blocks[x.nodes[at]].key == key {
				return at
			}
		}
		if b.passed == 0 {
			break
		}
		i = (i + 1) & (len(x.buckets) - 1)
	}
	return -1
}

// new reports whether it is certain that key is absent, and takes it for stored from
// here on. The buckets on an octet's way tell of all its keys at once.
func (x *index) new(key uint64) bool {
	number, bit := key/slots, uint8(1)<<(key%slots)
	if number != x.fresh.number {
		i, tag := x.place(key)
		for range x.buckets {
			b := x.buckets[i]
			if matches(b.tags&^(0x70*everyByte), tag&^0x70) != 0 {
				return false
			}
			if b.passed == 0 {
				break
			}
			i = (i + 1) & (len(x.buckets) - 1)
		}
		x.fresh = octet{number: number}
	}
	known := x.fresh.stored&bit != 0
	x.fresh.stored |= bit
	return !known
}

// put gives node the first empty slot on its key's way. The key must be new.
func (x *index) put(key uint64, node int32) {
	i, tag := x.place(key)
	for ; ; i = (i + 1) & (len(x.buckets) - 1) {
		b := &x.buckets[i]
		if m := ^b.tags & (0x80 * everyByte); m != 0 {
			j := bits.TrailingZeros64(m) / 8
			b.tags |= tag << (8 * j)
			x.nodes[slots*i+j] = node
			return
		}
		b.passed++
	}
}

// remove empties the slot of a key whose only node is node, and takes the key back
// from the counts of the buckets it passed.
func (x *index) remove(key uint64, node int32) {
	i, tag := x.place(key)
	for ; ; i = (i + 1) & (len(x.buckets) - 1) {
		b := &x.buckets[i]
		m := matches(b.tags, tag)
		only := m&(m-1) == 0 && b.passed == 0 // then it is ours, without a look at the node
		for ; m != 0; m &= m - 1 {
			if j := bits.TrailingZeros64(m) / 8; only || x.nodes[slots*i+j] == node {
				b.tags &^= 0xFF << (8 * j)
				return
			}
		}
		b.passed--
	}
}
