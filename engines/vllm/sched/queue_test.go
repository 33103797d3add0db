package sched

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Both queues agree with a plain list over random calls.
func TestQueuesAgreeWithAPlainList(t *testing.T) {
	for _, policy := range []Policy{FCFS, Priority} {
		for seed := range uint64(30) {
			rng := rand.New(rand.NewPCG(seed, 2))
			q, plain := newQueue(policy), []*Request(nil)
			for n := range 200 {
				switch rng.IntN(5) {
				case 0, 1, 2:
					r := &Request{Number: uint64(n), Priority: rng.IntN(3), Arrival: float64(rng.IntN(4))}
					if rng.IntN(2) == 0 {
						q.push(r)
						plain = append(plain, r)
					} else {
						q.pushFront(r)
						plain = slices.Insert(plain, 0, r)
					}
				default:
					if len(plain) > 0 {
						i := rng.IntN(len(plain))
						if head := q.peek(); rng.IntN(2) == 0 {
							i = slices.Index(plain, head)
						}
						q.remove(plain[i])
						plain = slices.Delete(plain, i, i+1)
					}
				}
				want := slices.Clone(plain)
				if policy == Priority {
					slices.SortFunc(want, func(a, b *Request) int {
						if a.before(b) {
							return -1
						}
						return 1
					})
				}
				got := q.appendTo(nil)
				if !slices.Equal(got, want) || q.len() != len(want) || len(want) > 0 && q.peek() != want[0] {
					t.Fatalf("policy %d seed %d: got %d requests in another order", policy, seed, len(got))
				}
			}
		}
	}
}

// Names are compared as strings, so r10 goes before r2.
func TestTiesOfThePriorityPolicyCompareNamesAsStrings(t *testing.T) {
	a, b := &Request{Name: "r10"}, &Request{Name: "r2"}
	if !a.before(b) || b.before(a) {
		t.Error("r10 does not come before r2")
	}
	if a, b := (&Request{Number: 1}), (&Request{Number: 2}); !a.before(b) || b.before(a) {
		t.Error("of equal names the first to come does not go first")
	}
}
