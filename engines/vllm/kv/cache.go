package kv

import "math"

// Config sizes a cache.
type Config struct {
	Groups        []GroupSpec
	NumBlocks     int // the null block included
	BlockSize     int // scheduler block size: the least common multiple of the groups'
	HashBlockSize int // tokens a BlockHash stands for: their greatest common divisor
	Caching       bool
	Retention     int // prefix_cache_retention_interval; Dense for None
	Watermark     float64
	MaxModelLen   int
	MaxInFlight   int // max_in_flight_tokens
	Lag           int // tokens behind the computed ones that a drafter may still rewrite; they are not stored
	Sink          Sink
}

// Cache is the KV-cache manager of one engine.
//
// Source: vllm/v1/core/kv_cache_manager.py.
type Cache struct {
	config     Config
	align      int
	watermark  int
	plain      bool // one group, of full attention
	pool       *Pool
	managers   []manager
	attentions []attention
	hit        Hit
	demands    []demand
	stored     Stored
}

// NewCache builds the cache of a checked configuration.
func NewCache(config Config) *Cache {
	c := &Cache{config: config, align: config.BlockSize}
	c.watermark = int(config.Watermark * float64(config.NumBlocks))
	c.pool = newPool(config.NumBlocks, config.Caching, config.Sink)
	c.managers = make([]manager, len(config.Groups))
	for g := range config.Groups {
		spec := &c.config.Groups[g]
		c.managers[g] = manager{spec: spec, rules: &registry[spec.Kind], group: g, pool: c.pool,
			cap: spec.AdmissionCap(config.MaxModelLen, config.MaxInFlight)}
	}
	c.plain = len(config.Groups) == 1 && config.Groups[0].Kind == Full
	c.attentions = attentions(c.config.Groups)
	c.hit.Blocks = make([][]BlockID, len(config.Groups))
	c.demands = make([]demand, len(config.Groups))
	return c
}

// Pool is the block pool, for reading.
func (c *Cache) Pool() *Pool { return c.pool }

// Config is what the cache was built with.
func (c *Cache) Config() *Config { return &c.config }

// WatermarkBlocks is the number of blocks admission keeps free.
func (c *Cache) WatermarkBlocks() int { return c.watermark }

// NewStep starts a scheduling step.
func (c *Cache) NewStep() {
	for g := range c.managers {
		c.managers[g].fresh = c.managers[g].fresh[:0]
	}
}

// Lookup finds the longest cached prefix that leaves at least one token to compute
// (kv_cache_manager.py:232-298).
func (c *Cache) Lookup(s *Sequence) *Hit {
	if !c.config.Caching {
		return &c.hit
	}
	c.hit.Tokens = c.search(s, s.Tokens-1)
	for k := range c.attentions {
		a := &c.attentions[k]
		for i, g := range a.groups {
			c.hit.Blocks[g] = a.blocks[i]
		}
	}
	return &c.hit
}

// Grant is what one allocation is for.
type Grant struct {
	New       int  // tokens to be computed in the coming step
	Hit       *Hit // prefix hit of a request being admitted, nil for a running one
	Lookahead int  // slots for draft tokens beyond them
	Whole     bool // refuse unless the whole sequence would fit now
	Watermark bool // keep the watermark free
	Reserved  int  // blocks promised to others
}

// Allocate gives s the blocks a step needs, or changes nothing but blocks that
// attention has moved past and reports false (kv_cache_manager.py:347-568).
func (c *Cache) Allocate(s *Sequence, g Grant) bool {
	for len(s.tables) < len(c.managers) {
		s.tables = append(s.tables, table{state: -1})
	}
	if c.plain && g.Hit == nil && !g.Whole && !g.Watermark && s.tables[0].held {
		return c.lengthen(s, g)
	}
	computed := s.Computed
	if g.Hit != nil {
		computed += g.Hit.Tokens
	}
	spare := c.pool.free.n
	if g.Watermark {
		spare -= c.watermark
	}
	if g.Whole {
		whole := min(s.Tokens, c.config.MaxModelLen)
		if c.need(s, g.Hit, whole, whole, computed, true) > spare {
			return false
		}
	}
	freed := c.pool.free.n
	c.slide(s, computed-s.InFlight)
	spare += c.pool.free.n - freed
	main := computed + g.New
	slots := min(main+g.Lookahead, c.config.MaxModelLen)
	if c.need(s, g.Hit, slots, main, computed, false) > spare-g.Reserved {
		return false
	}
	if g.Hit != nil && g.Hit.Tokens > 0 {
		for i := range c.managers {
			c.managers[i].adopt(&s.tables[i], &c.demands[i])
		}
	}
	for i := range c.managers {
		c.managers[i].extend(&s.tables[i], &c.demands[i])
	}
	if c.config.Caching {
		c.Store(s, min(main, s.Tokens))
	}
	return true
}

