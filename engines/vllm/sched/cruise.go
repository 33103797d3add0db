package sched

// This file is the project's own: upstream visits every request in every step.

// A decoding request mostly does the same thing in every step: it takes one token
// and emits one. Such a request cruises: it is not visited, its counts are those it
// joined with plus the steps since, and a step costs nothing for it. When a block
// fills up or is needed it is visited for that alone; it leaves, with exact counts,
// where it ends or where anything else looks at it. Every decision is the one the
// step-by-step path takes.
//
// Exactness rests on three facts. The running list is in admission order, so what a
// step visits can be visited in the order upstream does. An allocation for a
// cruising request that is not due changes nothing (kv.Cache.Quiet). Its end is
// known when it joins, because the stop check alone decides it.
type cruise struct {
	on      bool
	slides  bool       // some group's blocks are passed as tokens are processed
	n       int        // requests cruising
	wheel   []*Request // by step at which they leave, modulo its length
	active  []*Request // running requests that do not cruise, in running order
	due     []*Request
	merged  []*Request
	through int      // last step whose batch counts the cruising requests
	last    int      // last completed step
	flight  []*Batch // in flight, oldest first

	attended []int64 // over the cruising requests, per KV group, for the coming step
	slope    []int64 // growth of attended per step
}

// wheelSize bounds how far ahead a request cruises; a power of two.
const wheelSize = 64

// cruises reports whether a configuration's steady decode steps are uniform: one
// token a request and step, each known one completed batch later.
func (c *Config) cruises() bool {
	return !c.Stepwise && c.Speculative == nil && c.PrefillInterval <= 1 && c.PipelineParallel <= 1 && !c.AlignedMamba
}

func (s *Scheduler) startCruise() {
	groups := len(s.cache.Config().Groups)
	s.cruise = cruise{on: s.config.cruises(), slides: s.cache.Slides(), wheel: make([]*Request, wheelSize),
		attended: make([]int64, groups), slope: make([]int64, groups)}
}

// walkCruising is scheduleRunning without a visit to the cruising requests.
func (s *Scheduler) walkCruising(b *Batch, left *budgets) {
	c := &s.cruise
	s.gather()
	if s.clips(left) {
		s.walkAll(b, left)
		return
	}
	left.charge(c.n, 0)
	kept := c.active[:0]
	for _, r := range c.merged {
		if r.cruising && s.refresh(r) {
			continue
		}
		fits := !r.cruising
		switch want := s.wantActive(r, left); {
		case r.cruising: // there is no block for it
		case want <= 0:
			kept = append(kept, r)
		case want == 1 && s.steady(r):
			if fits = s.join(r); fits {
				left.charge(1, 0)
			}
		default:
			kept = append(kept, r)
			fits = s.schedule(b, left, r, want)
		}
		if !fits {
			// The step must preempt: whoever comes before r is scheduled already, r and
			// whoever comes after it are not.
			s.spill(b, left, r)
			s.walk(b, left, s.indexOf(r))
			c.active = append(c.active[:0], s.running...)
			return
		}
	}
	c.active = kept
}

// wantActive is how many tokens a request that does not cruise takes in this step.
func (s *Scheduler) wantActive(r *Request, left *budgets) int {
	if r.cruising || s.awaitsOutput(r) {
		return 0
	}
	return s.want(r, left)
}

// gather merges the requests due in this step with the active ones into c.merged, in
// running order, and drops ended ones. A request that ends in this step leaves.
func (s *Scheduler) gather() {
	c := &s.cruise
	c.due = c.due[:0]
	slot := s.step % wheelSize
	next := c.wheel[slot]
	c.wheel[slot] = nil
	for r := next; r != nil; r = next {
		next = r.next
		r.prev, r.next, r.armed = nil, nil, false
		if r.stops == s.step {
			s.leave(r)
		}
		c.due = append(c.due, r)
	}
	sortByOrder(c.due)
	if len(c.active) == 0 {
		c.merged, c.due = c.due, c.merged
		return
	}
	c.merged = c.merged[:0]
	k := 0
	for _, r := range c.active {
		if r.Status != Running {
			continue
		}
		for k < len(c.due) && c.due[k].order < r.order {
			c.merged = append(c.merged, c.due[k])
			k++
		}
		c.merged = append(c.merged, r)
	}
	for _, r := range c.due[k:] {
		c.merged = append(c.merged, r)
	}
}

