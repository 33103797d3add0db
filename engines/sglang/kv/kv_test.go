package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// word is a key of one token a letter; equal letters are equal tokens.
func word(s string) Key {
	var runs []engines.Segment
	for _, c := range s {
		runs = AppendRun(runs, engines.Segment{Stream: uint64(c), Count: 1})
	}
	return View(Namespace{}, runs, len(s))
}

func TestKeyIsTheSameHoweverItIsCut(t *testing.T) {
	whole := []engines.Segment{{Stream: 1, Start: 0, Count: 40}, {Stream: 2, Start: 5, Count: 10}}
	var pieces []engines.Segment
	for _, r := range []engines.Segment{{Stream: 1, Start: 0, Count: 7}, {Stream: 1, Start: 7, Count: 33}, {Stream: 2, Start: 5, Count: 0}, {Stream: 2, Start: 5, Count: 10}} {
		pieces = AppendRun(pieces, r)
	}
	a, b := View(Namespace{}, whole, 50), View(Namespace{}, pieces, 50)
	for page := 1; page <= 50; page++ {
		if a.edge(page) != b.edge(page) {
			t.Errorf("page %d: edges differ", page)
		}
	}
	if got := a.common(b); got != 50 {
		t.Errorf("common: got %d, want 50", got)
	}
	if got := a.From(38).common(View(Namespace{}, whole, 45).From(38)); got != 7 {
		t.Errorf("common of the tails: got %d, want 7", got)
	}
}

func TestMatchSplitsAndFloorsToPages(t *testing.T) {
	tree := NewTree(2, LRU, nil)
	tree.Insert(word("abcdef"), 0, false)
	for _, c := range []struct {
		key  string
		want int
	}{{"abcdefg", 6}, {"abcxyz", 2}, {"abcd", 4}, {"a", 0}, {"axcd", 0}, {"abcdef", 6}} {
		if got, _ := tree.Match(word(c.key)); got != c.want {
			t.Errorf("%s: got %d, want %d", c.key, got, c.want)
		}
	}
	if got := tree.Evictable(); got != 6 {
		t.Errorf("evictable after splits: got %d, want 6", got)
	}
}

func TestNamespacesShareNothing(t *testing.T) {
	tree := NewTree(1, LRU, nil)
	tree.Insert(word("abc"), 0, false)
	other := word("abc")
	other.Ns = Namespace{Salt: "s"}
	if got, _ := tree.Match(other); got != 0 {
		t.Errorf("got %d tokens of another namespace", got)
	}
}

