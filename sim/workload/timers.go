package workload

// timers is a binary heap of (time, entity), earliest first, ties by entity.
type timers struct{ a []timer }

type timer struct{ at, entity int64 }

func (t timer) before(o timer) bool { return t.at < o.at || t.at == o.at && t.entity < o.entity }

// first is the earliest time, Never when empty.
func (h *timers) first() int64 {
	if len(h.a) == 0 {
		return Never
	}
	return h.a[0].at
}

func (h *timers) push(at, entity int64) {
	h.a = append(h.a, timer{at, entity})
	for i := len(h.a) - 1; i > 0; {
		p := (i - 1) / 2
		if !h.a[i].before(h.a[p]) {
			return
		}
		h.a[i], h.a[p] = h.a[p], h.a[i]
		i = p
	}
}

// pop removes the earliest and returns its entity.
func (h *timers) pop() int64 {
	top := h.a[0].entity
	n := len(h.a) - 1
	h.a[0] = h.a[n]
	h.a = h.a[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && h.a[c+1].before(h.a[c]) {
			c++
		}
		if !h.a[c].before(h.a[i]) {
			return top
		}
		h.a[i], h.a[c] = h.a[c], h.a[i]
		i = c
	}
}
