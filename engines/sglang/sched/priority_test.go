package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// Among equals the earlier goes first; with lof the one with more to come.
func TestPriorityTies(t *testing.T) {
	for policy, want := range map[Policy]string{FCFS: "c a b d", LOF: "c b a d"} { // order: independent cases
		c := base()
		c.Priorities, c.Policy, c.MaxRunning = true, policy, 1
		s, _ := newScheduler(c)
		for _, r := range []*Req{req("a", 10, 2, 4), req("b", 10, 8, 4), req("c", 10, 3, 9), req("d", 10, 9, 1)} {
			s.Receive(r)
		}
		s.order()
		if got := names(s.Waiting()); got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}

// Of the least urgent waiting requests a full queue gives up the latest; it gives up
// nobody for an equal, and without priorities never.
func TestFullQueueGivesUpTheLatestOfTheWorst(t *testing.T) {
	for _, c := range []struct {
		priorities, low bool
		newcomer        int
		want, aborted   string
	}{
		{true, false, 5, "a b d n", "c"}, {true, false, 2, "a b c d", "n"}, {true, true, 1, "a b c n", "d"}, {true, true, 7, "a b c d", "n"},
		{false, false, 5, "a b c d", "n"},
	} {
		cfg := base()
		cfg.MaxQueued, cfg.Priorities, cfg.LowFirst = 4, c.priorities, c.low
		s, w := newScheduler(cfg)
		for i, p := range []int{3, 2, 2, 7} {
			s.Receive(req(string(rune('a'+i)), 10, 2, p))
		}
		s.Receive(req("n", 10, 2, c.newcomer))
		if got := names(s.Waiting()); got != c.want || len(w.aborted) != 1 || !strings.HasPrefix(w.aborted[0], c.aborted+": ") {
			t.Errorf("%+v: got %s waiting and %v aborted", c, got, w.aborted)
		}
	}
}

// A preemption takes as many as the newcomer's tokens need, and nobody when all that
// may give way do not free enough.
func TestPreemptionTakesWhatIsNeeded(t *testing.T) {
	for _, c := range []struct {
		output int // of the newcomer
		low    bool
		want   string
	}{{10, false, "c"}, {10, true, "a"}, {400, false, "c b"}, {1500, false, ""}} {
		cfg := base()
		cfg.Priorities, cfg.LowFirst, cfg.MaxRunning, cfg.TotalTokens = true, c.low, 3, 600
		s, w := newScheduler(cfg)
		for i, p := range []int{40, 20, 0} {
			s.Receive(req(string(rune('a'+i)), 20, 160, p))
		}
		for range 3 {
			turn(s)
		}
		u := req("u", 20, c.output, 70)
		if c.low {
			u.Priority = -30
		}
		s.Receive(u)
		b := turn(s)
		if got := strings.Join(w.preempted, " "); got != c.want || (b.Reqs[0] == u) != (c.want != "") {
			t.Errorf("%+v: preempted %q for %s, want %q", c, got, names(b.Reqs), c.want)
		}
		for range 1200 {
			turn(s)
		}
		if len(w.ended) != 4 {
			t.Errorf("%+v: %v ended, want all four", c, w.ended)
		}
		clean(t, s)
	}
}

// An abort ends a waiting request at once, the latest first, and a decoding one with
// its next token; what others hold stays.
func TestAbortInEachState(t *testing.T) {
	cfg := base()
	cfg.MaxRunning = 2
	s, w := newScheduler(cfg)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		s.Receive(req(name, 10, 40, 0))
	}
	turn(s) // a and b
	turn(s)
	s.Abort(func(r *Req) bool { return strings.Contains("bce", r.Name) })
	if got, want := fmt.Sprint(w.aborted), "[e:  c: ]"; got != want || names(s.Waiting()) != "d" {
		t.Errorf("waiting: got %s aborted with %s left, want %s and d", got, names(s.Waiting()), want)
	}
	turn(s)
	if got := strings.Join(w.ended, " "); got != "b" {
		t.Errorf("decoding: %q ended, want b", got)
	}
	for range 90 {
		turn(s)
	}
	if got := strings.Join(w.ended, " "); got != "b a d" {
		t.Errorf("others: %q ended, want b a d", got)
	}
	clean(t, s)
}

// A request that a retraction sends back to a full queue is aborted.
func TestRetractionIntoAFullQueue(t *testing.T) {
	for _, limit := range []int{0, 1} {
		cfg := base()
		cfg.TotalTokens, cfg.MaxRunning, cfg.Conservative, cfg.MaxQueued = 120, 4, 0.05, limit
		s, w := newScheduler(cfg)
		s.Receive(req("a", 30, 60, 0))
		turn(s)
		s.Receive(req("b", 30, 60, 0))
		turn(s)
		s.Receive(req("c", 100, 5, 0)) // waits, and fills the queue
		for range 400 {
			turn(s)
		}
		if got, want := len(w.aborted) > 0, limit > 0; got != want || len(w.ended)+len(w.aborted) != 3 {
			t.Errorf("limit %d: %v ended and %v aborted", limit, w.ended, w.aborted)
		}
		clean(t, s)
	}
}

// A longer queue than the limit is served in order of arrival under lpm.
func TestLongQueueIsNotSorted(t *testing.T) {
	for _, n := range []int{lpmQueueLimit, lpmQueueLimit + 1} {
		cfg := base()
		cfg.Policy = LPM
		s, _ := newScheduler(cfg)
		last := req("last", 40, 2, 0)
		s.cache.Tree.Insert(kv.View(kv.Namespace{}, last.Prompt, 40), 0, false)
		for i := range n - 1 {
			s.Receive(req(fmt.Sprintf("q%d", i), 40, 2, 0))
		}
		s.Receive(last)
		s.order()
		if got, want := s.Waiting()[0] == last, n == lpmQueueLimit; got != want {
			t.Errorf("queue of %d: the cached request is first: %v, want %v", n, got, want)
		}
	}
}

// A preempted request leaves room for the next steps of those that stay: 20 tokens each
// (release_req), evicted if they are not free.
func TestPreemptionLeavesRoom(t *testing.T) {
	for _, c := range []struct{ victims, want int }{{1, 38}, {2, 38}} { // two that stay; then one, for whom there is room by then
		cfg := base()
		cfg.MaxRunning, cfg.TotalTokens, cfg.Priorities = 3, 130, true
		s, _ := newScheduler(cfg)
		evicted := 0
		s.cache.OnEvict = func(n int) { evicted += n }
		s.cache.Take(60)
		for i := range 60 {
			s.cache.Tree.Insert(kv.View(kv.Namespace{}, []engines.Segment{{Stream: uint64(1000 + i), Count: 1}}, 1), 0, false)
		}
		for _, name := range []string{"a", "b", "c"} {
			s.Receive(req(name, 10, 3, 0))
		}
		turn(s)
		s.mergeLast(nil)
		s.cache.Take(s.cache.Free() - 2)
		s.newAdder().preempt(s.running.Reqs[:c.victims:c.victims])
		if evicted != c.want || len(s.running.Reqs) != 3-c.victims {
			t.Errorf("%d preempted: got %d tokens evicted and %d running, want %d", c.victims, evicted, len(s.running.Reqs), c.want)
		}
	}
}
