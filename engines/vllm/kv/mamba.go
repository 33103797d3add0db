package kv

import "slices"

// Mamba layers keep a state, not a history. Unaligned groups hold one state block
// (plus Extra for drafts) a request in a block that spans the whole sequence.
// Aligned groups keep the running state and the states that sit on block
// boundaries, so that a prefix can be resumed from one.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:1268-1760.

func stateSkipped(_ *GroupSpec, computed int) int { return computed - 1 }

func oneState(*GroupSpec) int { return 1 }

// stateHit takes the right-most cached state.
func stateHit(c *Cache, a *attention, h HashSource, length int) {
	size := a.spec.BlockSize
	a.truncate(0)
	for i := length/size - 1; i >= 0; i-- {
		if !c.present(a, h, i) || size != c.align && (i+1)*size%c.align != 0 {
			continue
		}
		a.fill(i + 1)
		c.set(a, i)
		return
	}
}

func statePeak(g *GroupSpec, tokens, _ int) int {
	if g.Aligned {
		return 2 + g.Extra
	}
	return ceilDiv(tokens, g.BlockSize) + g.Extra
}

// stateNeed is how many blocks an aligned group must be given: at most the running
// state and, the first time, the draft states. A hit on a state that this step is
// only computing cannot be used yet; asking for more than the pool has says so.
func (m *manager) stateNeed(t *table, d *demand) int {
	if n := len(d.hits); n > 0 && slices.Contains(m.fresh, m.pool.hash(d.hits[n-1])) {
		return m.pool.Usable() + 2
	}
	n := ceilDiv(d.main, m.spec.BlockSize) + m.spec.Extra - len(d.hits) - len(t.blocks)
	if n > 0 {
		n = 1
		if !t.started {
			n += m.spec.Extra
		}
	}
	return n + m.evictable(d.hits)
}

// stateExtend moves the table on to the state the coming step writes: positions
// between the last state and the new one become null, draft states are reused.
func (m *manager) stateExtend(t *table, d *demand) {
	extra := m.spec.Extra
	required := ceilDiv(d.main, m.spec.BlockSize) + extra
	had := len(t.blocks)
	if required <= had {
		return
	}
	if t.started {
		t.state = had - 1 - extra
	} else if had > 0 {
		t.state = had - 1
	}
	skipped := required - extra - 1
	for len(t.blocks) < skipped {
		t.blocks = append(t.blocks, Null)
	}
	if t.started {
		for i := had - extra; i < had && i < skipped; i++ {
			t.blocks = append(t.blocks, t.blocks[i])
			t.blocks[i] = Null
		}
	}
	t.blocks = m.pool.take(t.blocks, required-len(t.blocks))
	t.started = true
}

// dropState frees the state before the previous step's once a later one exists.
func (m *manager) dropState(t *table, computed int) {
	if t.state < 0 || t.state >= ceilDiv(computed, m.spec.BlockSize)-1 {
		return
	}
	m.pool.release(t.blocks[t.state : t.state+1])
	t.blocks[t.state] = Null
}
