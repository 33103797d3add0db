package kv

// manager keeps the block tables of one group.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:36-679.
type manager struct {
	spec    *GroupSpec
	rules   *rules
	group   int
	pool    *Pool
	cap     int         // admission cap in blocks, 0 for none
	holders int         // sequences that hold a table
	fresh   []BlockHash // mamba: keys stored in this step
}

// demand is what one allocation asks of a group.
type demand struct {
	tokens   int       // tokens that need a slot, lookahead included
	main     int       // of them, the target model's own
	computed int       // tokens already computed, hits included
	hits     []BlockID // blocks of the prefix hit
	admit    bool      // charge at most the admission cap
}

// need is how many free blocks the demand takes, hit blocks that are free now
// included (single_type_kv_cache_manager.py:150-260).
func (m *manager) need(t *table, d *demand) int {
	if m.spec.Kind == Mamba && m.spec.Aligned {
		return m.stateNeed(t, d)
	}
	required := m.required(d.tokens)
	if d.admit && m.cap > 0 {
		required = min(required, m.cap)
	}
	if t.held {
		return max(required-len(t.blocks), 0)
	}
	skipped := m.rules.skipped(m.spec, d.computed) / m.spec.BlockSize
	n := max(required-max(skipped, len(d.hits)), 0)
	return n + m.evictable(d.hits[min(max(skipped, 0), len(d.hits)):])
}

func (m *manager) required(tokens int) int {
	n := ceilDiv(tokens, m.spec.BlockSize)
	if m.spec.Kind == Mamba {
		n += m.spec.Extra
	}
	return n
}

// evictable counts the hit blocks that sit in the free list.
func (m *manager) evictable(hits []BlockID) int {
	n := 0
	for _, id := range hits {
		if id != Null && m.pool.blocks[id].use&idle != 0 {
			n++
		}
	}
	return n
}

// adopt makes the hit's blocks the start of a new table; blocks attention no longer
// reads become null.
func (m *manager) adopt(t *table, d *demand) {
	if t.held || len(d.hits) == 0 {
		return
	}
	skipped := min(max(m.rules.skipped(m.spec, d.computed)/m.spec.BlockSize, 0), len(d.hits))
	m.pool.touch(d.hits[skipped:])
	for range skipped {
		t.blocks = append(t.blocks, Null)
	}
	t.blocks = append(t.blocks, d.hits[skipped:]...)
	t.cached, t.kept = len(t.blocks), len(t.blocks)
}

// extend allocates up to the demand.
func (m *manager) extend(t *table, d *demand) {
	if !t.held {
		t.held = true
		m.holders++
	}
	if m.spec.Kind == Mamba && m.spec.Aligned {
		m.stateExtend(t, d)
		return
	}
	if n := m.required(d.tokens) - len(t.blocks); n > 0 {
		t.blocks = m.pool.take(t.blocks, n)
	}
}

// slide frees the blocks attention has moved past, last first, once the tokens up
// to computed are processed.
func (m *manager) slide(t *table, computed int) {
	n := min(m.rules.skipped(m.spec, computed)/m.spec.BlockSize, len(t.blocks))
	first := n
	for first > 0 && t.blocks[first-1] != Null {
		first--
	}
	if first < n {
		m.pool.release(t.blocks[first:n])
		clear(t.blocks[first:n])
	}
	if m.spec.Aligned {
		m.dropState(t, computed)
	}
}

// free gives every block back.
func (m *manager) free(t *table) {
	if !t.held {
		return
	}
	m.pool.release(t.blocks)
	m.holders--
	t.clear()
}

// common is how many leading blocks of a table every holder shares.
func (m *manager) common(t *table) int {
	if m.spec.Kind != Full {
		return 0
	}
	for i, id := range t.blocks {
		if m.pool.Refs(id) != m.holders {
			return i
		}
	}
	return len(t.blocks)
}
