package kv

import (
	"math/rand/v2"
	"testing"
)

// worst is the unlocked leaf that p evicts first, found by looking at every node.
func worst(p Policy, n *Node) *Node {
	if len(n.children) == 0 {
		if n.locks > 0 {
			return nil
		}
		return n
	}
	var out *Node
	for _, c := range n.children { // order: ranks differ
		w := worst(p, c)
		if w == nil {
			continue
		}
		if out == nil {
			out = w
			continue
		}
		aMajor, aMinor := p.rank(w)
		bMajor, bMinor := p.rank(out)
		if aMajor < bMajor || aMajor == bMajor && aMinor < bMinor {
			out = w
		}
	}
	return out
}

// Whatever was inserted, matched and locked before, eviction takes the leaf that a scan
// of the whole tree finds, and then the parent it leaves bare.
func TestEvictionTakesWhatAScanFinds(t *testing.T) {
	for _, p := range Policies() {
		rng := rand.New(rand.NewPCG(3, uint64(len(p))))
		for range 40 {
			tree := NewTree(1, p, nil)
			var locked []*Node
			for range 80 {
				b := make([]byte, 1+rng.IntN(6))
				for i := range b {
					b[i] = "abcd"[rng.IntN(4)]
				}
				switch rng.IntN(6) {
				case 0, 1:
					tree.Insert(word(string(b)), rng.IntN(3), rng.IntN(2) == 0)
				case 2:
					tree.Match(word(string(b)))
				case 3:
					_, n := tree.Match(word(string(b)))
					tree.Lock(n)
					locked = append(locked, n)
				case 4:
					if k := len(locked) - 1; k >= 0 {
						tree.Unlock(locked[k])
						locked = locked[:k]
					}
				case 5:
					want := worst(p, tree.root)
					if want == tree.root {
						want = nil
					}
					size := 0
					if want != nil {
						size = want.key.n
					}
					freed := tree.Evict(1)
					if gone := want == nil || want.parent.children[want.key.edge(1)] != want; freed != size || !gone {
						t.Fatalf("%s: freed %d, want the leaf of %d", p, freed, size)
					}
				}
			}
			for _, n := range locked {
				tree.Unlock(n)
			}
			if size := tree.Evictable(); tree.Evict(1<<30) != size || tree.Evictable()+tree.Protected() != 0 || len(tree.root.children) > 0 {
				t.Fatalf("%s: %d evictable and %d protected are left of %d", p, tree.Evictable(), tree.Protected(), size)
			}
		}
	}
}

// Without a tree a request starts from nothing each time, and gives everything back.
func TestCacheWithoutATree(t *testing.T) {
	c := NewCache(100, 4, nil)
	var h Hold
	for range 2 {
		c.Match(&h, word("abcdef"))
		if h.Prefix != 0 {
			t.Errorf("prefix: got %d, want 0", h.Prefix)
		}
		c.Extend(&h, 6)
		c.Store(&h, word("abcdef"), 0, true)
		if h.Prefix != 6 || c.Free() != 92 {
			t.Errorf("stored: got a prefix of %d and %d free, want 6 and 92", h.Prefix, c.Free())
		}
		c.Lock(&h)
		c.Unlock(&h)
		c.Reserve(1000)
		c.Release(&h)
		if got := [3]int{c.Free(), c.Evictable(), c.Protected()}; got != [3]int{100, 0, 0} {
			t.Errorf("free, evictable, protected: got %v, want all free", got)
		}
	}
	c.Match(&h, word("abcdef"))
	c.Extend(&h, 6)
	c.Grow(&h)
	c.Grow(&h)
	c.Grow(&h)
	if h.Committed != 9 || c.Free() != 88 {
		t.Errorf("grown: got %d tokens and %d free, want 9 and 88", h.Committed, c.Free())
	}
	if c.Finish(&h, word("abcdefghi"), 0); c.Free() != 100 {
		t.Errorf("finished: got %d free, want 100", c.Free())
	}
}
