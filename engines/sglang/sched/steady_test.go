package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// transcript is a Watcher that writes down everything a run does; tokens that are
// only counted and tokens that are named come to the same sum.
type transcript struct {
	lines  []string
	steady int
	left   int // requests that have not ended
	taken  map[*Req]int
}

func (w *transcript) add(format string, v ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, v...))
}
func (w *transcript) Filling(a *Adder) {
	w.add("fill %v %d %d", a.RemTotal(), a.CurRem(), a.RemInput)
}
func (w *transcript) Tried(a *Adder, r *Req, v Verdict, chunked, admitted bool) {
	w.add("tried %s %v %v %v %v", r.Name, v, chunked, admitted, a.RemTotal())
}
func (w *transcript) Retracted(v []*Req, ratio float64) { w.add("retracted %s %v", names(v), ratio) }
func (w *transcript) Preempted(v []*Req)                { w.add("preempted %s", names(v)) }
func (w *transcript) Published(e []kv.Event)            { w.add("published %d", len(e)) }
func (w *transcript) Steady(n int)                      { w.steady += n }
func (w *transcript) Aborted(r *Req, why string) {
	w.left--
	w.add("aborted %s %s, steps %d", r.Name, why, w.steps(r))
}
func (w *transcript) Emitted(r *Req) {
	if r.Consecutive() && !r.done() {
		w.steady++
		return
	}
	if r.done() {
		w.left--
	}
	w.add("emitted %s %d %v %v, steps %d", r.Name, r.Outputs(), r.Consecutive(), r.Finish, w.steps(r))
}

// steps sums what Steps tells of r.
func (w *transcript) steps(r *Req) int {
	w.taken[r] += r.Steps()
	return w.taken[r]
}

// launched writes down a batch; a visited request is charged its step here, as an
// engine does.
func (w *transcript) launched(l *Launch, limits []int) {
	if l == nil {
		w.add("nothing")
		return
	}
	w.add("launch %d %d %v %v", l.Mode, l.Decoding, l.Prefix, l.Tokens)
	attended := make([]int64, len(limits))
	for i, r := range l.Reqs {
		w.add("  %s %d %d %d", r.Name, r.Prefix(), r.Committed(), r.Outputs())
		if decodes := l.Mode == Decode || i >= len(l.Reqs)-l.Decoding; !decodes {
			continue
		}
		if l.Attended == nil {
			w.taken[r]++
		}
		for g, limit := range limits {
			n := r.Committed()
			if limit > 0 {
				n = min(n, limit)
			}
			attended[g] += int64(n)
		}
	}
	if l.Attended != nil && fmt.Sprint(l.Attended) != fmt.Sprint(attended) {
		w.add("attended: got %v, want %v", l.Attended, attended)
	}
}

func (w *transcript) state(s *Scheduler) {
	c := s.Cache()
	w.add("free %d evictable %d protected %d slots %d ratio %v steady %d waiting %s running %s",
		c.Free(), c.Evictable(), c.Protected(), s.Slots(), s.Ratio(), w.steady, names(s.Waiting()), names(s.Running().Reqs))
	for _, r := range slices.Concat(s.Waiting(), s.Running().Reqs) {
		w.add("  %s %d", r.Name, r.Outputs())
	}
}

// play runs random requests, aborts and all, and returns what happened.
func play(seed uint64, stepwise bool) []string {
	rng := rand.New(rand.NewPCG(seed, 4))
	c, tree := randomConfig(rng)
	c.Stepwise, c.Attends = stepwise, []int{0, 50, 120}
	w := &transcript{taken: map[*Req]int{}}
	s := New(c, kv.NewCache(c.TotalTokens, c.PageSize, tree), nil, w)
	l := NewLoop(s)
	total := 5 + rng.IntN(40)
	w.left = total
	for sent := 0; (w.left > 0 || l.InFlight() > 0) && len(w.lines) < 100000; {
		if sent < total && rng.IntN(6) == 0 {
			r := req(fmt.Sprintf("q%d", sent), 1+rng.IntN(c.TotalTokens/3), 1+rng.IntN(90), rng.IntN(30))
			if rng.IntN(2) == 0 {
				r.Prompt = []engines.Segment{{Stream: 5, Count: r.Input}}
			}
			r.IgnoreEOS, r.StopAt = rng.IntN(2) == 0, rng.IntN(40)
			s.Receive(r)
			sent++
		}
		if rng.IntN(30) == 0 {
			victim := fmt.Sprintf("q%d", rng.IntN(total))
			s.Abort(func(r *Req) bool { return r.Name == victim })
		}
		if !l.Waits() {
			w.launched(advance(l), c.Attends)
		}
		if l.Waits() {
			l.Settle()
		}
		w.state(s)
	}
	return w.lines
}

// Steady decoding takes the decisions of the path that visits every request in every
// step, and comes to the same counts.
func TestSteadyEqualsStepwise(t *testing.T) {
	for seed := range scenarios(150) {
		got, want := play(uint64(seed), false), play(uint64(seed), true)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("seed %d, line %d: got %q, want %q", seed, i, at(got, i), at(want, i))
			}
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "the end"
}
