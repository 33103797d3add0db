package sched

// Loop is the engine's step loop over a queue of batches in flight. It never looks
// at time: the batch queue fills and drains in one order whatever the batches take.
//
// Source: vllm/v1/engine/core.py:583-741.
type Loop struct {
	Scheduler *Scheduler
	depth     int
	batches   []Batch // ring
	oldest, n int
	full      bool // the next iteration waits for the oldest batch
}

// NewLoop builds the scheduler of a configuration and its loop.
func NewLoop(config Config) (*Loop, error) {
	s, err := New(config)
	if err != nil {
		return nil, err
	}
	depth := config.MaxConcurrentBatches()
	return &Loop{Scheduler: s, depth: depth, batches: make([]Batch, depth)}, nil
}

// Depth is how many batches can be in flight.
func (l *Loop) Depth() int { return l.depth }

// InFlight is how many batches are in flight.
func (l *Loop) InFlight() int { return l.n }

// Busy reports whether an iteration has anything to do.
func (l *Loop) Busy() bool { return l.n > 0 || l.Scheduler.HasWork() }

// Launch schedules the next batch, or returns nil when the loop would wait for the
// oldest batch or has nothing to do. The batch is valid until it completes.
func (l *Loop) Launch() *Batch {
	if l.full || !l.Scheduler.HasWork() {
		return nil
	}
	b := &l.batches[l.place(l.n)]
	l.Scheduler.Schedule(b)
	l.n++
	l.full = l.n == l.depth || b.Tokens == 0 && l.Scheduler.Unfinished() == 0
	return b
}

// Oldest is the batch that completes next, nil when none is in flight.
func (l *Loop) Oldest() *Batch {
	if l.n == 0 {
		return nil
	}
	return &l.batches[l.oldest]
}

// Complete applies the oldest batch's output.
func (l *Loop) Complete(out *Output) {
	b := l.Oldest()
	l.Scheduler.Update(b, out)
	l.oldest = l.place(1)
	l.n--
	l.full = false
}

// place is where in the ring the batch i after the oldest is; i is at most depth.
func (l *Loop) place(i int) int {
	if i += l.oldest; i >= l.depth {
		i -= l.depth
	}
	return i
}

// Waits reports whether the next iteration waits for the oldest batch.
func (l *Loop) Waits() bool { return l.full }

// Tokens is the number of tokens scheduled in all batches in flight.
func (l *Loop) Tokens() int {
	n := 0
	for i := range l.n {
		n += l.batches[l.place(i)].Tokens
	}
	return n
}
