package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// recorder keeps what the generator learns: who was sent, and every fate. It is
// the one place a fate is written.
type recorder struct {
	window   window
	observer Observer
	fates    [2]tally // warm-up, measured
	rows     rows     // measured, completed requests in order of their end
	sent     int      // of rows, those that ended before the last request was sent
	early    rows     // of a steady-state run: sent before the window and completed in it
	ended    int      // of early, those up to the window's end
	head     request  // list of requests without a fate, in order of sending
	load     Load
	area     area
	at       des.Time
	backlog  series
	err      error

	steady bool   // the frame measures a steady state
	judged []bool // by label: it states an objective

	labels, instances []part // of the measured requests, by label and by instance

	measured    int64 // requests sent in the window
	preemptions int64 // of those
}

// window is the measured window. It opens with the first measured request.
type window struct {
	started    bool
	start, end des.Time
	lastSend   des.Time
}

func (w *window) open(now des.Time) bool { return w.started && now > w.start }

// area is request-microseconds outstanding since the window opened.
type area struct {
	all  des.Time // so far
	sent des.Time // until the last send
	end  des.Time // until the window's end
}

// part counts the measured requests of one label or instance.
type part struct {
	sent       int64
	judged     int64 // whose client states an objective
	unfinished int64
}

// add counts a request of fate f into part i of a list.
func add(parts *[]part, i int, f fate, judged bool) {
	for len(*parts) <= i {
		*parts = append(*parts, part{})
	}
	p := &(*parts)[i]
	p.sent++
	if judged {
		p.judged++
	}
	if f == inFlight || f == queued {
		p.unfinished++
	}
}

// tally counts fates of one phase.
type tally struct {
	of      [queued + 1]int64
	reasons map[string]int64
}

// row is what latencies are made of. Times are microseconds.
type row struct {
	ttft, e2e, queueing, scheduling int64
	prompt                          int64 // a session's context may pass 32 bits, and is then refused by the engine
	cached, output                  int32
	instance                        int32
	label                           uint16
}

// rows is a list of rows in chunks, so that growing copies nothing.
type rows struct {
	chunks [][]row
	n      int
}

const rowsPerChunk = 1 << 12

func (l *rows) next() *row {
	if l.n%rowsPerChunk == 0 {
		l.chunks = append(l.chunks, make([]row, rowsPerChunk))
	}
	l.n++
	return l.at(l.n - 1)
}

// all yields the rows in order.
func (l *rows) all(yield func(*row) bool) {
	for i := range l.n {
		if !yield(l.at(i)) {
			return
		}
	}
}

func (l *rows) at(i int) *row { return &l.chunks[i/rowsPerChunk][i%rowsPerChunk] }

func newRecorder(o Observer) *recorder {
	r := &recorder{observer: o}
	r.head.next, r.head.prev = &r.head, &r.head
	return r
}

// begin takes in a request that was just sent.
func (c *recorder) begin(r *request, now des.Time) {
	c.advance(now)
	if r.measured {
		if w := &c.window; !w.started {
			w.started, w.start = true, now
			c.area = area{}
			if c.steady {
				c.backlog.start(now)
			}
		}
		c.window.lastSend = now
		c.measured++
		c.area.sent, c.sent = c.area.all, c.rows.n
	}
	c.load.Created++
	c.load.Outstanding++
	last := c.head.prev
	r.prev, r.next = last, &c.head
	last.next, c.head.prev = r, r
}

// end writes a request's fate, once, and derives its samples. What an instance wrote of
// a request that it did not end, because its client gave up or the run was cut, is read
// here without a message: this is measurement, and no component hears of it.
func (c *recorder) end(r *request, f fate, now des.Time) {
	if r.fate != unended {
		c.err = fmt.Errorf("sim: request %d: its fate was written twice (DEV-9)", r.serial)
		return
	}
	if err := r.mayEnd(f, now); err != nil && c.err == nil {
		c.err = err
	}
	r.fate = f
	r.prev.next, r.next.prev = r.next, r.prev
	r.next, r.prev = nil, nil
	c.advance(now)
	c.load.Outstanding--
	t := &c.fates[0]
	if r.measured {
		t = &c.fates[1]
		c.preemptions += int64(r.engine.Token.Preemptions)
		judged := int(r.label) < len(c.judged) && c.judged[r.label]
		add(&c.labels, int(r.label), f, judged)
		add(&c.instances, int(r.instance), f, judged)
	}
	t.of[f]++
	switch {
	case f == dropped:
		if t.reasons == nil {
			t.reasons = map[string]int64{}
		}
		t.reasons[r.reason]++
	case f == completed:
		c.load.Completed++
		if r.measured {
			*c.rows.next() = r.row()
			c.reach(now)
		} else if c.steady && c.window.open(now) {
			*c.early.next() = r.row()
		}
	}
	if c.observer != nil {
		c.observer.Request(r.record(now))
	}
}

// reach moves the window's end to now.
func (c *recorder) reach(now des.Time) {
	c.window.end, c.area.end, c.ended = now, c.area.all, c.early.n
}

// advance integrates the number of outstanding requests.
func (c *recorder) advance(now des.Time) {
	c.backlog.pass(now, c.load)
	c.area.all += des.Time(c.load.Outstanding) * (now - c.at)
	c.at = now
}

// cut ends everything that is left at the horizon.
func (c *recorder) cut(now des.Time) {
	c.advance(now)
	for r := c.head.next; r != &c.head; r = c.head.next {
		f := queued
		if r.launched >= 0 {
			f = inFlight
		}
		c.end(r, f, now)
	}
	if c.window.started {
		c.reach(now)
	}
}

// row derives every latency from the fate's own times.
func (r *request) row() row {
	t := &r.engine.Token
	return row{ttft: int64(r.first - r.sent), e2e: int64(r.last - r.sent), queueing: int64(r.launched - r.sent), scheduling: int64(r.launched - r.arrived),
		prompt: int64(t.Prompt), cached: int32(t.CachedLocal), output: int32(t.Emitted), instance: r.instance, label: r.label}
}

func (r *request) record(now des.Time) RequestRecord {
	t := &r.engine.Token
	return RequestRecord{Serial: r.serial, Client: int(r.client), Index: r.index, Instance: int(r.instance), Session: r.session, Measured: r.measured,
		Fate: fateNames[r.fate], Reason: r.reason, Sent: r.sent, Arrived: r.arrived, Launched: r.launched, First: r.first, Last: r.last, Ended: now,
		Prompt: t.Prompt, Cached: t.CachedLocal, Output: t.Emitted, Preemptions: t.Preemptions}
}

var fateNames = [...]string{unended: "", completed: "completed", dropped: "dropped", timedOut: "timed_out", inFlight: "in_flight_at_horizon", queued: "queued_at_horizon"}

// document is the tally as the Result writes it.
func (t *tally) document() spec.Fates {
	f := spec.Fates{Completed: t.of[completed], Dropped: t.of[dropped], TimedOut: t.of[timedOut], InFlight: t.of[inFlight], Queued: t.of[queued]}
	for reason, n := range t.reasons { //determinism:any-order sorted below
		f.Reasons = append(f.Reasons, spec.DropReason{Reason: reason, Count: n})
	}
	slices.SortFunc(f.Reasons, func(a, b spec.DropReason) int { return strings.Compare(a.Reason, b.Reason) })
	return f
}
