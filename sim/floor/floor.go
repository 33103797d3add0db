// Package floor is a bare continuous-batching loop: what any step-by-step
// simulator of an engine must do at the least. It serves as the yardstick of the
// simulator's speed.
//
// In: arrivals, lengths and limits. Out: steps, tokens and sums of latencies. It
// keeps value slots and walks the whole batch each step: first come first served,
// prompts in chunks under a token budget, 16-token pages from a free list, a step
// price that is linear in the batch. It has no prefix cache, no distribution of
// any metric, no event queue, no cost model and no second engine.
package floor

// Load is an open loop with one engine.
type Load struct {
	Arrivals       []int64 // microseconds, ascending
	Prompt, Output []int32
	Budget         int // tokens a step
	Seqs           int // running requests at most
	// Base, Seq and Token price a step in nanoseconds: per step, per decoding
	// request, per prompt token.
	Base, Seq, Token int64
}

// Count is what a run did. Latencies are sums in microseconds.
type Count struct{ Steps, Output, FirstToken, EndToEnd int64 }

type slot struct {
	prompt, context, left int32
	capacity              int32 // tokens its pages hold
	arrived               int64
	pages                 []int32
}

const page = 16

// engine is the loop's state.
type engine struct {
	running []slot
	free    []int32 // page ids
	minted  int32
	spare   [][]int32 // page lists of ended requests
	count   Count
}

// Run simulates the load.
func Run(l *Load) Count {
	e := &engine{running: make([]slot, 0, l.Seqs)}
	next, now := 0, int64(0)
	for next < len(l.Arrivals) || len(e.running) > 0 {
		if len(e.running) == 0 {
			now = max(now, l.Arrivals[next])
		}
		for next < len(l.Arrivals) && len(e.running) < l.Seqs && l.Arrivals[next] <= now {
			e.running = append(e.running, slot{prompt: l.Prompt[next], left: l.Output[next], arrived: l.Arrivals[next], pages: e.list()})
			next++
		}
		decoding, prompt := e.schedule(l.Budget)
		now += (l.Base + l.Seq*decoding + l.Token*prompt + 500) / 1000
		e.apply(now)
	}
	return e.count
}

func (e *engine) list() []int32 {
	if n := len(e.spare); n > 0 {
		p := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return p
	}
	return nil
}

// schedule gives each slot its tokens and pages.
func (e *engine) schedule(budget int) (decoding, prompt int64) {
	left := int32(budget)
	for i := range e.running {
		s := &e.running[i]
		take := int32(1)
		if s.context < s.prompt {
			take = min(s.prompt-s.context, left)
			prompt += int64(take)
		} else {
			decoding++
		}
		left -= take
		s.context += take
		if s.context > s.capacity {
			e.grow(s)
		}
		if left == 0 {
			break
		}
	}
	return decoding, prompt
}

func (e *engine) grow(s *slot) {
	for s.capacity < s.context {
		s.pages = append(s.pages, e.take())
		s.capacity += page
	}
}

func (e *engine) take() int32 {
	if n := len(e.free); n > 0 {
		id := e.free[n-1]
		e.free = e.free[:n-1]
		return id
	}
	e.minted++
	return e.minted
}

// apply emits a token for every slot whose prompt is computed, in order.
func (e *engine) apply(now int64) {
	e.count.Steps++
	kept := 0
	for i := range e.running {
		s := &e.running[i]
		if s.context >= s.prompt {
			e.count.Output++
			if s.context == s.prompt {
				e.count.FirstToken += now - s.arrived
			}
			if s.left--; s.left == 0 {
				e.count.EndToEnd += now - s.arrived
				e.free = append(e.free, s.pages...)
				e.spare = append(e.spare, s.pages[:0])
				continue
			}
		}
		if kept != i {
			e.running[kept] = *s
		}
		kept++
	}
	e.running = e.running[:kept]
}
