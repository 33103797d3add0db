package kv

// Pool hands out blocks and takes them back. The order of the free list alone decides
// which block is reused next.
//
// Source: vllm/v1/core/block_pool.py:160-830.
type Pool struct {
	blocks  []block // the pool's, then nodes of further keys (keys.go)
	links   []link  // of the same nodes, once one has any
	size    int     // of the pool, the null block included
	spare   int32   // first unused node, linked by extra
	free    freeList
	caching bool
	index   index
	sink    Sink
}

// block is a block of the pool, or a further key of one. Blocks are touched in no
// order of their numbers, so every byte here is paid for.
type block struct {
	key lane   // in the index; 0 is none
	use uint32 // how many hold it; once given back, idle and its place in the free list; of a further key, its block
}

const idle = 1 << 31

// newPool makes a pool of n blocks, block 0 already set aside. It takes memory when the
// first block is taken: of many instances, some may never get a request.
func newPool(n int, caching bool, sink Sink) *Pool {
	return &Pool{size: n, spare: none, free: freeList{n: max(n-1, 0)}, caching: caching, sink: sink}
}

func (p *Pool) open() {
	p.blocks = make([]block, p.size)
	p.free.init(p.size)
	if p.caching {
		p.index.init(p.size)
	}
}

// take appends n blocks from the front of the free list to dst; n blocks must be
// free. A block that still carries a key loses it now.
func (p *Pool) take(dst []BlockID, n int) []BlockID {
	if p.blocks == nil {
		p.open()
	}
	from := len(dst)
	dst = p.free.pop(dst, n)
	p.claim(dst[from:])
	return dst
}

// touch adds a reference to each hit block, taking it out of the free list.
func (p *Pool) touch(ids []BlockID) {
	for _, id := range ids {
		if id == Null {
			continue
		}
		b := &p.blocks[id]
		if b.use&idle != 0 {
			p.free.remove(b.use)
			b.use = 0
		}
		b.use++
	}
}

// release drops one reference of each block, last block first. Blocks that nobody
// holds go to the free list: those without a hash to its front, as a group in the
// order given, the others to its end (block_pool.py:719-743).
func (p *Pool) release(ids []BlockID) {
	if !p.caching {
		p.giveBack(ids)
		return
	}
	if !p.free.fits(len(ids)) {
		p.free.pack(func(id BlockID, place uint32) { p.blocks[id].use = idle | place })
	}
	blocks, first := p.blocks, len(ids) // of those for the front
	for i := len(ids) - 1; i >= 0; i-- {
		id := ids[i]
		b := &blocks[id]
		switch {
		case id == Null:
		case b.use > 1:
			b.use--
		case b.key == 0:
			b.use, first = 0, i
		default:
			b.use = idle | p.free.pushBack(id)
		}
	}
	for _, id := range ids[first:] {
		if b := &blocks[id]; id != Null && b.use == 0 {
			b.use = idle | p.free.pushFront(id)
		}
	}
}

// giveBack is release without a prefix cache: nothing is shared, and all goes to the
// front.
func (p *Pool) giveBack(ids []BlockID) {
	for _, id := range ids {
		p.blocks[id].use = idle // its place is not asked for: there are no hits
	}
	p.free.prepend(ids)
}

// hash is the hash of the block's first key, 0 for none.
func (p *Pool) hash(id BlockID) BlockHash {
	hash, _ := p.key(int32(id))
	return hash
}

// reset forgets every hash if no block is in use (block_pool.py:764-798).
func (p *Pool) reset() bool {
	if p.free.n != p.Usable() {
		return false
	}
	if p.blocks != nil {
		p.blocks, p.links, p.spare = p.blocks[:p.size], nil, none
		for i := range p.blocks {
			p.blocks[i].key = 0
		}
		if p.caching {
			p.index.init(p.size)
		}
	}
	if p.sink != nil {
		p.sink.Cleared()
	}
	return true
}

// Free is the number of free blocks.
func (p *Pool) Free() int { return p.free.n }

// Usable is the number of blocks a request can be given.
func (p *Pool) Usable() int { return p.size - 1 }

// Usage is the share of usable blocks in use.
func (p *Pool) Usage() float64 {
	if p.Usable() == 0 {
		return 0
	}
	return 1 - float64(p.free.n)/float64(p.Usable())
}

// Cached is the number of distinct keys in the index.
func (p *Pool) Cached() int { return p.index.live }

// FreeOrder appends the free list, front first, to dst.
func (p *Pool) FreeOrder(dst []BlockID) []BlockID {
	if p.blocks == nil {
		p.open()
	}
	for id := range p.free.all {
		dst = append(dst, id)
	}
	return dst
}

// Refs is the reference count of a block.
func (p *Pool) Refs(id BlockID) int {
	if p.blocks == nil || p.blocks[id].use&idle != 0 {
		return 0
	}
	return int(p.blocks[id].use)
}