// lengthen is Allocate for a running request when all layers attend in full: no block
// is ever passed, and the table only grows.
func (c *Cache) lengthen(s *Sequence, g Grant) bool {
	t, size := &s.tables[0], c.config.BlockSize
	main := s.Computed + g.New
	n := 0
	if slots := min(main+g.Lookahead, c.config.MaxModelLen); slots > len(t.blocks)*size {
		n = ceilDiv(slots, size) - len(t.blocks)
	}
	if n > c.pool.free.n-g.Reserved {
		return false
	}
	if n > 0 {
		t.blocks = c.pool.take(t.blocks, n)
	}
	if c.config.Caching {
		c.managers[0].store(c, s, min(main, s.Tokens)-c.config.Lag)
	}
	return true
}

// need fills the groups' demands and sums them.
func (c *Cache) need(s *Sequence, hit *Hit, slots, main, computed int, admit bool) int {
	n := 0
	for i := range c.managers {
		d := &c.demands[i]
		*d = demand{tokens: slots, main: main, computed: computed, admit: admit}
		if hit != nil {
			d.hits = hit.Blocks[i]
		}
		n += c.managers[i].need(&s.tables[i], d)
	}
	return n
}

func (c *Cache) slide(s *Sequence, computed int) {
	for i := range c.managers {
		if c.managers[i].spec.Kind != Full {
			c.managers[i].slide(&s.tables[i], computed)
		}
	}
}

// Store makes the full blocks of the first tokens findable
// (kv_cache_manager.py:553-568, kv_cache_coordinator.py:715-755).
func (c *Cache) Store(s *Sequence, tokens int) {
	if !c.config.Caching {
		return
	}
	tokens -= c.config.Lag
	if len(c.managers) > 1 {
		tokens = tokens / c.align * c.align
	}
	for i := range c.managers {
		c.managers[i].store(c, s, tokens)
	}
}

// Free returns every block of s, group by group.
func (c *Cache) Free(s *Sequence) {
	for i := range s.tables {
		c.managers[i].free(&s.tables[i])
	}
}

// Reset forgets all hashes if no request holds a block.
func (c *Cache) Reset() bool { return c.pool.reset() }

// Kept is how many tokens of s a later request could find in every group.
func (c *Cache) Kept(s *Sequence) int {
	kept := math.MaxInt
	for i := range s.tables {
		kept = min(kept, s.tables[i].kept*c.managers[i].spec.BlockSize)
	}
	if kept == math.MaxInt {
		return 0
	}
	return kept
}

// Common sets dst to each group's leading blocks of s that every request shares,
// and reports whether any group has some (single_type_kv_cache_manager.py:823-831).
func (c *Cache) Common(s *Sequence, dst []int) ([]int, bool) {
	dst, any := dst[:0], false
	for i := range c.managers {
		n := 0
		if c.config.Caching && i < len(s.tables) {
			n = c.managers[i].common(&s.tables[i])
		}
		any = any || n > 0
		dst = append(dst, n)
	}
	return dst, any
}

// Coordinator is the upstream class that coordinates the groups.
func (c *Cache) Coordinator() string {
	switch {
	case !c.config.Caching:
		return "KVCacheCoordinatorNoPrefixCache"
	case len(c.managers) == 1:
		return "UnitaryKVCacheCoordinator"
	}
	return "HybridKVCacheCoordinator"
}
