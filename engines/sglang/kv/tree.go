package kv

import (
	"cmp"
	"slices"
)

// Tree is SGLang's radix tree over token pages (mem_cache/radix_cache.py at
// 0bda0b16). It holds keys and counts, never slot ids: only counts influence
// decisions. Time is a counter bumped where upstream reads its clock.
//
// Invariants: a locked node's ancestors are locked; Evictable and Protected are the
// tokens of unlocked and locked nodes; leaves holds exactly the unlocked nodes
// without children.
type Tree struct {
	page      int
	policy    Policy
	root      *Node
	clock     uint64
	order     uint64
	evictable int
	protected int
	leaves    leafHeap
	events    *Events
}

// Node is one edge of the tree and what lies below it.
type Node struct {
	parent   *Node
	children map[edge]*Node
	order    uint64 // place in the parent's insertion order
	key      Key
	locks    int
	hits     int
	priority int
	accessed uint64
	created  uint64
	heapAt   int // index in leaves; -1 when not there
	digests  [][32]byte
}

// NewTree returns an empty tree. events may be nil.
func NewTree(page int, policy Policy, events *Events) *Tree {
	t := &Tree{page: page, policy: policy, events: events, leaves: leafHeap{policy: policy}}
	t.root = &Node{children: map[edge]*Node{}, locks: 1, heapAt: -1}
	return t
}

// Root is the node of the empty key.
func (t *Tree) Root() *Node { return t.root }

// Evictable is the tokens eviction could free now; Protected those under a lock.
func (t *Tree) Evictable() int { return t.evictable }
func (t *Tree) Protected() int { return t.protected }

func (t *Tree) tick() uint64 { t.clock++; return t.clock }

func (t *Tree) floor(n int) int { return n / t.page * t.page }

// Match finds the longest cached page-aligned prefix of key. It refreshes the
// access time of every node on the way and splits the last one when the match
// ends inside it, as upstream does.
func (t *Tree) Match(key Key) (tokens int, last *Node) {
	key = key.First(t.floor(key.n))
	if key.n == 0 {
		return 0, t.root
	}
	now := t.tick()
	node := t.root
	for key.n > 0 {
		child := node.children[key.edge(t.page)]
		if child == nil {
			break
		}
		t.touch(child, now)
		n := t.floor(child.key.common(key))
		tokens += n
		if n < child.key.n {
			return tokens, t.split(child, n)
		}
		node, key = child, key.From(n)
	}
	return tokens, node
}

// Insert adds key, whole pages, and returns how many of its tokens were there before. chunked insertions do not count as hits.
func (t *Tree) Insert(key Key, priority int, chunked bool) (existing int) {
	now := t.tick()
	node := t.root
	for key.n > 0 {
		child := node.children[key.edge(t.page)]
		if child == nil {
			break
		}
		t.touch(child, now)
		n := t.floor(child.key.common(key))
		existing += n
		key = key.From(n)
		if n < child.key.n {
			child = t.split(child, n)
		}
		t.credit(child, priority, chunked)
		node = child
	}
	if key.n > 0 {
		t.addLeaf(node, key, priority, chunked)
	}
	return existing
}

// credit raises a walked node's priority and hit count.
func (t *Tree) credit(n *Node, priority int, chunked bool) {
	n.priority = max(n.priority, priority)
	if !chunked {
		n.hits++
	}
	t.leaves.fix(n)
}

func (t *Tree) addLeaf(parent *Node, key Key, priority int, chunked bool) {
	leaf := &Node{parent: parent, key: key, priority: priority, heapAt: -1, accessed: t.tick(), created: t.tick()}
	if !chunked {
		leaf.hits++
	}
	t.attach(parent, leaf)
	t.evictable += key.n
	t.leaves.remove(parent)
	t.leaves.push(leaf)
	t.events.stored(leaf, t.page)
}

func (t *Tree) attach(parent, child *Node) {
	if parent.children == nil {
		parent.children = make(map[edge]*Node, 1)
	}
	t.order++
	child.order = t.order
	parent.children[child.key.edge(t.page)] = child
}

// split puts a new node over the first n tokens of child. The new node takes the
// child's place, locks, hits and priority, and new times; the child keeps its own.
func (t *Tree) split(child *Node, n int) *Node {
	upper := &Node{
		parent: child.parent, key: child.key.First(n), order: child.order, locks: child.locks, hits: child.hits,
		priority: child.priority, heapAt: -1, accessed: t.tick(), created: t.tick(),
	}
	child.parent.children[upper.key.edge(t.page)] = upper
	child.parent, child.key = upper, child.key.From(n)
	if child.digests != nil {
		pages := n / t.page
		upper.digests, child.digests = child.digests[:pages:pages], child.digests[pages:]
	}
	upper.children = map[edge]*Node{child.key.edge(t.page): child}
	return upper
}

func (t *Tree) touch(n *Node, now uint64) {
	n.accessed = now
	t.leaves.fix(n)
}

// Lock protects node and its ancestors from eviction.
func (t *Tree) Lock(node *Node) {
	for n := node; n != nil && n != t.root; n = n.parent {
		if n.locks == 0 {
			t.evictable -= n.key.n
			t.protected += n.key.n
			t.leaves.remove(n)
		}
		n.locks++
	}
}

// Unlock takes one Lock back.
func (t *Tree) Unlock(node *Node) {
	for n := node; n != nil && n != t.root; n = n.parent {
		n.locks--
		if n.locks == 0 {
			t.evictable += n.key.n
			t.protected -= n.key.n
			if len(n.children) == 0 {
				t.leaves.push(n)
			}
		}
	}
}

// Evict frees whole unlocked leaves, worst first, until at least tokens are freed
// or none is left, and returns how many it freed.
func (t *Tree) Evict(tokens int) (freed int) {
	for freed < tokens && len(t.leaves.nodes) > 0 {
		n := t.leaves.pop()
		freed += n.key.n
		t.evictable -= n.key.n
		delete(n.parent.children, n.key.edge(t.page))
		if p := n.parent; len(p.children) == 0 && p.locks == 0 {
			t.leaves.push(p)
		}
		t.events.removed(n)
	}
	return freed
}

// ByWeight visits every node after its children, children in order of falling
// weight, where a node's weight is own summed over its subtree; equal ones in the
// order they were inserted.
func (t *Tree) ByWeight(own func(*Node) int, visit func(*Node)) {
	weights := map[*Node]int{}
	weigh(t.root, own, weights)
	descend(t.root, weights, visit)
}

func weigh(n *Node, own func(*Node) int, weights map[*Node]int) int {
	w := own(n)
	for _, c := range n.children { //determinism:any-order a sum of whole numbers
		w += weigh(c, own, weights)
	}
	weights[n] = w
	return w
}

func descend(n *Node, weights map[*Node]int, visit func(*Node)) {
	children := make([]*Node, 0, len(n.children))
	for _, c := range n.children { //determinism:any-order sorted below
		children = append(children, c)
	}
	slices.SortFunc(children, func(a, b *Node) int {
		if d := weights[b] - weights[a]; d != 0 {
			return d
		}
		return cmp.Compare(a.order, b.order)
	})
	for _, c := range children {
		descend(c, weights, visit)
	}
	visit(n)
}
