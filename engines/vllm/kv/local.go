package kv

// Chunked local attention reads back to the start of its own chunk: blocks of
// earlier chunks count as computed without a look.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:1110-1260.

func chunkSkipped(g *GroupSpec, computed int) int { return computed / g.Window * g.Window }

func chunkHit(c *Cache, a *attention, h HashSource, length int) {
	size := a.spec.BlockSize
	first := chunkSkipped(a.spec, length) / size
	a.fill(first)
	for i := first; i < length/size; i++ {
		if !c.append(a, h, i) {
			break
		}
	}
}

func chunkPeak(g *GroupSpec, tokens, inFlight int) int {
	return ceilDiv(min(g.Window+inFlight, tokens), g.BlockSize)
}
