package sched

import (
	"slices"
)

// Verdict is what PrefillAdder says of one request; the first that is not Continue
// ends the pass.
type Verdict uint8

const (
	Continue Verdict = iota
	NoToken          // the cache has no room
	Other            // a budget of the step is spent
)

func (v Verdict) String() string { return [...]string{"CONTINUE", "NO_TOKEN", "OTHER"}[v] }

// Adder fills one prefill step (schedule_policy.py PrefillAdder). Its two token
// budgets are read from the cache at every use, because locking a prefix takes it
// out of the evictable.
type Adder struct {
	s           *Scheduler
	run         []*Req
	newChunked  *Req
	totalOffset float64 // tokens promised to running and admitted requests
	curOffset   int     // tokens admitted requests take now
	RemInput    int
	RemChunk    int
	chunking    bool
	states      []reqState
	haveStates  bool
	preempted   []*Req
}

func (s *Scheduler) newAdder() *Adder {
	mixed := 0
	if s.c.MixedChunk {
		mixed = len(s.running.Reqs)
	}
	a := &Adder{
		s: s, RemInput: s.c.MaxPrefill - mixed, RemChunk: s.c.ChunkSize - mixed, chunking: s.c.ChunkSize > 0,
		totalOffset: float64(mixed), curOffset: mixed,
	}
	promised := 0.0
	for _, r := range s.running.Reqs {
		promised += s.outstanding(r)
	}
	a.totalOffset += promised
	return a
}

// outstanding is the tokens admission reserves for a running request.
func (s *Scheduler) outstanding(r *Req) float64 {
	return float64(float64(min(r.MaxNew-r.Outputs(), s.c.ClipNewTokens)) * s.ratio.now)
}

// RemTotal is what is left after every promise, CurRem after what this step takes.
func (a *Adder) RemTotal() float64 {
	return float64(a.s.cache.Free()+a.s.cache.Evictable()) - a.totalOffset
}
func (a *Adder) CurRem() int { return a.s.cache.Free() + a.s.cache.Evictable() - a.curOffset }

// Chunking says whether RemChunk means anything.
func (a *Adder) Chunking() bool { return a.chunking }

func (a *Adder) charge(extend, maxNew int) {
	page := a.s.c.PageSize
	e := a.s.cache.Ceil(extend)
	a.totalOffset += float64(e + maxNew + page)
	a.curOffset += e + page
	a.RemInput -= e
	a.RemChunk -= e
}

func (a *Adder) verdict() Verdict {
	switch {
	case a.RemTotal() <= 0 || a.CurRem() <= 0:
		return NoToken
	case a.RemInput <= 0 || (a.chunking && a.RemChunk <= 0):
		return Other
	}
	return Continue
}

// addChunked continues a request that was cut; it returns it while more remains.
func (a *Adder) addChunked(r *Req) *Req {
	remaining := r.length() - r.hold.Prefix
	rem := min(a.RemChunk, int(a.RemTotal()))
	if rem <= 0 {
		rem = a.RemChunk // it must go on
	}
	r.extend = min(remaining, rem)
	a.run = append(a.run, r)
	if remaining > rem {
		a.charge(r.extend, 0)
		return r
	}
	a.charge(r.extend, min(r.MaxNew, a.s.c.ClipNewTokens))
	return nil
}

// add tries one waiting request whose prefix has just been matched.
func (a *Adder) add(r *Req) Verdict {
	c := &a.s.c
	if c.PrefillMax > 0 && len(a.run) >= c.PrefillMax {
		return Other
	}
	if r.IgnoreEOS && a.s.cache.Tree == nil {
		return a.addIgnoreEOS(r)
	}
	total := float64(r.extend + min(max(r.MaxNew-r.Outputs(), 0), c.ClipNewTokens) + c.PageSize)
	if total >= a.RemTotal() {
		return NoToken
	}
	input := a.s.cache.Ceil(r.extend)
	overInput := !a.chunking && len(a.run) > 0 && input >= a.RemInput
	if overInput {
		return Other
	}
	a.s.cache.Lock(&r.hold)
	if total >= a.RemTotal() { // the lock made the prefix unevictable
		a.s.cache.Unlock(&r.hold)
		return NoToken
	}
	if !a.chunking || input <= a.RemChunk {
		a.run = append(a.run, r)
		a.charge(r.extend, min(r.MaxNew, c.ClipNewTokens))
		return a.verdict()
	}
	trunc := a.s.cache.Floor(max(a.RemChunk, 0))
	if trunc = a.s.cache.Floor(r.hold.Prefix+trunc) - r.hold.Prefix; trunc <= 0 {
		a.s.cache.Unlock(&r.hold)
		return Other
	}
	a.cut(r, trunc)
	return a.verdict()
}

