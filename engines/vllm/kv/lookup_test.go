package kv

import (
	"math/rand/v2"
	"testing"
)

// drawGroups draws one to three kinds, some in two groups, of equal blocks or, without
// a chunked kind, of mixed ones.
func drawGroups(rng *rand.Rand) []GroupSpec {
	size := []int{1, 2, 4}[rng.IntN(3)]
	var out []GroupSpec
	mixed := rng.IntN(2) == 0
	for _, k := range rng.Perm(4)[:1+rng.IntN(3)] {
		g := GroupSpec{Kind: Kind(k), BlockSize: size}
		if mixed && g.Kind != ChunkedLocal {
			g.BlockSize <<= rng.IntN(2)
		}
		switch g.Kind {
		case Mamba:
			g.Aligned = true
		case SlidingWindow, ChunkedLocal:
			g.Window = max(size*(1+rng.IntN(4)), 2) // chunks begin on a block; a window of one reads nothing
		}
		for range 1 + rng.IntN(2) {
			out = append(out, g)
		}
	}
	for i := range out {
		if out[i].Kind == ChunkedLocal && mixed { // upstream asserts equal blocks
			for j := range out {
				out[j].BlockSize = size
			}
		}
	}
	return out
}

// stored is a cache whose blocks were made findable at random, with what is where.
type stored struct {
	*Cache
	at []map[int]BlockID // by group and block
}

func drawStored(rng *rand.Rand, groups []GroupSpec, tokens int) stored {
	unit, align := groups[0].BlockSize, groups[0].BlockSize
	for _, g := range groups {
		unit, align = min(unit, g.BlockSize), max(align, g.BlockSize) // powers of two
	}
	c := stored{Cache: NewCache(Config{Groups: groups, NumBlocks: 400, BlockSize: align, HashBlockSize: unit, Caching: true,
		Retention: Dense, MaxModelLen: 256, MaxInFlight: 16})}
	missing := rng.IntN(12)
	for g := range groups {
		at := map[int]BlockID{}
		for i := range tokens / groups[g].BlockSize {
			if rng.IntN(12) >= missing {
				id := c.pool.take(nil, 1)
				hash, _ := c.hashOf(counted(1), &groups[g], i)
				c.pool.store(id, hash, g, new(int32))
				at[i] = id[0]
			}
		}
		c.at = append(c.at, at)
	}
	return c
}

// supports reports whether a request can go on after length tokens with what group g
// has stored.
func (c *stored) supports(g, length int) bool {
	spec := &c.config.Groups[g]
	end := length / spec.BlockSize
	first := 0
	switch spec.Kind {
	case SlidingWindow:
		first = max(end-ceilDiv(spec.Window-1, spec.BlockSize), 0)
	case ChunkedLocal:
		first = length / spec.Window * spec.Window / spec.BlockSize
	case Mamba:
		first = max(end-1, 0)
	}
	for i := first; i < end; i++ {
		if _, ok := c.at[g][i]; !ok {
			return false
		}
	}
	return true
}

// A look-up finds the longest aligned prefix that every group supports, and the
// blocks each reads of it.
func TestLookupFindsTheLongestPrefixAllGroupsSupport(t *testing.T) {
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		groups := drawGroups(rng)
		tokens := 8 + rng.IntN(40)
		c := drawStored(rng, groups, tokens)
		s := &Sequence{Hashes: counted(1), Prompt: tokens, Tokens: tokens}
		hit := c.Lookup(s)
		want := 0
		for length := (tokens - 1) / c.align * c.align; length > 0 && want == 0; length -= c.align {
			want = length
			for g := range groups {
				if !c.supports(g, length) {
					want = 0
				}
			}
		}
		if hit.Tokens != want {
			t.Fatalf("seed %d: got %d tokens of %d, want %d\n%+v\n%v", seed, hit.Tokens, tokens, want, groups, c.at)
		}
		for g, blocks := range hit.Blocks {
			if len(blocks) != want/groups[g].BlockSize {
				t.Fatalf("seed %d: group %d: got %d blocks for %d tokens", seed, g, len(blocks), want)
			}
			for i, id := range blocks {
				if id != Null && id != c.at[g][i] || id == Null && groups[g].Kind == Full {
					t.Fatalf("seed %d: group %d block %d: got %d, want %d", seed, g, i, id, c.at[g][i])
				}
			}
		}
		if s.junction != 0 && s.junction <= hit.Tokens {
			t.Fatalf("seed %d: junction at %d of a hit of %d", seed, s.junction, hit.Tokens)
		}
	}
}

