package kv

import "math/bits"

// index finds blocks by (hash, group): open addressing with linear probing over
// slots of eight bytes, so that a look-up, an insert or a removal touches one cache
// line of slots. A slot holds 32 bits of the mixed key, which also say where it
// belongs, and the number of the key's last node. Nodes are the pool's blocks; a
// block's further keys use nodes past the pool.
//
// Nodes of equal keys form a ring in the order they were stored, so the first, which
// a look-up returns, follows the last (vllm/v1/core/block_pool.py:33-140).
type index struct {
	slots []uint64 // mixed key's upper half, node+1; 0 is empty
	shift int
	live  int // distinct keys
	spare int32
	warm  uint64 // keeps the loads of touchSlots alive
}

func (x *index) init(n int) {
	size := 1 << bits.Len(uint(max(2*n, 8)-1))
	x.slots, x.shift, x.live, x.spare = make([]uint64, size), 64-bits.Len(uint(size-1)), 0, none
}

// none is no node.
const none = -1

// mixKey spreads a key by Fibonacci hashing.
func mixKey(hash BlockHash, group uint8) uint64 {
	return (uint64(hash) + uint64(group)*0xD1B54A32D192ED03) * 0x9E3779B97F4A7C15
}

// home is the slot a mixed key, or a slot's own value, belongs to.
func (x *index) home(mixed uint64) int { return int(mixed >> x.shift) }

func slotOf(mixed uint64, node int32) uint64 { return mixed>>32<<32 | uint64(uint32(node+1)) }

func nodeOf(slot uint64) int32 { return int32(uint32(slot)) - 1 }

// seek returns the slot of a key and its last node, or none and the empty slot where
// it belongs.
func (p *Pool) seek(hash BlockHash, group uint8) (int, int32) {
	x := &p.index
	mixed := mixKey(hash, group)
	mask := len(x.slots) - 1
	for i := x.home(mixed); ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			return i, none
		}
		if s>>32 == mixed>>32 {
			if n := &p.blocks[nodeOf(s)]; n.hash == hash && n.group == group {
				return i, nodeOf(s)
			}
		}
	}
}

// enter stores node under its key behind earlier nodes of the same key.
func (p *Pool) enter(node int32) {
	x, n := &p.index, &p.blocks[node]
	i, last := p.seek(n.hash, n.group)
	x.slots[i] = slotOf(mixKey(n.hash, n.group), node)
	if last != none {
		n.after = p.blocks[last].after
		p.blocks[last].after = node
		return
	}
	n.after = node
	x.live++
	if 2*x.live > len(x.slots) {
		x.grow()
	}
}

// erase takes a node out.
func (p *Pool) erase(node int32) {
	x, n := &p.index, &p.blocks[node]
	mixed := mixKey(n.hash, n.group)
	if n.after == node { // alone under its key
		mask, own := len(x.slots)-1, slotOf(mixed, node)
		i := x.home(mixed)
		for x.slots[i] != own {
			i = (i + 1) & mask
		}
		x.vacate(i)
		x.live--
		return
	}
	i, last := p.seek(n.hash, n.group)
	before := last
	for p.blocks[before].after != node {
		before = p.blocks[before].after
	}
	p.blocks[before].after = n.after
	if last == node {
		x.slots[i] = slotOf(mixed, before)
	}
}

// vacate empties a slot and moves later ones of its run back.
func (x *index) vacate(i int) {
	mask := len(x.slots) - 1
	for j := (i + 1) & mask; x.slots[j] != 0; j = (j + 1) & mask {
		if h := x.home(x.slots[j]); (j-h)&mask >= (j-i)&mask {
			x.slots[i] = x.slots[j]
			i = j
		}
	}
	x.slots[i] = 0
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	x.shift--
	mask := len(x.slots) - 1
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := x.home(s)
		for x.slots[i] != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = s
	}
}

// touchSlots loads the slots of keys that are about to be used, all at once, so that
// their cache misses overlap.
func (x *index) touchSlots(hashes []BlockHash, group uint8) {
	var sum uint64
	for _, h := range hashes {
		sum += x.slots[x.home(mixKey(h, group))]
	}
	x.warm = sum
}
