package sched

import (
	"cmp"
	"slices"
)

// update readies the running batch for one decode step: finished requests leave,
// memory is found or requests are retracted (scheduler.py update_running_batch).
func (s *Scheduler) update() {
	b := s.running
	before := len(b.Reqs)
	s.refresh(b)
	if len(b.Reqs) == 0 {
		b.Full = false
		return
	}
	if s.fits(s.opening(b)) {
		s.ratio.step()
	} else {
		s.retract(b)
		s.refresh(b)
	}
	if len(b.Reqs) < before {
		b.Full = false
	}
	switch {
	case len(b.Reqs) == 0:
	case s.c.Stepwise:
		s.grow(b)
	default:
		s.cache.Reserve(len(b.Reqs) * s.c.PageSize)
		s.cache.Take(s.steady.opens())
		s.steady.form()
	}
}

// refresh drops ended requests and counts the others, when that is due.
func (s *Scheduler) refresh(b *Batch) {
	switch y := &s.steady; {
	case s.c.Stepwise:
		b.filter(nil)
	case y.stale:
		b.filter(nil)
		s.count(b.Reqs)
	case y.formed >= y.levels:
		s.count(b.Reqs)
	}
}

// opening is the tokens of the pages that a decode step of b opens.
func (s *Scheduler) opening(b *Batch) int {
	if s.c.Stepwise {
		return s.needed(b.Reqs)
	}
	return s.steady.opens() * s.c.PageSize
}

// fits evicts what is lacking of need tokens and says whether they are there
// (schedule_batch.py check_decode_mem).
func (s *Scheduler) fits(need int) bool {
	s.cache.Reserve(need)
	return s.cache.Free() >= need
}

// needed is the tokens of the pages that one more token of each request opens.
func (s *Scheduler) needed(reqs []*Req) int {
	need := 0
	for _, r := range reqs {
		if r.Committed()%s.c.PageSize == 0 {
			need += s.c.PageSize
		}
	}
	return need
}

// grow takes the slot of one token for each request; with pages upstream evicts for
// a page each, more than it takes.
func (s *Scheduler) grow(b *Batch) {
	s.cache.Reserve(len(b.Reqs) * s.c.PageSize)
	for _, r := range b.Reqs {
		s.cache.Grow(&r.hold)
	}
}

// retract returns requests to the queue until the rest fits: fewest outputs first,
// then longest prompt, then the later one. At least one goes unless it is alone;
// one that does not fit alone is aborted (schedule_batch.py retract_decode).
func (s *Scheduler) retract(b *Batch) {
	kept := slices.Clone(b.Reqs)
	slices.SortStableFunc(kept, func(x, y *Req) int {
		if d := cmp.Compare(y.Outputs(), x.Outputs()); d != 0 {
			return d
		}
		return cmp.Compare(x.Input, y.Input)
	})
	var victims []*Req
	for first := true; first || !s.fits(s.needed(kept)); first = false {
		if len(kept) == 1 {
			break
		}
		r := kept[len(kept)-1]
		kept = kept[:len(kept)-1]
		victims = append(victims, r)
		s.release(r, len(kept))
	}
	var unfit *Req
	if len(kept) == 1 && !s.fits(s.needed(kept)) {
		unfit = kept[0]
		s.release(unfit, 0)
		kept = kept[:0]
	}
	if len(kept) < len(b.Reqs) {
		b.Reqs = kept // in the sorted order
	}
	s.ratio.now = s.reserveFor(b.Reqs)
	s.watch.Retracted(victims, s.ratio.now)
	if unfit != nil {
		s.end(unfit, "Out of memory even after retracting all other requests in the decode batch.")
	}
	for _, r := range victims {
		s.enqueue(r)
	}
}

// reserveFor is the ratio after a retraction.
func (s *Scheduler) reserveFor(reqs []*Req) float64 {
	decoded, limit := 0, 0
	for _, r := range reqs {
		decoded += r.Outputs()
		limit += r.MaxNew
	}
	return min(1, float64(decoded+s.c.RetractSteps*len(reqs))/float64(limit+1))
}

// release takes a request's memory back for remaining others and makes it ready to
// start again with the outputs it has (schedule_batch.py release_req).
func (s *Scheduler) release(r *Req, remaining int) {
	s.leave(r)
	s.cache.Release(&r.hold)
	s.freeSlot(r)
	s.cache.Reserve(remaining * s.c.RetractSteps)
	r.retracted, r.chunks, r.extend, r.lost = true, 0, 0, 0
}

// Process applies the result of a launched batch: reqs are its requests when it was
// launched (scheduler_components/batch_result_processor.py).
func (s *Scheduler) Process(mode Mode, reqs []*Req, decoding int) {
	s.results++
	if mode == Decode {
		s.processDecode(reqs)
		if n := s.c.DecodeLogInterval; n > 0 && s.steady.results%n == 0 {
			s.publish()
		}
		return
	}
	for i, r := range reqs {
		switch {
		case r.done() || r.retracted: // since this batch was launched
		case r.chunks > 0:
			r.chunks--
		default:
			s.emit(r, i < len(reqs)-decoding)
		}
	}
	s.publish()
}

// emit gives r the token of a result; store puts what was prefilled into the tree
// when r goes on.
func (s *Scheduler) emit(r *Req, store bool) {
	if r.stint.in != nil {
		s.steady.settle(r)
	}
	r.append(r.outputs + 1)
	r.gap = r.newest > 0 && r.newest == s.results-1
	r.newest = s.results
	r.check()
	switch {
	case r.done():
		s.leave(r)
		s.cache.Finish(&r.hold, r.key(r.hold.Committed), r.Priority)
		s.freeSlot(r)
	case store:
		s.cache.Store(&r.hold, r.key(r.filled()), r.Priority, false)
	}
	s.watch.Emitted(r)
}

// Skip counts a batch without requests among the results.
func (s *Scheduler) Skip() { s.results++ }
