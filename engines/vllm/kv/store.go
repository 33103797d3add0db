package kv

// store offers the blocks of a group that became full to the index and reports
// them (block_pool.py:300-545, single_type_kv_cache_manager.py:424-475).
func (m *manager) store(c *Cache, s *Sequence, tokens int) {
	t := &s.tables[m.group]
	if tokens < (t.cached+1)*m.spec.BlockSize {
		return
	}
	full := tokens / m.spec.BlockSize
	first, told := t.cached, m.pool.sink != nil || m.spec.Kind == Mamba
	c.stored.Hashes = c.stored.Hashes[:0]
	every := m.rules.runs(m.spec) == 0
	for i := first; i < full; {
		n := 1
		if t.blocks[i] != Null && (every || c.keeps(s, m.spec, i)) {
			var h BlockHash
			h, n = c.hashOf(s.Hashes, m.spec, i)
			n = t.run(i, min(i+n, full), every)
			m.pool.store(t.blocks[i:i+n], h, m.group, &t.near)
			t.kept = i + n
			for k := 0; told && k < n; k++ {
				c.stored.Hashes = append(c.stored.Hashes, h+BlockHash(k))
			}
		}
		i += n
	}
	if m.spec.Kind == Mamba {
		m.fresh = append(m.fresh, c.stored.Hashes...)
	}
	if m.pool.sink != nil {
		m.report(c, s, first*m.spec.BlockSize, full*m.spec.BlockSize, m.spec.BlockSize)
	}
	t.cached = full
	if m.spec.Kind == Full && m.spec.BlockSize > c.config.HashBlockSize {
		m.storeTail(c, s, t, first)
	}
}

// run is how many blocks from one on, before end, can be stored at once.
func (t *table) run(from, end int, every bool) int {
	n, blocks := 1, t.blocks[from:end]
	for every && n < len(blocks) && blocks[n] != Null {
		n++
	}
	return n
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
	h, _ := s.Hashes.BlockHash(end/unit - 1)
	m.pool.store(t.blocks[i:i+1], h, m.group, &t.near)
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
		st.Parent, _ = s.Hashes.BlockHash(from/c.config.HashBlockSize - 1)
	}
	m.pool.sink.Stored(st)
}
