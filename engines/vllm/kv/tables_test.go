package kv

import (
	"slices"
	"testing"
)

func states(extra int) *Cache {
	return NewCache(Config{Groups: []GroupSpec{{Kind: Mamba, BlockSize: 16, Aligned: true, Extra: extra}}, NumBlocks: 12, BlockSize: 16, HashBlockSize: 16,
		Caching: true, Retention: Dense, MaxModelLen: 256, MaxInFlight: 64})
}

// An aligned group holds the running state and its drafts' states, which move along
// as the sequence grows; the states between stay null, those passed go back.
func TestDraftStatesMoveAlong(t *testing.T) {
	c := states(2)
	s := &Sequence{Hashes: counted(1), Prompt: 150, Tokens: 150}
	for _, step := range []struct {
		grow int
		want []BlockID
	}{
		{20, []BlockID{0, 1, 2, 3}},
		{20, []BlockID{0, 1, 2, 3, 4}},
		{60, []BlockID{0, 0, 2, 0, 0, 0, 3, 4, 5}},
	} {
		if !c.Allocate(s, Grant{New: step.grow}) {
			t.Fatalf("%d tokens: refused with %d blocks free", s.Computed+step.grow, c.pool.Free())
		}
		s.Computed += step.grow
		if got := s.Blocks(0); !slices.Equal(got, step.want) {
			t.Errorf("%d tokens: got %v, want %v", s.Computed, got, step.want)
		}
	}
	c.Free(s)
	long := &Sequence{Hashes: counted(1), Prompt: 150, Tokens: 150}
	for _, grow := range []int{16, 64, 16} { // the state left behind by a leap goes back too
		if !c.Allocate(long, Grant{New: grow}) {
			t.Fatalf("refused with %d blocks free", c.pool.Free())
		}
		long.Computed += grow
	}
	if got := long.Blocks(0); len(got) != 8 || slices.ContainsFunc(got[:4], func(id BlockID) bool { return id != Null }) {
		t.Errorf("after a leap: got %v, want four null blocks first", got)
	}
	c.Free(long)
	if got := c.pool.Free(); got != 11 {
		t.Errorf("after Free: got %d blocks, want 11", got)
	}
}

// The first allocation takes the drafts' states too: a pool without room for them
// refuses it.
func TestDraftStatesAreCharged(t *testing.T) {
	for extra, fits := range map[int]bool{10: true, 11: false} {
		c := states(extra)
		s := &Sequence{Hashes: counted(1), Prompt: 16, Tokens: 16}
		if got := c.Allocate(s, Grant{New: 16}); got != fits {
			t.Errorf("%d draft states in a pool of 11: got %v, want %v", extra, got, fits)
		}
	}
	whole := NewCache(Config{Groups: []GroupSpec{{Kind: Mamba, BlockSize: 64, Extra: 2}}, NumBlocks: 4, BlockSize: 64, HashBlockSize: 64, MaxModelLen: 64})
	s := &Sequence{Prompt: 16, Tokens: 16}
	if !whole.Allocate(s, Grant{New: 16}) || len(s.Blocks(0)) != 3 {
		t.Errorf("an unaligned group: got %v, want the state and two drafts'", s.Blocks(0))
	}
}

// A state that this step computes cannot be resumed from before the step has run.
func TestAStateOfTheSameStepIsNoHit(t *testing.T) {
	c := states(0)
	c.NewStep()
	first := &Sequence{Hashes: counted(1), Prompt: 40, Tokens: 40}
	if !c.Allocate(first, Grant{New: 32}) {
		t.Fatal("the first was refused")
	}
	second := &Sequence{Hashes: counted(1), Prompt: 40, Tokens: 40}
	hit := c.Lookup(second)
	if hit.Tokens != 32 {
		t.Fatalf("got a hit of %d tokens, want 32", hit.Tokens)
	}
	if c.Allocate(second, Grant{New: 8, Hit: hit}) {
		t.Error("resumed in the step that computes the state")
	}
	c.NewStep()
	if !c.Allocate(second, Grant{New: 8, Hit: c.Lookup(second)}) {
		t.Error("refused in the step after")
	}
}

// The whole-sequence gate charges a windowed group what it can ever hold.
func TestAWindowIsChargedItsCap(t *testing.T) {
	c := NewCache(Config{Groups: []GroupSpec{{Kind: SlidingWindow, BlockSize: 4, Window: 8}}, NumBlocks: 8, BlockSize: 4, HashBlockSize: 4, MaxModelLen: 128, MaxInFlight: 16})
	s := &Sequence{Prompt: 100, Tokens: 100}
	if !c.Allocate(s, Grant{New: 16, Whole: true}) {
		t.Error("100 tokens over a window of 8: refused by 7 free blocks, want the cap of 7 to fit")
	}
}
