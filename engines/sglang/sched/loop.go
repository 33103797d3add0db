package sched

// Loop drives a Scheduler in the order of the upstream's event loop: normal, where
// a batch's result is processed before the next is formed, or overlap, where the
// next is formed first (scheduler.py event_loop_normal, event_loop_overlap).
type Loop struct {
	Scheduler *Scheduler
	overlap   bool
	open      [2]Launch // batches whose results are not processed, oldest first
	n         int
	before    bool // the turn before launched a batch
	owed      bool // this turn must process a result before it ends
}

// Launch is a batch as it was when it was launched.
type Launch struct {
	Mode     Mode
	Reqs     []*Req
	Decoding int
	Prefix   []int // of each request that extends or decodes in a mixed batch
	Tokens   []int
	Attended []int64 // of a decode batch, valid until the next Turn; nil means: not counted
}

// NewLoop drives s.
func NewLoop(s *Scheduler) *Loop { return &Loop{Scheduler: s, overlap: s.c.Overlap} }

// InFlight is the batches whose results are open.
func (l *Loop) InFlight() int { return l.n }

// Waits says whether the loop stands still until the oldest batch ends: it reads no
// input until then.
func (l *Loop) Waits() bool {
	if l.overlap {
		return l.owed
	}
	return l.n > 0
}

// Turn runs one iteration up to where it waits for a result. The launch is valid
// until its result is processed; nil means that nothing could run.
func (l *Loop) Turn() *Launch {
	b := l.Scheduler.Next()
	owed := l.overlap && l.before
	l.before = b != nil
	l.owed = owed
	if b == nil {
		return nil
	}
	o := &l.open[l.n]
	l.n++
	o.Mode, o.Decoding = b.Mode, b.Decoding
	o.Reqs = append(o.Reqs[:0], b.Reqs...)
	o.Prefix, o.Tokens, o.Attended = b.Prefix, b.Tokens, nil
	if b.Mode == Decode {
		o.Attended = l.Scheduler.Attended()
	}
	return o
}

// Rest ends an iteration that launched nothing and waits for nothing.
func (l *Loop) Rest() { l.Scheduler.Idle() }

// Settle processes the result of the oldest batch.
func (l *Loop) Settle() {
	o := l.open[0]
	l.Scheduler.Process(o.Mode, o.Reqs, o.Decoding)
	l.owed = false
	l.n--
	l.open[0], l.open[1] = l.open[1], o
}

// Oldest is the batch that Settle would process.
func (l *Loop) Oldest() *Launch { return &l.open[0] }