// A drafter costs a hit its last block; over a window, one block more must be there.
func TestADrafterTakesTheLastBlockOfAHit(t *testing.T) {
	for _, c := range []struct {
		g        GroupSpec
		present  []int
		hit      int // blocks
		leading0 int
	}{
		{GroupSpec{Kind: Full, BlockSize: 4, Eagle: true}, []int{0, 1, 2}, 2, 0},
		{GroupSpec{Kind: Full, BlockSize: 4, Eagle: true}, nil, 0, 0},
		{GroupSpec{Kind: SlidingWindow, BlockSize: 4, Window: 8, Eagle: true}, []int{1, 2, 3}, 3, 1},
		{GroupSpec{Kind: SlidingWindow, BlockSize: 4, Window: 8, Eagle: true}, []int{2, 3}, 0, 0},
		{GroupSpec{Kind: SlidingWindow, BlockSize: 4, Window: 8}, []int{2, 3}, 4, 2},
	} {
		cache := NewCache(Config{Groups: []GroupSpec{c.g}, NumBlocks: 20, BlockSize: 4, HashBlockSize: 4, Caching: true, MaxModelLen: 64, MaxInFlight: 16})
		for _, i := range c.present {
			cache.pool.store(cache.pool.take(nil, 1), 1+BlockHash(i), 0, new(int32))
		}
		hit := cache.Lookup(&Sequence{Hashes: counted(1), Prompt: 20, Tokens: 20})
		null := 0
		for _, id := range hit.Blocks[0] {
			if id == Null {
				null++
			}
		}
		if hit.Tokens != 4*c.hit || null != c.leading0 {
			t.Errorf("%+v with %v: got %d tokens, %d null blocks; want %d and %d", c.g, c.present, hit.Tokens, null, 4*c.hit, c.leading0)
		}
	}
}

// A sparse group keeps the blocks that a hit at some kept boundary reads.
func TestSparseGroupsKeepWhatAKeptBoundaryReads(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		g := GroupSpec{Kind: SlidingWindow, BlockSize: []int{1, 2, 4}[rng.IntN(3)], Window: 2 + rng.IntN(12)}
		if rng.IntN(3) == 0 {
			g.Kind, g.Window, g.Aligned, g.Eagle = Mamba, 0, true, rng.IntN(2) == 0
		}
		align := g.BlockSize << rng.IntN(2)
		every := []int{Dense, 0, 1 + rng.IntN(20)}[rng.IntN(3)]
		c := NewCache(Config{Groups: []GroupSpec{g}, NumBlocks: 10, BlockSize: align, HashBlockSize: g.BlockSize, Caching: true, Retention: every, MaxModelLen: 64})
		s := &Sequence{Prompt: 1 + rng.IntN(48), junction: rng.IntN(3) * rng.IntN(24)}
		last := (s.Prompt - 1) / align * align
		if g.Eagle {
			last -= g.BlockSize
		}
		kept := []int{last, s.junction / align * align}
		for n := 1; n < 200; n++ {
			switch {
			case every == Dense:
				kept = append(kept, n*align)
			case every > 0:
				kept = append(kept, n*every/align*align)
			}
		}
		if every == Dense {
			kept = kept[2:]
		}
		for i := range 48 / g.BlockSize {
			want := false
			for _, boundary := range kept {
				end := boundary / g.BlockSize
				want = want || i < end && i >= end-registry[g.Kind].runs(&g)
			}
			if got := c.keeps(s, &g, i); got != want {
				t.Fatalf("seed %d: block %d: got %v, want %v\n%+v every %d align %d prompt %d junction %d", seed, i, got, want, g, every, align, s.Prompt, s.junction)
			}
		}
	}
}