// TestEvictionOrder inserts a, b and c, uses b once and a twice more, and asks which
// leaves are gone after evicting one, two and three of them.
func TestEvictionOrder(t *testing.T) {
	for policy, want := range map[Policy]string{ // order: each policy has trees of its own
		LRU: "cba", MRU: "abc", FIFO: "abc", FILO: "cba", LFU: "cba", Priority: "bca", SLRU: "cba",
	} {
		got := ""
		for n := 1; n <= 3; n++ {
			tree := NewTree(1, policy, nil)
			leaves := map[string]Key{"a": word("a1"), "b": word("b2"), "c": word("c3")}
			for i, name := range []string{"a", "b", "c"} {
				tree.Insert(leaves[name], []int{2, 0, 1}[i], false)
			}
			for _, name := range []string{"b", "a", "a"} {
				tree.Insert(leaves[name], 0, false)
			}
			if freed := tree.Evict(2*n - 1); freed != 2*n {
				t.Fatalf("%s: freed %d, want whole leaves, %d", policy, freed, 2*n)
			}
			for _, name := range []string{"a", "b", "c"} {
				if hit, _ := tree.Match(leaves[name]); hit == 0 && !strings.Contains(got, name) {
					got += name
				}
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}

func TestLockedPathSurvivesEviction(t *testing.T) {
	tree := NewTree(1, LRU, nil)
	tree.Insert(word("abcd"), 0, false)
	tree.Insert(word("abxy"), 0, false)
	_, node := tree.Match(word("abcd"))
	tree.Lock(node)
	if freed := tree.Evict(100); freed != 2 {
		t.Errorf("freed %d, want the 2 tokens outside the locked path", freed)
	}
	if got := [2]int{tree.Evictable(), tree.Protected()}; got != [2]int{0, 4} {
		t.Errorf("evictable, protected: got %v, want 0 and 4", got)
	}
	tree.Unlock(node)
	if freed := tree.Evict(1); freed != 2 {
		t.Errorf("freed %d, want the leaf cd", freed)
	}
}

// plain is the tree as a list of the strings it holds.
type plain struct{ words []string }

func (p *plain) match(s string) int {
	best := 0
	for _, w := range p.words {
		n := 0
		for n < len(w) && n < len(s) && w[n] == s[n] {
			n++
		}
		best = max(best, n)
	}
	return best
}

// A tree and a list of strings agree on every match, insertion and size.
func TestTreeEqualsAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		tree, list := NewTree(1, LRU, nil), &plain{}
		for range 60 {
			b := make([]byte, 1+rng.IntN(8))
			for i := range b {
				b[i] = "abc"[rng.IntN(3)]
			}
			s := string(b)
			want := list.match(s)
			if rng.IntN(2) == 0 {
				if got, _ := tree.Match(word(s)); got != want {
					t.Fatalf("match %s in %v: got %d, want %d", s, list.words, got, want)
				}
				continue
			}
			if got := tree.Insert(word(s), 0, false); got != want {
				t.Fatalf("insert %s into %v: got %d, want %d", s, list.words, got, want)
			}
			list.words = append(list.words, s)
			if got, want := tree.Evictable(), distinctPrefixes(list.words); got != want {
				t.Fatalf("size of %v: got %d, want %d", list.words, got, want)
			}
		}
	}
}

func distinctPrefixes(words []string) int {
	seen := map[string]bool{}
	for _, w := range words {
		for i := range w {
			seen[w[:i+1]] = true
		}
	}
	return len(seen)
}

func TestEventsMergeWhatContinues(t *testing.T) {
	keep.Rule(t, "SGL-5")
	events := NewEvents(func(stream uint64, at int) uint32 { return uint32(stream) + uint32(at) })
	tree := NewTree(1, LRU, events)
	tree.Insert(word("ab"), 0, false)
	tree.Insert(word("abcd"), 0, false) // continues the event of ab
	tree.Insert(word("xy"), 0, false)
	tree.Evict(100)
	var got []string
	for _, e := range events.Take() {
		got = append(got, fmt.Sprintf("%s %d", e.Type, len(e.Hashes)))
	}
	if want := []string{"AllBlocksCleared 0", "BlockStored 4", "BlockStored 2", "BlockRemoved 6"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if left := events.Take(); left != nil {
		t.Errorf("a second Take: got %v, want nothing", left)
	}
}

func TestParsePolicy(t *testing.T) {
	if p, err := ParsePolicy(""); p != LRU || err != nil {
		t.Errorf("unset: got %s, %v; want lru", p, err)
	}
	if _, err := ParsePolicy("clock"); err == nil || !strings.Contains(err.Error(), "slru") {
		t.Errorf("clock: got %v, want the seven policies", err)
	}
}

func BenchmarkMatchLongPrompt(b *testing.B) {
	tree := NewTree(1, LRU, nil)
	for i := range 1000 {
		runs := []engines.Segment{{Stream: 1, Count: 4000}, {Stream: uint64(i + 2), Count: 4000}}
		tree.Insert(View(Namespace{}, runs, 8000), 0, false)
	}
	key := View(Namespace{}, []engines.Segment{{Stream: 1, Count: 4000}, {Stream: 500, Count: 4000}}, 8000)
	b.ReportAllocs()
	for b.Loop() {
		if n, _ := tree.Match(key); n != 8000 {
			b.Fatal(n)
		}
	}
}

// A key's runs say where they begin and how far they reach, wherever the key is cut.
func TestRunsOfACutKey(t *testing.T) {
	k := View(Namespace{}, []engines.Segment{{Stream: 1, Start: 10, Count: 8}, {Stream: 2, Count: 9}}, 12)
	var got []engines.Segment
	for r := range k.From(3).First(7).Each {
		got = append(got, r)
	}
	if want := []engines.Segment{{Stream: 1, Start: 13, Count: 5}, {Stream: 2, Count: 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	a, b := word("xab").edge(3), word("xac").edge(3)
	if a.a == b.a || a.b == b.b {
		t.Errorf("edges of different pages share a hash: %v and %v", a, b)
	}
}

// Less than a page matches nothing and splits nothing.
func TestLessThanAPageMatchesNothing(t *testing.T) {
	tree := NewTree(4, LRU, nil)
	run := []engines.Segment{{Stream: 1, Count: 8}}
	tree.Insert(View(Namespace{}, run, 8), 0, false)
	for n, want := range []int{0, 0, 0, 0, 4, 4, 4, 4, 8} {
		got, node := tree.Match(View(Namespace{}, run, n))
		if got != want || (node == tree.Root()) != (want == 0) {
			t.Errorf("%d tokens: got %d at the root %v, want %d", n, got, node == tree.Root(), want)
		}
	}
}

// The priority of a stored prefix is the highest of those that stored it.
func TestPriorityRises(t *testing.T) {
	tree := NewTree(1, Priority, nil)
	tree.Insert(word("ab"), 0, false)
	tree.Insert(word("cd"), 1, false)
	tree.Insert(word("ab"), 2, false)
	tree.Insert(word("ab"), 0, false)
	tree.Evict(1)
	if got, _ := tree.Match(word("ab")); got != 2 {
		t.Errorf("got %d tokens of ab, want it to outlive cd", got)
	}
}

// The heaviest subtree comes first, equal ones in the order they were inserted, and a
// node after its children.
func TestByWeight(t *testing.T) {
	tree := NewTree(1, LRU, nil)
	words := strings.Fields("ap bq br cs dt eu fv")
	for _, w := range words {
		tree.Insert(word(w), 0, false)
	}
	at := map[*Node]string{}
	for _, w := range append(words, "b") {
		_, n := tree.Match(word(w))
		at[n] = w
	}
	for _, c := range []struct{ heavy, want string }{{"", "bq br b ap cs dt eu fv"}, {"eu", "eu bq br b ap cs dt fv"}, {"br", "br bq b ap cs dt eu fv"}} {
		var got []string
		tree.ByWeight(func(n *Node) int {
			switch at[n] {
			case "", "b":
				return 0
			case c.heavy:
				return 5
			}
			return 1
		}, func(n *Node) {
			if at[n] != "" {
				got = append(got, at[n])
			}
		})
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("heavy %q: got %s, want %s", c.heavy, g, c.want)
		}
	}
}
