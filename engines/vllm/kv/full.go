package kv

// Full attention reads everything before it: a hit is the longest run of cached
// blocks from the start.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:680-833.

func fullHit(c *Cache, a *attention, h HashSource, length int) {
	size := a.spec.BlockSize
	for i := range length / size {
		if !c.append(a, h, i) {
			break
		}
	}
	if a.spec.Eagle {
		a.truncate(a.length() - 1)
	}
	for a.length()*size%c.align != 0 {
		a.truncate(a.length() - 1)
	}
}

func wholeLength(g *GroupSpec, tokens, _ int) int { return ceilDiv(tokens, g.BlockSize) }
