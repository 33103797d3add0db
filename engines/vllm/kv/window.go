package kv

// Sliding-window attention reads the last Window tokens: earlier blocks are
// replaced by the null block, and a hit needs only the blocks of one window.
//
// Source: vllm/v1/core/single_type_kv_cache_manager.py:880-1108.

func windowSkipped(g *GroupSpec, computed int) int { return max(0, computed-g.Window+1) }

// windowBlocks is how many blocks before a boundary the next token's window reads.
func windowBlocks(g *GroupSpec) int {
	n := ceilDiv(g.Window-1, g.BlockSize)
	if g.Eagle {
		n++
	}
	return n
}

// windowHit searches from the right for one window of cached blocks. A shorter run
// that starts at block 0 counts too. A run ends on an aligned block.
func windowHit(c *Cache, a *attention, h HashSource, length int) {
	size, need := a.spec.BlockSize, windowBlocks(a.spec)
	n := length / size
	a.fill(n)
	run, found := 0, false
	for i := n - 1; i >= 0; i-- {
		if !c.present(a, h, i) {
			run = 0
			continue
		}
		if run == 0 && size != c.align && (i+1)*size%c.align != 0 {
			continue
		}
		c.set(a, i)
		run++
		if run >= need {
			a.truncate(i + run)
			found = true
			break
		}
	}
	if !found {
		a.truncate(run)
	}
	if a.spec.Eagle {
		a.truncate(a.length() - 1)
	}
}

func windowPeak(g *GroupSpec, tokens, inFlight int) int {
	return ceilDiv(min(g.Window-1+inFlight, tokens), g.BlockSize) + 1
}
