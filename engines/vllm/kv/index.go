package kv

import "math/bits"

// index maps (hash, group) to the blocks stored under it, the earliest first, by
// open addressing with linear probing. A block's first key uses the entry with the
// block's own number; further keys use entries past the pool.
//
// Source of the order among equal keys: vllm/v1/core/block_pool.py:33-140.
type index struct {
	slots   []slot
	shift   int
	entries []entry
	spare   int32 // head of the list of unused entries past the pool, -1 for none
	pool    int
	live    int // distinct keys
}

type slot struct {
	hash  BlockHash
	group int32
	head  int32 // first entry of the key plus one; 0 marks an empty slot
}

// entry is one block under one key. Entries of equal keys form a list whose first
// element's prev is the last element.
type entry struct {
	hash    BlockHash
	group   int32
	block   BlockID
	next    int32
	prev    int32
	sibling int32 // the block's next key
}

func (x *index) init(n int) {
	size := 1 << bits.Len(uint(max(2*n, 8)-1))
	*x = index{slots: make([]slot, size), shift: 64 - bits.Len(uint(size-1)), entries: make([]entry, n), spare: -1, pool: n}
}

// home spreads a key over the slots by Fibonacci hashing.
func (x *index) home(hash BlockHash, group int32) int {
	k := (uint64(hash) + uint64(group)*0xD1B54A32D192ED03) * 0x9E3779B97F4A7C15
	return int(k >> x.shift)
}

// slotOf returns the key's slot, or the empty slot where it belongs.
func (x *index) slotOf(hash BlockHash, group int32) int {
	mask := len(x.slots) - 1
	i := x.home(hash, group)
	for {
		s := &x.slots[i]
		if s.head == 0 || s.hash == hash && s.group == group {
			return i
		}
		i = (i + 1) & mask
	}
}

func (x *index) find(hash BlockHash, group int) (BlockID, bool) {
	s := &x.slots[x.slotOf(hash, int32(group))]
	if s.head == 0 {
		return Null, false
	}
	return x.entries[s.head-1].block, true
}

// insert stores block under a key behind earlier blocks of the same key and
// returns the block's new key list; first is its present one.
func (x *index) insert(hash BlockHash, group int, block BlockID, first int32) int32 {
	e := int32(block)
	if first >= 0 {
		e = x.extra()
		x.entries[e].sibling = -1
		last := first
		for x.entries[last].sibling >= 0 {
			last = x.entries[last].sibling
		}
		x.entries[last].sibling = e
	} else {
		first = e
		x.entries[e].sibling = -1
	}
	n := &x.entries[e]
	n.hash, n.group, n.block, n.next = hash, int32(group), block, -1
	s := &x.slots[x.slotOf(hash, n.group)]
	if s.head != 0 {
		head := &x.entries[s.head-1]
		n.prev = head.prev
		x.entries[head.prev].next = e
		head.prev = e
		return first
	}
	n.prev = e
	*s = slot{hash: hash, group: n.group, head: e + 1}
	x.live++
	if 2*x.live > len(x.slots) {
		x.grow()
	}
	return first
}

// remove takes an entry out and returns its key and the block's next entry.
func (x *index) remove(e int32) (BlockHash, int, int32) {
	n := &x.entries[e]
	i := x.slotOf(n.hash, n.group)
	head := x.slots[i].head - 1
	switch {
	case head != e:
		x.entries[n.prev].next = n.next
		if n.next >= 0 {
			x.entries[n.next].prev = n.prev
		} else {
			x.entries[head].prev = n.prev
		}
	case n.next >= 0:
		x.entries[n.next].prev = n.prev
		x.slots[i].head = n.next + 1
	default:
		x.clearSlot(i)
		x.live--
	}
	hash, group, sibling := n.hash, int(n.group), n.sibling
	if int(e) >= x.pool {
		n.sibling = x.spare
		x.spare = e
	}
	return hash, group, sibling
}

// clearSlot empties a slot and moves later ones of its run back.
func (x *index) clearSlot(i int) {
	mask := len(x.slots) - 1
	for j := (i + 1) & mask; x.slots[j].head != 0; j = (j + 1) & mask {
		h := x.home(x.slots[j].hash, x.slots[j].group)
		if (j-h)&mask >= (j-i)&mask {
			x.slots[i] = x.slots[j]
			i = j
		}
	}
	x.slots[i] = slot{}
}

func (x *index) extra() int32 {
	if x.spare >= 0 {
		e := x.spare
		x.spare = x.entries[e].sibling
		return e
	}
	x.entries = append(x.entries, entry{})
	return int32(len(x.entries) - 1)
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	x.shift--
	for _, s := range old {
		if s.head != 0 {
			x.slots[x.slotOf(s.hash, s.group)] = s
		}
	}
}
