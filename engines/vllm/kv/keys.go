package kv

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

// none is no node.
const none = -1

// keyOf joins a hash and its group.
func keyOf(hash BlockHash, group int) uint64 { return uint64(hash) + uint64(group)*groupStep }

const groupStep = 0xD1B54A32D192ED00 // the last bits stay the hash's

// linksOf gives a node links of its own.
func (p *Pool) linksOf(node int32) *link {
	if b := &p.blocks[node]; b.state&linked == 0 {
		b.state |= linked
		p.links[node] = link{after: node, extra: none}
	}
	return &p.links[node]
}

// linkOf reads a node's links.
func (p *Pool) linkOf(node int32) link {
	if p.blocks[node].state&linked == 0 {
		return link{after: node, extra: none}
	}
	return p.links[node]
}

// lookup finds the earliest stored block that still carries the key.
func (p *Pool) lookup(hash BlockHash, group int) (BlockID, bool) {
	at := p.index.find(keyOf(hash, group), p.blocks)
	if at < 0 {
		return Null, false
	}
	first := p.linkOf(p.index.nodes[at]).after
	if first >= int32(p.size) {
		return BlockID(p.blocks[first].place), true
	}
	return BlockID(first), true
}

// store makes a block findable under a key; the block keeps earlier keys.
func (p *Pool) store(id BlockID, hash BlockHash, group int) {
	node, x, key := int32(id), &p.index, keyOf(hash, group)
	if p.blocks[id].key != 0 {
		node = p.furtherKey(id)
	}
	at := -1
	if !x.new(key) {
		at = x.find(key, p.blocks)
	}
	p.blocks[node].key, p.groups[node] = key, uint8(group)
	if at >= 0 {
		last := p.linksOf(x.nodes[at])
		p.linksOf(node).after, last.after = last.after, node
		x.nodes[at] = node
		return
	}
	x.live++
	if 2*x.live > len(x.nodes) {
		x.grow(p.blocks)
	}
	x.put(key, node)
}

// furtherKey links a new node to the end of a block's keys.
func (p *Pool) furtherKey(id BlockID) int32 {
	node := p.spare
	if node != none {
		p.spare = p.links[node].extra
	} else {
		node = int32(len(p.blocks))
		p.blocks, p.links, p.groups = append(p.blocks, block{}), append(p.links, link{}), append(p.groups, 0)
	}
	p.blocks[node] = block{place: uint32(id)}
	last := p.linksOf(int32(id))
	for last.extra != none {
		last = p.linksOf(last.extra)
	}
	last.extra = node
	return node
}

// evict removes every key of a block from the index.
func (p *Pool) evict(id BlockID) {
	for node := int32(id); node != none; {
		b, l := &p.blocks[node], p.linkOf(node)
		if l.after == node {
			p.index.remove(b.key, node)
			p.index.live--
		} else {
			p.leaveRing(node, l.after)
		}
		if p.sink != nil {
			group := int(p.groups[node])
			p.sink.Removed(BlockHash(b.key-uint64(group)*groupStep), group)
		}
		b.key = 0
		b.state &^= linked
		if node >= int32(p.size) {
			p.links[node].extra, p.spare = p.spare, node
		}
		node = l.extra
	}
}

// leaveRing takes a node out from among those of its key.
func (p *Pool) leaveRing(node, after int32) {
	at := p.index.find(p.blocks[node].key, p.blocks)
	last := p.index.nodes[at]
	before := last
	for p.links[before].after != node {
		before = p.links[before].after
	}
	p.links[before].after = after
	if last == node {
		p.index.nodes[at] = before
	}
}
