package kv

import "math/bits"

// The pool's side of the index: a block may carry several keys and a key may name
// several blocks (vllm/v1/core/block_pool.py:33-140). A node is one key of one block:
// the block's own number for its first key, a number past the pool for further ones.
// Nodes of one key form a ring in the order they were stored; the index holds the
// last, so the first, which a look-up returns, follows it. Links are rare, and a node
// without them does not touch their memory.

// link holds a node's neighbours.
type link struct {
	after int32 // next node of the same key, in a ring
	extra int32 // the block's next node, none for none
}

// none is no node, and no octet.
const none = -1

// keyOf joins a hash and its group.
func keyOf(hash BlockHash, group int) uint64 { return uint64(hash) + uint64(group)*groupStep }

const groupStep = 0xD1B54A32D192ED00 // the last bits stay the hash's

// key is the hash and the group of a node's key; no hash for a block without.
func (p *Pool) key(node int32) (BlockHash, int) {
	if p.blocks[node].key == 0 {
		return 0, 0
	}
	at, place := p.blocks[node].key.split()
	o := &p.index.octets[at]
	return BlockHash(o.number*lanes + uint64(place) - uint64(o.group)*groupStep), int(o.group)
}

// linksOf gives a node links of its own.
func (p *Pool) linksOf(node int32) *link {
	if b := &p.blocks[node]; b.key&linked == 0 {
		b.key |= linked
		p.makeLinks()
		p.links[node] = link{after: node, extra: none}
	}
	return &p.links[node]
}

// makeLinks gives every node a place in links.
func (p *Pool) makeLinks() {
	if missing := len(p.blocks) - len(p.links); missing > 0 {
		p.links = append(p.links, make([]link, missing)...)
	}
}

// linkOf reads a node's links.
func (p *Pool) linkOf(node int32) link {
	if p.blocks[node].key&linked == 0 {
		return link{after: node, extra: none}
	}
	return p.links[node]
}

// lookup finds the earliest stored block that still carries the key.
func (p *Pool) lookup(hash BlockHash, group int) (BlockID, bool) {
	if p.index.live == 0 {
		return Null, false
	}
	key := keyOf(hash, group)
	at := p.index.find(key / lanes)
	if at == none || p.index.octets[at].has>>(key%lanes)&1 == 0 {
		return Null, false
	}
	first := p.linkOf(p.index.octets[at].nodes[key%lanes]).after
	if first >= int32(p.size) {
		return BlockID(p.blocks[first].use), true
	}
	return BlockID(first), true
}

// store makes blocks findable, each under the hash that follows the one before; a
// block keeps earlier keys. near is where the index is looked at first, and is left
// at the last block's place.
func (p *Pool) store(ids []BlockID, first BlockHash, group int, near *int32) {
	x, key := &p.index, keyOf(first, group)
	at := *near
	for len(ids) > 0 {
		if !x.at(at, key/lanes) {
			if at = x.find(key / lanes); at == none {
				at = x.add(key/lanes, group)
			}
		}
		n := p.enter(ids, at, key)
		if n == 0 {
			p.share(ids[0], at, key)
			n = 1
		}
		ids, key = ids[n:], key+uint64(n)
	}
	*near = at
}

// enter gives blocks their first keys, as long as these have no node yet and lie in
// the octet of the first, and reports how many.
func (p *Pool) enter(ids []BlockID, at int32, key uint64) int {
	blocks, o, first := p.blocks, &p.index.octets[at], key%lanes
	room := min(len(ids), bits.TrailingZeros16(uint16(o.has)>>first|1<<(lanes-first)))
	n := 0
	for place := first; n < room && blocks[ids[n]].key == 0; place++ {
		blocks[ids[n]].key = laneOf(at, place)
		o.nodes[place%lanes] = int32(ids[n])
		n++
	}
	o.has |= uint8(1<<n-1) << first
	p.index.live += n
	return n
}

// share stores a block that carries a key, or whose key another block carries.
func (p *Pool) share(id BlockID, at int32, key uint64) {
	node := int32(id)
	if p.blocks[id].key != 0 {
		node = p.furtherKey(id)
	}
	p.blocks[node].key = laneOf(at, key)
	o, bit := &p.index.octets[at], uint8(1)<<(key%lanes)
	if o.has&bit == 0 {
		o.has |= bit
		p.index.live++
	} else {
		last := p.linksOf(o.nodes[key%lanes])
		p.linksOf(node).after, last.after = last.after, node
	}
	o.nodes[key%lanes] = node
}

// furtherKey links a new node to the end of a block's keys.
func (p *Pool) furtherKey(id BlockID) int32 {
	node := p.spare
	if node != none {
		p.spare = p.links[node].extra
	} else {
		node = int32(len(p.blocks))
		p.blocks = append(p.blocks, block{})
		p.makeLinks()
	}
	p.blocks[node] = block{use: uint32(id)}
	last := p.linksOf(int32(id))
	for last.extra != none {
		last = p.linksOf(last.extra)
	}
	last.extra = node
	return node
}

// claim gives free blocks a holder and takes their keys.
func (p *Pool) claim(ids []BlockID) {
	if p.sink != nil { // hears of every key
		for _, id := range ids {
			if p.blocks[id].key != 0 {
				p.evict(id)
			}
		}
	}
	for len(ids) > 0 {
		n, octet, lost := p.claimFirst(ids)
		if lost != 0 {
			p.index.empty(int32(octet), lost)
		}
		if ids = ids[n:]; n == 0 {
			p.evict(ids[0])
		}
	}
}

// claimFirst claims blocks as long as their keys are in one octet, and reports how many
// and which lanes the octet lost.
func (p *Pool) claimFirst(ids []BlockID) (n int, octet lane, lost uint8) {
	blocks, octet := p.blocks, linked // of none yet
	for n, id := range ids {
		b := &blocks[id]
		if b.key != 0 {
			at := (b.key - 1) / lanes
			if at != octet {
				if octet != linked || b.key&linked != 0 {
					return n, octet, lost
				}
				octet = at
			}
			lost |= 1 << ((b.key - 1) % lanes)
			b.key = 0
		}
		b.use = 1
	}
	return len(ids), octet, lost
}

// evict removes every key of a block from the index.
func (p *Pool) evict(id BlockID) {
	for node := int32(id); node != none; {
		b, l := &p.blocks[node], p.linkOf(node)
		if p.sink != nil {
			p.sink.Removed(p.key(node))
		}
		if l.after == node {
			at, place := b.key.split()
			p.index.empty(at, 1<<place)
		} else {
			p.leaveRing(node, l.after)
		}
		b.key = 0
		if node >= int32(p.size) {
			p.links[node].extra, p.spare = p.spare, node
		}
		node = l.extra
	}
}

// leaveRing takes a node out from among those of its key.
func (p *Pool) leaveRing(node, after int32) {
	at, place := p.blocks[node].key.split()
	last := &p.index.octets[at].nodes[place]
	before := *last
	for p.links[before].after != node {
		before = p.links[before].after
	}
	p.links[before].after = after
	if *last == node {
		*last = before
	}
}
