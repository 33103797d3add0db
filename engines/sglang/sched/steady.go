package sched

// This file is the project's own: upstream takes every step alone.

import "math"

// A decoding request mostly does the same thing in every step: it takes one token and
// emits one. Such a request is not visited: its counts are those it joined with plus
// the steps since, and a decode step costs nothing for it. The running requests are
// counted anew when one joins or leaves, and visited, in order, at a result that ends
// one. Config.Stepwise visits them all in every step; both take the same decisions.
//
// Exactness rests on two facts. After the result of a decode step a request has one
// output more than it has committed tokens beyond its input; so its end, which the
// stop check alone decides, is known when it joins. And a decode step takes a page for
// each request whose committed tokens fill its pages: those of one remainder.
type steady struct {
	formed   int     // decode steps formed
	results  int     // and those whose results are there
	newest   uint64  // the newest of those among all results
	stale    bool    // the running batch may hold ended or new requests
	loose    int     // the last step whose batch may hold a request that has left
	ends     int     // the first step whose result ends one
	base     int     // steps formed when the requests were counted
	phase    []int   // requests by committed tokens modulo the page, at base
	levels   int     // steps formed when the next one reaches its cap of Config.Attends
	attended []int64 // tokens attended in the step formed last, for each of Config.Attends
	slope    []int64 // and what the next step adds
}

const never = math.MaxInt

func newSteady(c *Config) steady {
	n := len(c.Attends)
	return steady{phase: make([]int, c.PageSize), attended: make([]int64, n), slope: make([]int64, n)}
}

// stint is a request's time among the steady ones.
type stint struct {
	in    *steady // nil while the request is visited in every step
	first int     // the first step of it
	ends  int     // the step whose result ends the request
	base  int     // steps formed when hold.Committed was exact
	taken int     // steps it was in and Steps has not told
}

// Committed is the tokens whose KV is written or being written.
func (r *Req) Committed() int {
	if r.stint.in == nil {
		return r.hold.Committed
	}
	return r.hold.Committed + r.stint.in.formed - r.stint.base
}

// Outputs is the tokens emitted so far.
func (r *Req) Outputs() int {
	st := &r.stint
	if st.in == nil || st.in.results < st.first {
		return r.outputs
	}
	return max(r.outputs, r.hold.Committed+st.in.results-st.base-r.Input+r.lost+1)
}

// Steps is the decode steps r was in without being in the batch's list of visited
// requests, since the last call. It is exact whenever a Watcher hears of r.
func (r *Req) Steps() int {
	n := r.stint.taken
	r.stint.taken = 0
	return n
}

// join starts r's stint with the step about to be formed. An abort that came before
// ends r all the same: the first result of a stint follows another batch's, so that
// every request of it is visited.
func (y *steady) join(r *Req) {
	last := r.MaxNew // number of its last output
	if !r.IgnoreEOS && r.StopAt > r.Outputs() {
		last = min(last, r.StopAt)
	}
	first := y.formed + 1
	r.stint = stint{in: y, first: first, base: y.formed, ends: first + last + r.Input - r.lost - 2 - r.hold.Committed, taken: r.stint.taken}
}

// settle makes r's own counts exact.
func (y *steady) settle(r *Req) {
	st := &r.stint
	if n := r.Outputs(); n > r.outputs {
		r.append(n)
		r.newest = y.newest
	}
	steps := y.formed - st.base
	r.hold.Committed += steps
	st.taken += steps
	st.base = y.formed
}

// leave ends r's stint, if it is in one.
func (s *Scheduler) leave(r *Req) {
	y := &s.steady
	y.stale = true
	if r.stint.in == nil {
		return
	}
	y.settle(r)
	r.stint.in = nil
	y.loose = y.formed
}

// count takes stock of the running requests before a step is formed.
func (s *Scheduler) count(reqs []*Req) {
	y := &s.steady
	clear(y.phase)
	clear(y.attended)
	clear(y.slope)
	y.stale, y.base, y.ends, y.levels = false, y.formed, never, never
	for _, r := range reqs {
		if r.stint.in == nil {
			y.join(r)
		}
		y.ends = min(y.ends, r.stint.ends)
		n := r.Committed()
		y.phase[n%s.c.PageSize]++
		for g, limit := range s.c.Attends {
			if limit > 0 && n >= limit {
				y.attended[g] += int64(limit)
				continue
			}
			y.attended[g] += int64(n)
			y.slope[g]++
			if limit > 0 {
				y.levels = min(y.levels, y.formed+limit-n)
			}
		}
	}
}

// opens is the pages the next step takes.
func (y *steady) opens() int {
	page := len(y.phase)
	return y.phase[(page-(y.formed-y.base)%page)%page]
}

// form counts one more step.
func (y *steady) form() {
	y.formed++
	for g := range y.slope {
		y.attended[g] += y.slope[g]
	}
}

// Attended is, for each of Config.Attends, the tokens that the decode batch just
// formed attends; nil when its requests are visited one by one.
func (s *Scheduler) Attended() []int64 {
	if s.c.Stepwise {
		return nil
	}
	return s.steady.attended
}

// processDecode applies the result of a decode batch of reqs.
func (s *Scheduler) processDecode(reqs []*Req) {
	y := &s.steady
	step := y.results + 1
	ordinary := y.newest == s.results-1 // who goes on had a token in the result before
	count := len(reqs)
	if !ordinary || step >= y.ends || step <= y.loose || s.c.Stepwise {
		count = 0
		for _, r := range reqs {
			switch st := &r.stint; {
			case r.done() || r.retracted: // since this batch was launched
			case ordinary && st.in != nil && st.first < step && step < st.ends:
				count++
			default:
				s.emit(r, false)
			}
		}
	}
	y.results, y.newest = step, s.results
	if count > 0 {
		s.watch.Steady(count)
	}
}
