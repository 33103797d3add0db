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
	b.filter(nil)
	if len(b.Reqs) == 0 {
		b.Full = false
		return
	}
	if s.fits(b.Reqs) {
		s.ratio.step()
	} else {
		s.retract(b)
	}
	if len(b.Reqs) < before {
		b.Full = false
	}
	if len(b.Reqs) > 0 {
		s.grow(b)
	}
}

// fits evicts what the next token of each request lacks and says whether it is
// there (schedule_batch.py check_decode_mem).
func (s *Scheduler) fits(reqs []*Req) bool {
	need := s.needed(reqs)
	s.cache.Reserve(need)
	return s.cache.Free() >= need
}

// needed is the tokens of the pages that one more token of each request opens.
func (s *Scheduler) needed(reqs []*Req) int {
	page := s.c.PageSize
	if page == 1 {
		return len(reqs)
	}
	need := 0
	for _, r := range reqs {
		if r.hold.Committed%page == 0 {
			need += page
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
		if d := cmp.Compare(y.Outputs, x.Outputs); d != 0 {
			return d
		}
		return cmp.Compare(x.Input, y.Input)
	})
	var victims []*Req
	for first := true; first || !s.fits(kept); first = false {
		if len(kept) == 1 {
			break
		}
		r := kept[len(kept)-1]
		kept = kept[:len(kept)-1]
		victims = append(victims, r)
		s.release(r, len(kept))
	}
	var unfit *Req
	if len(kept) == 1 && !s.fits(kept) {
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
		decoded += r.Outputs
		limit += r.MaxNew
	}
	return min(1, float64(decoded+s.c.RetractSteps*len(reqs))/float64(limit+1))
}

// release takes a request's memory back for remaining others and makes it ready to
// start again with the outputs it has (schedule_batch.py release_req).
func (s *Scheduler) release(r *Req, remaining int) {
	s.cache.Release(&r.hold)
	s.freeSlot(r)
	s.cache.Reserve(remaining * s.c.RetractSteps)
	r.retracted, r.chunks, r.extend = true, 0, 0
}

// Process applies the result of a launched batch: reqs are its requests when it was
// launched (scheduler_components/batch_result_processor.py).
func (s *Scheduler) Process(mode Mode, reqs []*Req, decoding int) {
	for i, r := range reqs {
		if r.done() || r.retracted {
			continue // it ended, or was retracted, after this batch was launched
		}
		if mode != Decode && r.chunks > 0 {
			r.chunks--
			continue
		}
		r.emit()
		switch {
		case r.done():
			s.cache.Finish(&r.hold, r.key(r.hold.Committed), r.Priority)
			s.freeSlot(r)
		case mode != Decode && i < len(reqs)-decoding:
			s.cache.Store(&r.hold, r.key(r.filled()), r.Priority, false)
		}
		s.watch.Emitted(r)
	}
	if mode != Decode {
		s.publish()
		return
	}
	if s.decodes++; s.c.DecodeLogInterval > 0 && s.decodes%s.c.DecodeLogInterval == 0 {
		s.publish()
	}
}
