package kv

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// counted gives block i of its sequence the identity start+i.
type counted uint64

func (c counted) BlockHash(i int) (BlockHash, int) { return BlockHash(uint64(c) + uint64(i)), 3 - i%3 }

// A running request's allocation over full attention has short ways; they give what
// the general way gives: the same answers, tables and free list.
func TestShortWayAllocatesAsTheGeneralOne(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var caches [2]*Cache
		for k := range caches {
			caches[k] = NewCache(Config{Groups: []GroupSpec{{Kind: Full, BlockSize: 4}}, NumBlocks: 40, BlockSize: 4, HashBlockSize: 4,
				Caching: seed%2 == 0, MaxModelLen: 60, MaxInFlight: 16})
		}
		caches[1].plain = false
		var held [2][]*Sequence
		for step := range 300 {
			grant := Grant{New: 1 + rng.IntN(6), Lookahead: rng.IntN(3), Reserved: rng.IntN(3)}
			fresh, pick, known := len(held[0]) == 0 || rng.IntN(4) == 0, rng.IntN(max(1, len(held[0]))), rng.IntN(2)
			one := rng.IntN(2) == 0
			if one {
				grant = Grant{New: 1}
			}
			start := counted(1000 * (1 + rng.IntN(5)))
			var fits [2]bool
			var quiet [2]int
			for k, c := range caches {
				if fresh {
					s := &Sequence{Hashes: start, Prompt: 20, Tokens: 20}
					if fits[k] = c.Allocate(s, Grant{New: 20, Hit: c.Lookup(s), Whole: true}); fits[k] {
						s.Computed = 20
						held[k] = append(held[k], s)
					}
				} else if s := held[k][pick]; s.Computed+grant.New > 50 {
					c.Free(s)
					held[k] = slices.Delete(held[k], pick, pick+1)
				} else {
					if one {
						quiet[k], fits[k] = c.Advance(s)
					} else {
						fits[k] = c.Allocate(s, grant)
					}
					if fits[k] {
						s.Computed += grant.New
						s.Tokens = s.Computed + known
					}
				}
			}
			if fits[0] != fits[1] || quiet[0] != quiet[1] || !slices.Equal(caches[0].pool.FreeOrder(nil), caches[1].pool.FreeOrder(nil)) || caches[0].pool.Cached() != caches[1].pool.Cached() {
				t.Fatalf("seed %d step %d: the ways part", seed, step)
			}
			for i := range held[0] {
				if !slices.Equal(held[0][i].Blocks(0), held[1][i].Blocks(0)) {
					t.Fatalf("seed %d step %d: got table %v, want %v", seed, step, held[0][i].Blocks(0), held[1][i].Blocks(0))
				}
			}
		}
	}
}