// sortByOrder is an insertion sort: a bucket is filled almost in order.
func sortByOrder(list []*Request) {
	for i := 1; i < len(list); i++ {
		r := list[i]
		j := i
		for ; j > 0 && list[j-1].order > r.order; j-- {
			list[j] = list[j-1]
		}
		list[j] = r
	}
}

// clips reports whether the budget runs out at a request that cruising ones follow.
func (s *Scheduler) clips(left *budgets) bool {
	c := &s.cruise
	room := min(left.tokens, left.input) - c.n
	if room < 0 {
		return true
	}
	for _, r := range c.merged {
		if r.cruising || s.awaitsOutput(r) {
			continue
		}
		room -= s.clipLong(max(r.Tokens+r.placeholders-r.Computed, 0))
		if room < 0 {
			return c.n > 0 && s.cruisesBehind(r)
		}
	}
	return false
}

func (s *Scheduler) cruisesBehind(r *Request) bool {
	for i := len(s.running) - 1; i >= 0 && s.running[i].order > r.order; i-- {
		if s.running[i].cruising {
			return true
		}
	}
	return false
}

// steady reports whether r's coming steps are uniform, this one and the next at least,
// and notes the step in which they stop being so.
func (s *Scheduler) steady(r *Request) bool {
	inFlight := 0
	if s.config.Async {
		inFlight = 1
	} else if r.lastEmit != s.step-1 {
		return false
	}
	if r.outputs != inFlight || s.cruise.slides && r.InFlight != inFlight || r.Tokens+r.placeholders-r.Computed != 1 {
		return false
	}
	steps := min(s.lastOutput(r)-r.Outputs()-inFlight-1, s.config.MaxModelLen-1-r.Computed, r.limit()-1-r.Computed)
	groups := s.cache.Config().Groups
	for g := range groups {
		_, n := groups[g].Slope(r.Computed)
		steps = min(steps, n)
	}
	r.stops = s.step + steps
	return steps > 1
}

// join takes a steady request into this step and lets it cruise from here; false if
// it needs a block and there is none.
func (s *Scheduler) join(r *Request) bool {
	quiet, fits := s.cache.Advance(&r.Sequence)
	if !fits {
		return false
	}
	c := &s.cruise
	r.cruising, r.joined = true, s.step
	c.n++
	groups := s.cache.Config().Groups
	for g := range groups {
		slope, _ := groups[g].Slope(r.Computed)
		c.attended[g] += int64(groups[g].Attends(r.Computed))
		c.slope[g] += int64(slope)
	}
	s.arm(r, quiet)
	return true
}

// refresh visits a cruising request whose blocks change in this step; false if it
// needs a block and there is none.
func (s *Scheduler) refresh(r *Request) bool {
	scheduled, completed := s.since(r)
	r.shift(scheduled, completed)
	quiet, fits := s.cache.Advance(&r.Sequence)
	r.shift(-scheduled, -completed)
	if fits {
		s.arm(r, quiet)
	}
	return fits
}

// arm files r under the step of its next visit, after quiet steps beside this one.
func (s *Scheduler) arm(r *Request, quiet int) {
	c := &s.cruise
	r.leaves, r.armed = min(s.step+1+quiet, r.stops, s.step+wheelSize-1), true
	slot := r.leaves % wheelSize
	r.prev, r.next = nil, c.wheel[slot]
	if r.next != nil {
		r.next.prev = r
	}
	c.wheel[slot] = r
}

