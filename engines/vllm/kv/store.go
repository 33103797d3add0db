package kv

// store offers the blocks of a group that became full to the index and reports
// them (block_pool.py:300-545, single_type_kv_cache_manager.py:424-475).
func (m *manager) store(c *Cache, s *Sequence, tokens int) {
	t := &s.tables[m.group]
	full := tokens / m.spec.BlockSize
	if full <= t.cached {
		return
	}
	c.collect(m, s, t, full)
	hashes := c.stored.Hashes
	if len(hashes) > 2 {
		m.pool.index.touchSlots(hashes, uint8(m.group))
	}
	for k, i := range c.kept {
		m.pool.store(t.blocks[i], hashes[k], m.group)
	}
	if n := len(c.kept); n > 0 {
		t.kept = c.kept[n-1] + 1
	}
	if m.spec.Kind == Mamba {
		m.fresh = append(m.fresh, hashes...)
	}
	if m.pool.sink != nil {
		m.report(c, s, t.cached*m.spec.BlockSize, full*m.spec.BlockSize, m.spec.BlockSize)
	}
	first := t.cached
	t.cached = full
	if m.spec.Kind == Full && m.spec.BlockSize > c.config.HashBlockSize {
		m.storeTail(c, s, t, first)
	}
}

// collect lists the blocks up to full that become findable, with their hashes.
func (c *Cache) collect(m *manager, s *Sequence, t *table, full int) {
	c.kept, c.stored.Hashes = c.kept[:0], c.stored.Hashes[:0]
	for i := t.cached; i < full; i++ {
		if t.blocks[i] != Null && c.keeps(s, m.spec, i) {
			c.kept = append(c.kept, i)
			c.stored.Hashes = append(c.stored.Hashes, c.hashOf(s.Hashes, m.spec, i))
		}
	}
}

// storeTail gives the block the prompt ends in an extra key: the hash of the last
// hash boundary inside it (single_type_kv_cache_manager.py:781-821).
func (m *manager) storeTail(c *Cache, s *Sequence, t *table, first int) {
	unit := c.config.HashBlockSize
	end := s.Prompt / unit * unit
	i := end / m.spec.BlockSize
	if end%m.spec.BlockSize == 0 || i < first || i >= t.cached {
		return
	}
	h := s.Hashes.BlockHash(end/unit - 1)
	m.pool.store(t.blocks[i], h, m.group)
	if m.pool.sink != nil {
		c.stored.Hashes = append(c.stored.Hashes[:0], h)
		m.report(c, s, i*m.spec.BlockSize, end, unit)
	}
}

// report publishes the stored hashes as covering tokens from to to.
func (m *manager) report(c *Cache, s *Sequence, from, to, size int) {
	st := &c.stored
	st.Sequence, st.Group, st.Spec = s, m.group, m.spec
	st.From, st.To, st.BlockSize, st.Parent = from, to, size, 0
	if from > 0 {
		st.Parent = s.Hashes.BlockHash(from/c.config.HashBlockSize - 1)
	}
	m.pool.sink.Stored(st)
}
