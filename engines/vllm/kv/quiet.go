package kv

import "slices"

// This file is the project's own: what a steady batch may ask ahead.

// Attends is how many cached tokens the query after computed tokens reads in the
// group, its own included.
func (g *GroupSpec) Attends(computed int) int {
	switch g.Kind {
	case SlidingWindow:
		return min(computed+1, g.Window)
	case ChunkedLocal:
		return computed%g.Window + 1
	case Mamba:
		return 0
	}
	return computed + 1
}

// Slope is how much Attends grows with the next token, and for how many tokens it
// keeps growing like that.
func (g *GroupSpec) Slope(computed int) (slope, steps int) {
	const forever = 1 << 30
	switch g.Kind {
	case SlidingWindow:
		if computed+1 >= g.Window {
			return 0, forever
		}
		return 1, g.Window - computed - 1
	case ChunkedLocal:
		return 1, g.Window - computed%g.Window
	case Mamba:
		return 0, forever
	}
	return 1, forever
}

// Slides reports whether some group passes blocks as tokens are processed.
func (c *Cache) Slides() bool {
	return slices.ContainsFunc(c.config.Groups, func(g GroupSpec) bool { return g.Kind != Full })
}

// Advance is Allocate for one token of a running sequence, the coming step's, and then
// Quiet for the steps after it.
func (c *Cache) Advance(s *Sequence) (quiet int, fits bool) {
	if !c.plain {
		if fits = c.Allocate(s, Grant{New: 1}); fits {
			s.Computed, s.Tokens = s.Computed+1, s.Tokens+1
			quiet = c.Quiet(s)
			s.Computed, s.Tokens = s.Computed-1, s.Tokens-1
		}
		return quiet, fits
	}
	t, size := &s.tables[0], c.config.BlockSize
	if s.Computed+1 > len(t.blocks)*size {
		if c.pool.free.n == 0 {
			return 0, false
		}
		t.blocks = append(t.blocks, c.pool.next())
	}
	quiet = len(t.blocks)*size - s.Computed - 1
	if c.config.Caching {
		known := min(s.Computed+1, s.Tokens)
		if known-c.config.Lag >= (t.cached+1)*size {
			c.managers[0].store(c, s, known-c.config.Lag)
		}
		quiet = min(quiet, (t.cached+1)*size-1-known)
	}
	return max(quiet, 0), true
}

// next is take for one block, which must be free.
func (p *Pool) next() BlockID {
	l, id := &p.free, Null
	for id == Null { // a gap
		id = l.ring[l.index(l.front)]
		l.front++
	}
	l.n--
	if p.blocks[id].key != 0 {
		p.evict(id)
	}
	p.blocks[id].use = 1
	return id
}

// Quiet is how many coming Allocate calls for one token each would change nothing,
// as long as every token is known one step after it was scheduled. The first call
// that matters is the one after them.
func (c *Cache) Quiet(s *Sequence) int {
	n := 1 << 30
	for i := range c.managers {
		n = min(n, c.managers[i].quiet(c, s, &s.tables[i]))
	}
	return n
}

func (m *manager) quiet(c *Cache, s *Sequence, t *table) int {
	if m.spec.Kind == Mamba {
		if m.spec.Aligned {
			return 0
		}
		return m.spec.BlockSize - s.Computed // one state block spans the sequence
	}
	size := m.spec.BlockSize
	n := len(t.blocks)*size - s.Computed
	if c.config.Caching {
		next := (t.cached + 1) * size
		if len(c.managers) > 1 {
			next = (t.cached*size/c.align + 1) * c.align
		}
		n = min(n, next-min(s.Computed+1, s.Tokens))
	}
	if m.spec.Kind == Full {
		return max(n, 0)
	}
	processed := s.Computed - s.InFlight
	if gone := min(m.rules.skipped(m.spec, processed)/size, len(t.blocks)); gone > 0 && t.blocks[gone-1] != Null {
		return 0
	}
	switch m.spec.Kind {
	case SlidingWindow:
		gone := max(processed-m.spec.Window+1, 0) / size
		n = min(n, (gone+1)*size+m.spec.Window-1-processed)
	case ChunkedLocal:
		n = min(n, m.spec.Window-processed%m.spec.Window)
	}
	return max(n, 0)
}
