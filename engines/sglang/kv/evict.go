package kv

import "fmt"

// Policy orders eviction (mem_cache/evict_policy.py at 0bda0b16).
type Policy string

const (
	LRU      Policy = "lru"
	LFU      Policy = "lfu"
	FIFO     Policy = "fifo"
	MRU      Policy = "mru"
	FILO     Policy = "filo"
	Priority Policy = "priority"
	SLRU     Policy = "slru"
)

// Policies lists the seven, the default first.
func Policies() []Policy { return []Policy{LRU, LFU, FIFO, MRU, FILO, Priority, SLRU} }

// ParsePolicy takes a policy's name; "" is lru.
func ParsePolicy(name string) (Policy, error) {
	if name == "" {
		return LRU, nil
	}
	for _, p := range Policies() {
		if string(p) == name {
			return p, nil
		}
	}
	return "", fmt.Errorf("unknown eviction policy %q: one of %v", name, Policies())
}

// rank is a leaf's key under p: the smaller pair goes first.
func (p Policy) rank(n *Node) (major, minor int64) {
	accessed, created := int64(n.accessed), int64(n.created)
	switch p {
	case LFU:
		return int64(n.hits), accessed
	case FIFO:
		return created, accessed
	case MRU:
		return -accessed, accessed
	case FILO:
		return -created, accessed
	case Priority:
		return int64(n.priority), accessed
	case SLRU:
		if n.hits >= 2 {
			return 1, accessed
		}
		return 0, accessed
	default:
		return accessed, 0
	}
}

// leafHeap is a binary heap of evictable leaves whose members know their place, so
// that locking and touching a leaf cost O(log n).
type leafHeap struct {
	policy Policy
	nodes  []*Node
}

func (h *leafHeap) less(i, j int) bool {
	a, b := h.nodes[i], h.nodes[j]
	aMajor, aMinor := h.policy.rank(a)
	bMajor, bMinor := h.policy.rank(b)
	if aMajor != bMajor {
		return aMajor < bMajor
	}
	return aMinor < bMinor
}

func (h *leafHeap) swap(i, j int) {
	h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i]
	h.nodes[i].heapAt, h.nodes[j].heapAt = i, j
}

func (h *leafHeap) push(n *Node) {
	n.heapAt = len(h.nodes)
	h.nodes = append(h.nodes, n)
	h.up(n.heapAt)
}

func (h *leafHeap) pop() *Node {
	n := h.nodes[0]
	h.remove(n)
	return n
}

// remove takes n out if it is in.
func (h *leafHeap) remove(n *Node) {
	i, last := n.heapAt, len(h.nodes)-1
	if i < 0 {
		return
	}
	h.swap(i, last)
	h.nodes[last] = nil
	h.nodes = h.nodes[:last]
	n.heapAt = -1
	if i < last {
		h.fix(h.nodes[i])
	}
}

// fix restores the order after n's rank changed, if n is in.
func (h *leafHeap) fix(n *Node) {
	if n.heapAt >= 0 {
		h.down(n.heapAt)
		h.up(n.heapAt)
	}
}

func (h *leafHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *leafHeap) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h.nodes); c++ {
			if h.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}
