// Package kv is SGLang's KV memory: the slot pool, the radix tree over it, and what
// a request holds of both.
//
// In: token sequences and counts. Out: how many tokens are cached, free, evictable
// or protected, and the events of what entered and left the tree. Slot ids are not
// kept: at the modelled commit they influence no decision.
//
// Source: sgl-project/sglang@0bda0b168ad5bf7311ae639904489a4698a05546
// python/sglang/srt/mem_cache/radix_cache.py, evict_policy.py, allocation.py, common.py,
// events.py, allocator/. Rules kept: SGL-1, SIM-8 of the Target Design.
package kv

// Cache is a pool of token slots in pages, with a radix tree unless it is disabled.
type Cache struct {
	Tree  *Tree // nil when the radix cache is disabled
	page  int
	total int
	free  int // tokens in free pages
	// OnEvict, when set, is told what each call of the tree's eviction freed.
	OnEvict func(tokens int)
}

// NewCache makes a pool of total tokens; a remainder below one page is never used.
func NewCache(total, page int, tree *Tree) *Cache {
	usable := total / page * page
	return &Cache{Tree: tree, page: page, total: usable, free: usable}
}

// Hold is what one request has of the cache. After Finish or Release it is stale
// until the next Match.
type Hold struct {
	Prefix    int   // tokens before the next computation: cached or computed
	Committed int   // tokens whose KV is written or being written
	protected int   // of them, tokens that belong to the tree
	node      *Node // locked; nil when nothing is
}

// Page is the tokens of a page, Free the tokens available without eviction, Total
// the tokens of the pool.
func (c *Cache) Page() int  { return c.page }
func (c *Cache) Free() int  { return c.free }
func (c *Cache) Total() int { return c.total }

// Evictable is the tokens the tree could give up.
func (c *Cache) Evictable() int {
	if c.Tree == nil {
		return 0
	}
	return c.Tree.evictable
}

// Protected is the tokens of the tree under a lock.
func (c *Cache) Protected() int {
	if c.Tree == nil {
		return 0
	}
	return c.Tree.protected
}

// Ceil rounds tokens up to pages.
func (c *Cache) Ceil(n int) int { return (n + c.page - 1) / c.page * c.page }

// Floor rounds tokens down to pages.
func (c *Cache) Floor(n int) int { return n / c.page * c.page }

// Reserve evicts what the pool lacks of tokens, and no more
// (mem_cache/common.py evict_from_tree_cache).
func (c *Cache) Reserve(tokens int) {
	if c.Tree == nil || c.free >= tokens {
		return
	}
	freed := c.Tree.Evict(tokens - c.free)
	c.free += freed
	if c.OnEvict != nil {
		c.OnEvict(freed)
	}
}

// Match finds h's cached prefix of key and leaves the node unlocked.
func (c *Cache) Match(h *Hold, key Key) {
	h.Prefix, h.protected, h.node = 0, 0, nil
	if c.Tree != nil {
		h.Prefix, h.node = c.Tree.Match(key)
		h.protected = h.Prefix
	}
}

// Lock protects the matched prefix until Finish, Release or Unlock.
func (c *Cache) Lock(h *Hold) {
	if c.Tree != nil {
		c.Tree.Lock(h.node)
	}
}

// Unlock takes Lock back.
func (c *Cache) Unlock(h *Hold) {
	if c.Tree != nil {
		c.Tree.Unlock(h.node)
	}
}

// Extend takes slots for a request that grows from its prefix to tokens, and marks
// them committed. The caller has reserved enough.
func (c *Cache) Extend(h *Hold, tokens int) {
	c.free -= c.Ceil(tokens) - c.Ceil(h.Prefix)
	h.Committed = tokens
}

// Take takes pages for requests whose holds are told later.
func (c *Cache) Take(pages int) { c.free -= pages * c.page }

// Grow takes the slot of one more token.
func (c *Cache) Grow(h *Hold) {
	if h.Committed%c.page == 0 {
		c.free -= c.page
	}
	h.Committed++
}

// Store puts the computed tokens of key into the tree while the request goes on;
// the part others had stored is freed and the tree's is held instead.
func (c *Cache) Store(h *Hold, key Key, priority int, chunked bool) {
	if c.Tree == nil {
		h.Prefix = key.n
		return
	}
	aligned := key.First(c.Floor(key.n))
	existing := c.Tree.Insert(aligned, priority, chunked)
	c.free += existing - h.protected
	matched, node := c.Tree.Match(aligned)
	c.Tree.Unlock(h.node)
	c.Tree.Lock(node)
	h.protected, h.node, h.Prefix = matched, node, key.n
}

// Finish stores the committed tokens of key and gives up everything held.
func (c *Cache) Finish(h *Hold, key Key, priority int) {
	if c.Tree == nil {
		c.drop(h)
		return
	}
	aligned := key.First(c.Floor(h.Committed))
	existing := c.Tree.Insert(aligned, priority, false)
	c.free += existing - h.protected + c.Ceil(h.Committed) - aligned.n
	c.Tree.Unlock(h.node)
}

// Release gives up everything held and stores nothing.
func (c *Cache) Release(h *Hold) {
	if c.Tree == nil {
		c.drop(h)
		return
	}
	c.free += c.Ceil(h.Committed) - h.protected
	c.Tree.Unlock(h.node)
}

func (c *Cache) drop(h *Hold) { c.free += c.Ceil(h.Committed) }

// Node is the last node of the matched prefix; nil without a tree.
func (h *Hold) Node() *Node { return h.node }
