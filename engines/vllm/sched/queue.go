package sched

// queue holds waiting requests.
//
// Source: vllm/v1/core/sched/request_queue.py.
type queue interface {
	push(r *Request)
	pushFront(r *Request) // a heap has no front and pushes
	peek() *Request       // nil when empty
	remove(r *Request)
	len() int
	// appendTo lists the requests in the order they would be popped.
	appendTo(dst []*Request) []*Request
}

func newQueue(p Policy) queue {
	if p == Priority {
		return new(heapQueue)
	}
	return new(fifo)
}

// fifo is an intrusive list.
type fifo struct {
	head, tail *Request
	n          int
}

func (q *fifo) push(r *Request) {
	r.prev, r.next, r.queue = q.tail, nil, q
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.next = r
	}
	q.tail = r
	q.n++
}

func (q *fifo) pushFront(r *Request) {
	r.prev, r.next, r.queue = nil, q.head, q
	if q.head == nil {
		q.tail = r
	} else {
		q.head.prev = r
	}
	q.head = r
	q.n++
}

func (q *fifo) peek() *Request { return q.head }

func (q *fifo) remove(r *Request) {
	if r.prev == nil {
		q.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		q.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next, r.queue = nil, nil, nil
	q.n--
}

func (q *fifo) len() int { return q.n }

func (q *fifo) appendTo(dst []*Request) []*Request {
	for r := q.head; r != nil; r = r.next {
		dst = append(dst, r)
	}
	return dst
}
