package kv

// Dense keeps every boundary a hit could end at.
const Dense = -1

// keeps reports whether a sparse group makes its block i findable: one whose hits read
// only the blocks before a boundary keeps those of the boundaries worth resuming
// from: the last one inside the prompt, the place where another sequence parted
// from this one, and one every interval tokens.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:424-475, 1002-1061.
func (c *Cache) keeps(s *Sequence, g *GroupSpec, i int) bool {
	runs := registry[g.Kind].runs(g)
	if c.config.Retention == Dense {
		return c.reads(g, runs, i, ceilDiv((i+1)*g.BlockSize, c.align)*c.align)
	}
	last := (s.Prompt - 1) / c.align * c.align
	if g.Kind == Mamba && g.Eagle {
		last -= g.BlockSize // full attention's hit ends a block earlier, for the drafter
	}
	if c.reads(g, runs, i, last) || c.reads(g, runs, i, s.junction/c.align*c.align) {
		return true
	}
	every := c.config.Retention
	if every == 0 {
		return false
	}
	for at := ceilDiv((i+1)*g.BlockSize, every) * every; ; at += every {
		boundary := at / c.align * c.align
		if boundary/g.BlockSize-runs > i {
			return false
		}
		if c.reads(g, runs, i, boundary) {
			return true
		}
	}
}

// reads reports whether a hit that ends at boundary reads block i.
func (c *Cache) reads(g *GroupSpec, runs, i, boundary int) bool {
	end := boundary / g.BlockSize
	return i < end && i >= end-runs
}
