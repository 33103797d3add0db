package des

// Entry is one scheduled internal event.
type Entry struct {
	Time       Time
	ID         ID
	Generation uint32
}

// Queue is a priority queue of entries by time. Entries of one time may leave in
// any order: the kernel takes all of an instant together.
type Queue interface {
	Push(Entry)
	// Min is the earliest entry; ok is false when the queue is empty.
	Min() (e Entry, ok bool)
	// Pop removes the entry Min gives. The queue must not be empty.
	Pop()
	Len() int
}

// Heap is a 4-ary heap of values. Popping leaves a hole at the root that the next
// push fills, so the common pop-then-push costs one sift.
type Heap struct {
	a    []Entry
	hole bool
}

// NewHeap returns an empty heap.
func NewHeap() *Heap { return &Heap{} }

// Len is the number of entries.
func (h *Heap) Len() int {
	if h.hole {
		return len(h.a) - 1
	}
	return len(h.a)
}

// Push adds an entry.
func (h *Heap) Push(e Entry) {
	if h.hole {
		h.hole = false
		h.a[0] = e
		h.down()
		return
	}
	h.a = append(h.a, e)
	for i := len(h.a) - 1; i > 0; {
		p := (i - 1) / 4
		if h.a[p].Time <= e.Time {
			break
		}
		h.a[i], h.a[p] = h.a[p], e
		i = p
	}
}

// Min is the earliest entry.
func (h *Heap) Min() (Entry, bool) {
	h.fill()
	if len(h.a) == 0 {
		return Entry{}, false
	}
	return h.a[0], true
}

// Pop removes the earliest entry.
func (h *Heap) Pop() {
	h.fill()
	h.hole = true
}

// fill closes the hole at the root with the last entry.
func (h *Heap) fill() {
	if !h.hole {
		return
	}
	h.hole = false
	last := len(h.a) - 1
	h.a[0] = h.a[last]
	h.a = h.a[:last]
	h.down()
}

// down restores the heap below a root that may be too late.
func (h *Heap) down() {
	n := len(h.a)
	if n == 0 {
		return
	}
	e, i := h.a[0], 0
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		best := c
		for j := c + 1; j < min(c+4, n); j++ {
			if h.a[j].Time < h.a[best].Time {
				best = j
			}
		}
		if h.a[best].Time >= e.Time {
			break
		}
		h.a[i] = h.a[best]
		i = best
	}
	h.a[i] = e
}
