package kv

// Pool hands out blocks and takes them back. The free list is intrusive: its order
// alone decides which block is reused next.
//
// Source: vllm/v1/core/block_pool.py:160-830.
type Pool struct {
	blocks  []block // the pool's, the list's sentinel, then nodes of further keys
	end     BlockID // the sentinel
	free    int
	caching bool
	index   index
	doomed  []BlockHash // keys about to leave with the blocks being taken
	sink    Sink
}

// block is a block of the pool or, past the sentinel, a node that gives a block a
// further key: then next is the block it belongs to and prev unused.
type block struct {
	hash       BlockHash // 0 is none
	next, prev BlockID
	refs       int32
	after      int32 // next node of the same key, in a ring
	extra      int32 // the block's next key, none for none
	group      uint8
}

// newPool makes a pool of n blocks, block 0 already set aside.
func newPool(n int, caching bool, sink Sink) *Pool {
	p := &Pool{blocks: make([]block, n+1), end: BlockID(n), free: n - 1, caching: caching, sink: sink}
	for i := range p.blocks {
		p.blocks[i] = block{next: BlockID(i + 1), prev: BlockID(i - 1), extra: none}
	}
	p.blocks[n].next, p.blocks[n].prev = p.end, p.end
	if n > 1 {
		p.blocks[n].next, p.blocks[n].prev = 1, BlockID(n-1)
		p.blocks[1].prev = p.end
	}
	if caching {
		p.index.init(n)
	}
	return p
}

// take appends n blocks from the front of the free list to dst; n blocks must be
// free. A block that still carries a hash loses it now.
func (p *Pool) take(dst []BlockID, n int) []BlockID {
	id := p.blocks[p.end].next
	first := len(dst)
	p.doomed = p.doomed[:0]
	for range n {
		b := &p.blocks[id]
		if b.hash != 0 {
			p.doomed = append(p.doomed, b.hash)
		}
		b.refs = 1
		dst = append(dst, id)
		id = b.next
	}
	p.blocks[p.end].next = id
	p.blocks[id].prev = p.end
	p.free -= n
	if len(p.doomed) == 0 {
		return dst
	}
	if len(p.doomed) > 2 {
		p.index.touchSlots(p.doomed, 0)
	}
	for _, id := range dst[first:] {
		if p.blocks[id].hash != 0 {
			p.evict(id)
		}
	}
	return dst
}

// touch adds a reference to each hit block, taking it out of the free list.
func (p *Pool) touch(ids []BlockID) {
	for _, id := range ids {
		if id == Null {
			continue
		}
		if p.blocks[id].refs == 0 {
			p.unlink(id)
			p.free--
		}
		p.blocks[id].refs++
	}
}

// release drops one reference of each block, last block first. Blocks that nobody
// holds go to the free list: those without a hash to its front, as a group in the
// order given, the others to its end (block_pool.py:719-743).
func (p *Pool) release(ids []BlockID) {
	front := p.end
	for i := len(ids) - 1; i >= 0; i-- {
		front = p.drop(ids[i], front)
	}
}

// drop releases one block and returns the block the next unhashed one goes behind.
func (p *Pool) drop(id, front BlockID) BlockID {
	if id == Null {
		return front
	}
	b := &p.blocks[id]
	b.refs--
	if b.refs > 0 {
		return front
	}
	p.free++
	if p.caching && b.hash != 0 {
		p.insertAfter(id, p.blocks[p.end].prev)
		return front
	}
	p.insertAfter(id, front)
	return id
}

func (p *Pool) unlink(id BlockID) {
	b := &p.blocks[id]
	p.blocks[b.prev].next = b.next
	p.blocks[b.next].prev = b.prev
}

func (p *Pool) insertAfter(id, at BlockID) {
	next := p.blocks[at].next
	p.blocks[id].prev, p.blocks[id].next = at, next
	p.blocks[at].next = id
	p.blocks[next].prev = id
}

// evict removes every key of a block from the index.
func (p *Pool) evict(id BlockID) {
	for node := int32(id); node != none; {
		b := &p.blocks[node]
		p.erase(node)
		if p.sink != nil {
			p.sink.Removed(b.hash, int(b.group))
		}
		next := b.extra
		b.hash, b.extra = 0, none
		if node > int32(p.end) {
			b.extra = p.index.spare
			p.index.spare = node
		}
		node = next
	}
}

// store makes a block findable under a key; the block keeps earlier keys.
func (p *Pool) store(id BlockID, hash BlockHash, group int) {
	node := int32(id)
	if p.blocks[id].hash != 0 {
		node = p.furtherKey(id)
	}
	b := &p.blocks[node]
	b.hash, b.group = hash, uint8(group)
	p.enter(node)
}

// furtherKey links a new node to the end of a block's keys.
func (p *Pool) furtherKey(id BlockID) int32 {
	node := p.index.spare
	if node != none {
		p.index.spare = p.blocks[node].extra
	} else {
		node = int32(len(p.blocks))
		p.blocks = append(p.blocks, block{})
	}
	p.blocks[node] = block{next: id, extra: none}
	last := int32(id)
	for p.blocks[last].extra != none {
		last = p.blocks[last].extra
	}
	p.blocks[last].extra = node
	return node
}

// lookup finds the earliest stored block that still carries the key.
func (p *Pool) lookup(hash BlockHash, group int) (BlockID, bool) {
	_, last := p.seek(hash, uint8(group))
	if last == none {
		return Null, false
	}
	first := p.blocks[last].after
	if first > int32(p.end) {
		return p.blocks[first].next, true
	}
	return BlockID(first), true
}

// hash is the block's first key, 0 for none.
func (p *Pool) hash(id BlockID) BlockHash { return p.blocks[id].hash }

// reset forgets every hash if no block is in use (block_pool.py:764-798).
func (p *Pool) reset() bool {
	if p.free != p.Usable() {
		return false
	}
	if p.caching {
		p.index.init(int(p.end))
	}
	p.blocks = p.blocks[:p.end+1]
	for i := range p.blocks {
		p.blocks[i].hash, p.blocks[i].extra = 0, none
	}
	if p.sink != nil {
		p.sink.Cleared()
	}
	return true
}

// Free is the number of free blocks.
func (p *Pool) Free() int { return p.free }

// Usable is the number of blocks a request can be given.
func (p *Pool) Usable() int { return int(p.end) - 1 }

// Usage is the share of usable blocks in use.
func (p *Pool) Usage() float64 {
	if p.Usable() == 0 {
		return 0
	}
	return 1 - float64(p.free)/float64(p.Usable())
}

// Cached is the number of distinct keys in the index.
func (p *Pool) Cached() int { return p.index.live }

// FreeOrder appends the free list, front first, to dst.
func (p *Pool) FreeOrder(dst []BlockID) []BlockID {
	for id := p.blocks[p.end].next; id != p.end; id = p.blocks[id].next {
		dst = append(dst, id)
	}
	return dst
}

// Refs is the reference count of a block.
func (p *Pool) Refs(id BlockID) int { return int(p.blocks[id].refs) }
