package kv

// Hit is a cached prefix: its length and, for each group, the blocks that hold it.
// It is valid until the next look-up.
type Hit struct {
	Tokens int
	Blocks [][]BlockID
}

// attention is the groups of one kind and shape, looked up together.
type attention struct {
	spec   *GroupSpec
	groups []int
	blocks [][]BlockID // the hit, one list a group
	found  []BlockID   // the last block found, one a group
}

func (a *attention) length() int { return len(a.blocks[0]) }

// truncate keeps the first n blocks of the hit.
func (a *attention) truncate(n int) {
	for k := range a.blocks {
		a.blocks[k] = a.blocks[k][:max(min(n, len(a.blocks[k])), 0)]
	}
}

// fill makes the hit n null blocks.
func (a *attention) fill(n int) {
	for k := range a.blocks {
		a.blocks[k] = a.blocks[k][:0]
		for range n {
			a.blocks[k] = append(a.blocks[k], Null)
		}
	}
}

// present looks block i up in every group; all must have it.
func (c *Cache) present(a *attention, h HashSource, i int) bool {
	hash, _ := c.hashOf(h, a.spec, i)
	for k, g := range a.groups {
		id, ok := c.pool.lookup(hash, g)
		if !ok {
			return false
		}
		a.found[k] = id
	}
	return true
}

// set puts the block found last at position i of the hit.
func (c *Cache) set(a *attention, i int) {
	for k := range a.blocks {
		a.blocks[k][i] = a.found[k]
	}
}

// append adds block i to the hit if every group has it.
func (c *Cache) append(a *attention, h HashSource, i int) bool {
	if !c.present(a, h, i) {
		return false
	}
	for k := range a.blocks {
		a.blocks[k] = append(a.blocks[k], a.found[k])
	}
	return true
}

// hashOf is the identity of a group's block i; a block larger than the hash block
// goes by the hash at its end. The identities of the next run-1 blocks count up.
func (c *Cache) hashOf(h HashSource, g *GroupSpec, i int) (hash BlockHash, run int) {
	if g.BlockSize == c.config.HashBlockSize {
		return h.BlockHash(i)
	}
	r := g.BlockSize / c.config.HashBlockSize
	hash, _ = h.BlockHash((i+1)*r - 1)
	return hash, 1
}

// attentions gathers groups of equal shape, full attention first.
func attentions(specs []GroupSpec) []attention {
	var out []attention
	for g := range specs {
		k := 0
		for k < len(out) && !sameShape(out[k].spec, &specs[g]) {
			k++
		}
		if k == len(out) {
			a := attention{spec: &specs[g]}
			if specs[g].Kind == Full && k > 0 && out[0].spec.Kind != Full {
				out, k = append([]attention{a}, out...), 0
			} else {
				out = append(out, a)
			}
		}
		out[k].groups = append(out[k].groups, g)
		out[k].blocks = append(out[k].blocks, nil)
		out[k].found = append(out[k].found, Null)
	}
	return out
}

func sameShape(a, b *GroupSpec) bool {
	return a.Kind == b.Kind && a.BlockSize == b.BlockSize && a.Window == b.Window && a.Eagle == b.Eagle && a.PageBytes == b.PageBytes
}

// search finds the longest prefix of at most limit tokens that every group has
// (vllm/v1/core/kv_cache_coordinator.py:757-889). Full attention is searched once
// and then only cut; the others may shorten the candidate until nothing changes.
func (c *Cache) search(s *Sequence, limit int) int {
	for k := range c.attentions {
		c.attentions[k].truncate(0)
	}
	if len(c.attentions) == 1 {
		a := &c.attentions[0]
		registry[a.spec.Kind].hit(c, a, s.Hashes, limit)
		return a.length() * a.spec.BlockSize
	}
	simple := len(c.attentions) == 2 && c.attentions[0].spec.Kind == Full
	hit, longest := limit, 0
	for first := true; ; first = false {
		length := hit
		for k := range c.attentions {
			a := &c.attentions[k]
			if a.spec.Kind == Full && !first {
				continue
			}
			registry[a.spec.Kind].hit(c, a, s.Hashes, length)
			length = a.length() * a.spec.BlockSize
			longest = max(longest, length)
		}
		done := length >= hit
		hit = length
		if done || simple {
			break
		}
	}
	if a := &c.attentions[0]; a.spec.Kind == Full {
		a.truncate(hit / a.spec.BlockSize)
	}
	if longest > hit {
		s.junction = longest
	}
	return hit
}
