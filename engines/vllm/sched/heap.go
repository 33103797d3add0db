package sched

// Follows Python's heapq, as vllm/v1/core/sched/request_queue.py uses it.

import "slices"

// heapQueue is a binary heap by Request.before, which is a total order as long as
// names differ, so its inner layout never shows.
type heapQueue struct{ items []*Request }

func (q *heapQueue) push(r *Request) {
	r.queue, r.heap = q, len(q.items)
	q.items = append(q.items, r)
	q.up(r.heap)
}

func (q *heapQueue) pushFront(r *Request) { q.push(r) }

func (q *heapQueue) peek() *Request {
	if len(q.items) == 0 {
		return nil
	}
	return q.items[0]
}

func (q *heapQueue) remove(r *Request) {
	i, last := r.heap, len(q.items)-1
	q.swap(i, last)
	q.items[last] = nil
	q.items = q.items[:last]
	if i < last {
		q.down(i)
		q.up(i)
	}
	r.queue = nil
}

func (q *heapQueue) len() int { return len(q.items) }

func (q *heapQueue) appendTo(dst []*Request) []*Request {
	n := len(dst)
	dst = append(dst, q.items...)
	slices.SortFunc(dst[n:], func(a, b *Request) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return dst
}

func (q *heapQueue) swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.items[i].heap, q.items[j].heap = i, j
}

func (q *heapQueue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.items[i].before(q.items[parent]) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *heapQueue) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(q.items) {
			return
		}
		if c+1 < len(q.items) && q.items[c+1].before(q.items[c]) {
			c++
		}
		if !q.items[c].before(q.items[i]) {
			return
		}
		q.swap(i, c)
		i = c
	}
}
