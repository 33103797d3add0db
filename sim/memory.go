package sim

import "github.com/inference-sim/accuracy-dashboard/sim/des"

// Memory of a run that does not grow with it.

// history is when each batch of an instance ended, as far back as a held request
// may ask.
type history struct {
	times []des.Time
	base  int // number of the first batch in times
	count int // batches so far
}

const historyLong = 1 << 14

// add writes down one end and returns the time since the one before, 0 at first.
func (h *history) add(now des.Time) (gap des.Time) {
	if n := len(h.times); n > 0 {
		gap = now - h.times[n-1]
	}
	h.times = append(h.times, now)
	h.count++
	return gap
}

// at is the end of batch number i, the latest for one that is still in flight.
func (h *history) at(i int) des.Time { return h.times[min(i-h.base, len(h.times)-1)] }

func (h *history) long() bool { return len(h.times) >= historyLong && len(h.times) == cap(h.times) }

// forget drops what came before batch number first.
func (h *history) forget(first int) {
	n := min(max(0, first-h.base), len(h.times)-1)
	h.times = h.times[:copy(h.times, h.times[n:])]
	h.base += n
}

// pool hands ended requests out again. Whether a request is new or used makes no
// difference to a run.
type pool struct{ free []*request }

func (p *pool) get() *request {
	n := len(p.free)
	if n == 0 {
		return new(request)
	}
	r := p.free[n-1]
	p.free = p.free[:n-1]
	prompt := r.engine.Prompt[:0]
	*r = request{}
	r.engine.Prompt = prompt
	return r
}

// spent is a completed request and how many batches had been launched when it
// ended: those may hold it still.
type spent struct {
	r        *request
	launched int
}

// recycle frees the requests no batch in flight can hold. A batch later, their
// client has heard of their end.
func (n *instance) recycle() {
	k := 0
	for k < len(n.spent) && n.spent[k].launched <= n.ended.count-1 {
		n.pool.free = append(n.pool.free, n.spent[k].r)
		k++
	}
	if k > 0 {
		n.spent = n.spent[:copy(n.spent, n.spent[k:])]
	}
}