// unlink takes r out of the wheel.
func (s *Scheduler) unlink(r *Request) {
	if !r.armed {
		return
	}
	if r.prev == nil {
		s.cruise.wheel[r.leaves%wheelSize] = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.prev, r.next, r.armed = nil, nil, false
}

// since counts the steps r has cruised: those scheduled and those completed.
func (s *Scheduler) since(r *Request) (scheduled, completed int) {
	c := &s.cruise
	return c.through - r.joined + 1, max(c.last-r.joined+1, 0)
}

// shift moves r's counts on by steps scheduled and completed.
func (r *Request) shift(scheduled, completed int) {
	r.Computed += scheduled
	r.Tokens += completed
	r.InFlight += scheduled - completed
}

// lastOutput is the number of the output token that ends r
// (vllm/v1/core/sched/utils.py:94-130).
func (s *Scheduler) lastOutput(r *Request) int {
	n := max(r.MinTokens, min(r.MaxTokens, s.config.MaxModelLen-r.Prompt))
	if r.StopAt > 0 && r.StopAt >= r.MinTokens {
		n = min(n, r.StopAt)
	}
	if r.Grammar != nil && r.Grammar.RejectAt > 0 {
		n = min(n, r.Grammar.RejectAt)
	}
	return n
}

// leave ends r's cruise: its counts become exact and every batch in flight that
// counted it gets an entry of it.
func (s *Scheduler) leave(r *Request) {
	c := &s.cruise
	scheduled, completed := s.since(r)
	joinedWith := r.Computed
	r.Computed += scheduled
	r.Scheduled += scheduled
	r.Tokens += completed
	if completed > 0 {
		r.lastEmit = c.last
	}
	for _, b := range c.flight {
		if b.Step >= r.joined && b.Step <= c.through {
			s.itemise(b, r, joinedWith+b.Step-r.joined)
		}
	}
	r.eligible = c.through + 1
	r.cruising = false
	c.n--
	groups := s.cache.Config().Groups
	for g := range groups {
		slope, _ := groups[g].Slope(joinedWith)
		c.attended[g] -= int64(groups[g].Attends(joinedWith) + slope*scheduled)
		c.slope[g] -= int64(slope)
	}
	s.unlink(r)
}

// ScheduledTokens is how many tokens of r have been scheduled so far.
func (s *Scheduler) ScheduledTokens(r *Request) int {
	if r.cruising {
		return r.Scheduled + s.cruise.through - r.joined + 1
	}
	return r.Scheduled
}

// itemise turns r's silent part of a batch in flight into an entry. Its place in the
// batch does not matter: it emits one token, ends nothing and frees nothing.
func (s *Scheduler) itemise(b *Batch, r *Request, computed int) {
	b.Cruising--
	b.Entries = append(b.Entries, Entry{Request: r, Tokens: 1, Computed: computed, Samples: true, epoch: r.Preemptions})
	r.pending++
	r.outputs++
	r.InFlight++
	if s.config.Async {
		r.placeholders++
	}
}

// spill ends every cruise in the middle of a step: requests before at have been
// scheduled and get entries, the others return their tokens.
func (s *Scheduler) spill(b *Batch, left *budgets, at *Request) {
	for _, r := range s.running {
		if !r.cruising {
			continue
		}
		joinedNow := r.joined == s.step
		s.leave(r)
		if r.order < at.order {
			b.Entries = append(b.Entries, Entry{Request: r, Tokens: 1, Computed: r.Computed})
		} else if !joinedNow {
			left.charge(-1, 0)
		}
	}
}

// flush ends every cruise between steps or before one.
func (s *Scheduler) flush() {
	for _, r := range s.running {
		if r.cruising {
			s.leave(r)
		}
	}
}

// walkAll falls back to the step-by-step path for one step.
func (s *Scheduler) walkAll(b *Batch, left *budgets) {
	s.flush()
	s.walk(b, left, 0)
	s.cruise.active = append(s.cruise.active[:0], s.running...)
}

// settle counts the cruising requests into the batch at the end of a step.
func (s *Scheduler) settle(b *Batch) {
	c := &s.cruise
	b.Cruising = c.n
	b.Tokens += c.n
	for g := range c.attended {
		b.Attended = append(b.Attended, c.attended[g])
		c.attended[g] += c.slope[g]
	}
	c.through = s.step
	c.flight = append(c.flight, b)
}

// land takes the oldest batch, now completed, out of the flight.
func (c *cruise) land(b *Batch) {
	n := len(c.flight) - 1
	for i := range n {
		c.flight[i] = c.flight[i+1]
	}
	c.flight = c.flight[:n]
	c.last = b.Step
}

// flushActive makes every running request's counts exact between steps.
func (s *Scheduler) flushActive() {
	if s.cruise.n > 0 {
		s.flush()
		s.cruise.active = append(s.cruise.active[:0], s.running...)
	}
}