// cut admits the first tokens of r and leaves the rest to later steps. A page's
// remainder can cut a second request, without a radix cache and when that ignores the
// end of text; upstream then forgets the rest of the first.
func (a *Adder) cut(r *Req, tokens int) {
	if o := a.newChunked; o != nil {
		o.lost = o.length() - o.filled()
	}
	r.extend = tokens
	a.run = append(a.run, r)
	a.newChunked = r
	a.charge(tokens, 0)
}

// reqState is what a request still takes and what it gives back when it ends.
type reqState struct{ left, occupied float64 }

// addIgnoreEOS admits without a radix cache a request known to run to its limit: it
// simulates the requests ending in order of what they have left.
func (a *Adder) addIgnoreEOS(r *Req) Verdict {
	need := a.s.cache.Ceil(r.extend)
	if float64(need) > min(float64(a.CurRem()), a.RemTotal()) {
		return NoToken
	}
	a.noteStates(r)
	free := float64(a.CurRem() - need)
	freed := 0.0
	for i, st := range a.states {
		bs := float64(len(a.states) - i)
		if free+freed-float64(st.left*bs) <= bs {
			return NoToken
		}
		freed += st.occupied
	}
	if !a.chunking || need <= a.RemChunk {
		a.run = append(a.run, r)
		a.charge(r.extend, min(r.MaxNew, a.s.c.ClipNewTokens))
		return a.verdict()
	}
	if a.RemChunk <= 0 {
		return Other
	}
	a.cut(r, a.RemChunk)
	return a.verdict()
}

// noteStates adds r, and at first use the running and admitted requests, in
// upstream's order: sorted at first, later ones inserted before the first state
// that is not smaller, or before the last.
func (a *Adder) noteStates(r *Req) {
	st, ok := a.state(r)
	if a.haveStates {
		if ok {
			at := slices.IndexFunc(a.states, func(o reqState) bool { return st.left <= o.left })
			if at < 0 {
				at = max(0, len(a.states)-1)
			}
			a.states = slices.Insert(a.states, at, st)
		}
		return
	}
	a.haveStates = true
	for _, o := range slices.Concat([]*Req{r}, a.s.running.Reqs, a.run) {
		if st, ok := a.state(o); ok {
			a.states = append(a.states, st)
		}
	}
	slices.SortStableFunc(a.states, func(x, y reqState) int {
		switch {
		case x.left < y.left:
			return -1
		case x.left > y.left:
			return 1
		}
		return 0
	})
}

func (a *Adder) state(r *Req) (reqState, bool) {
	share := a.s.ratio.now
	if r.IgnoreEOS {
		share = 1
	}
	left := float64(float64(r.MaxNew)*share) - float64(r.Outputs())
	return reqState{left, float64(r.length())}, left > 0
}

// preemptFor makes room for r by taking running requests of far lower priority, or
// takes none.
func (a *Adder) preemptFor(r *Req) bool {
	s := a.s
	victims := slices.Clone(s.running.Reqs)
	victims = slices.DeleteFunc(victims, (*Req).done)
	slices.SortStableFunc(victims, func(x, y *Req) int {
		if d := s.urgency(y) - s.urgency(x); d != 0 {
			return d
		}
		return int(int64(y.entered) - int64(x.entered))
	})
	need := float64(r.extend+min(r.MaxNew-r.Outputs(), s.c.ClipNewTokens)) - a.RemTotal()
	taken := 0
	for _, v := range victims {
		if s.urgency(v)-s.urgency(r) <= s.c.PreemptThreshold {
			break
		}
		taken++
		if need -= s.outstanding(v); need <= 0 {
			break
		}
	}
	if taken == 0 || need > 0 {
		return false
	}
	a.preempt(victims[:taken])
	return true
}

// urgency is smaller for the request served first.
func (s *Scheduler) urgency(r *Req) int {
	if s.c.LowFirst {
		return r.Priority
	}
	return -r.Priority
}

func (a *Adder) preempt(victims []*Req) {
	s := a.s
	var kept []*Req
	before, released := len(s.running.Reqs), 0
	for _, r := range s.running.Reqs {
		if !slices.Contains(victims, r) {
			kept = append(kept, r)
			continue
		}
		a.totalOffset -= s.outstanding(r)
		released++
		s.release(r, before-released)
	}
	s.running.Reqs = kept
	a.preempted = append(a.preempted, victims...)
}
