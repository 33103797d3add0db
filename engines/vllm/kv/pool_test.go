package kv

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// reference is the pool as upstream writes it: slices and maps, no cleverness.
type reference struct {
	free  []BlockID
	refs  map[BlockID]int
	keys  map[BlockID][]key
	index map[key][]BlockID
}

type key struct {
	hash  BlockHash
	group int
}

func newReference(n int) *reference {
	r := &reference{refs: map[BlockID]int{}, keys: map[BlockID][]key{}, index: map[key][]BlockID{}}
	for id := 1; id < n; id++ {
		r.free = append(r.free, BlockID(id))
	}
	return r
}

func (r *reference) take(n int) []BlockID {
	out := slices.Clone(r.free[:n])
	r.free = r.free[n:]
	for _, id := range out {
		for _, k := range r.keys[id] {
			i := slices.Index(r.index[k], id)
			if r.index[k] = slices.Delete(r.index[k], i, i+1); len(r.index[k]) == 0 {
				delete(r.index, k)
			}
		}
		delete(r.keys, id)
		r.refs[id] = 1
	}
	return out
}

func (r *reference) touch(id BlockID) {
	if r.refs[id] == 0 {
		i := slices.Index(r.free, id)
		r.free = slices.Delete(r.free, i, i+1)
	}
	r.refs[id]++
}

func (r *reference) release(ids []BlockID) {
	var front, back []BlockID
	for _, id := range slices.Backward(ids) {
		if r.refs[id]--; r.refs[id] > 0 {
			continue
		}
		if len(r.keys[id]) > 0 {
			back = append(back, id)
		} else {
			front = append(front, id)
		}
	}
	r.free = slices.Concat(front, r.free, back)
}

func (r *reference) store(id BlockID, k key) {
	r.keys[id] = append(r.keys[id], k)
	r.index[k] = append(r.index[k], id)
}

// The pool and the plain reference agree on every block handed out, every hit and
// the whole free list, over random calls with few hashes, so that keys repeat.
func TestPoolAgreesWithThePlainReference(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 3 + rng.IntN(60)
		caching := seed%4 > 0 // without, nothing is stored
		p, r := newPool(n, caching, nil), newReference(n)
		var held [][]BlockID
		near := int32(rng.IntN(n)) // any place will do
		for step := range 400 {
			kinds := 5
			if !caching {
				kinds = 2
			}
			switch k := (key{BlockHash(1 + rng.IntN(2*n)), rng.IntN(3)}); rng.IntN(kinds) {
			case 0:
				if m := rng.IntN(p.Free() + 1); m > 0 {
					got, want := p.take(nil, m), r.take(m)
					if !slices.Equal(got, want) {
						t.Fatalf("seed %d step %d: take: got %v, want %v", seed, step, got, want)
					}
					held = append(held, got)
				}
			case 1:
				if len(held) > 0 {
					i := rng.IntN(len(held))
					p.release(held[i])
					r.release(held[i])
					held = slices.Delete(held, i, i+1)
				}
			case 2, 3:
				if len(held) > 0 {
					ids := held[rng.IntN(len(held))]
					at := rng.IntN(len(ids))
					ids = ids[at : at+1+rng.IntN(len(ids)-at)]
					if slices.ContainsFunc(ids, func(id BlockID) bool {
						return len(r.keys[id]) > 2 || slices.Contains(r.keys[id], key{k.hash + BlockHash(slices.Index(ids, id)), k.group})
					}) {
						continue
					}
					p.store(ids, k.hash, k.group, &near)
					for i, id := range ids {
						r.store(id, key{k.hash + BlockHash(i), k.group})
					}
				}
			case 4:
				id, ok := p.lookup(k.hash, k.group)
				if want := r.index[k]; ok != (len(want) > 0) || ok && id != want[0] {
					t.Fatalf("seed %d step %d: lookup %v: got %d %v, want %v", seed, step, k, id, ok, want)
				}
				if ok {
					p.touch([]BlockID{id})
					r.touch(id)
					held = append(held, []BlockID{id})
				}
			}
			if got := p.FreeOrder(nil); !slices.Equal(got, r.free) || p.Free() != len(r.free) || p.Cached() != len(r.index) {
				t.Fatalf("seed %d step %d: got free %v (%d), %d keys; want %v, %d keys", seed, step, got, p.Free(), p.Cached(), r.free, len(r.index))
			}
		}
	}
}

func TestResetNeedsEveryBlockFree(t *testing.T) {
	p := newPool(4, true, nil)
	held := p.take(nil, 1)
	p.store(held, 7, 0, new(int32))
	if p.reset() {
		t.Error("with a block in use: got true, want false")
	}
	p.release(held)
	if !p.reset() || p.Cached() != 0 {
		t.Errorf("with every block free: got %d keys, want none", p.Cached())
	}
	if got, want := p.FreeOrder(nil), []BlockID{2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("free order: got %v, want %v, as before", got, want)
	}
	for _, id := range p.take(nil, 3) {
		p.store([]BlockID{id}, BlockHash(id), 0, new(int32)) // each block's only key again
	}
	if got := p.Cached(); got != 3 {
		t.Errorf("after storing anew: got %d keys, want 3", got)
	}
}

// A block taken out of the middle of the free list leaves a gap; gaps that fill the
// list are closed, whichever end needs the room.
func TestGapsInTheFreeListAreClosed(t *testing.T) {
	p, r := newPool(8, true, nil), newReference(8)
	p.take(nil, 7)
	all := r.take(7)
	k := key{hash: 5}
	p.store(all[3:4], k.hash, k.group, new(int32))
	r.store(all[3], k)
	p.release(all)
	r.release(all)
	for n := range 60 {
		held := p.take(nil, 1)
		r.take(1)
		for range n {
			p.touch(all[3:4])
			r.touch(all[3])
			p.release(all[3:4])
			r.release(all[3:4])
		}
		p.release(held)
		r.release(held)
		if got := p.FreeOrder(nil); !slices.Equal(got, r.free) {
			t.Fatalf("after %d hits: got free %v, want %v", n, got, r.free)
		}
	}
}
