package sched

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// An unset limit is what the pool leaves beside the prompt, a page and a token
// (init_req_max_new_tokens); a stated one is cut to it.
func TestLongestOutput(t *testing.T) {
	for _, c := range []struct{ stated, context, want int }{{0, 4096, 1967}, {1967, 4096, 1967}, {1968, 4096, 1967}, {5, 4096, 5}, {0, 100, 88}} {
		cfg := base()
		cfg.PageSize, cfg.ContextLen = 16, c.context
		s, _ := newScheduler(cfg)
		r := req("a", 10, c.stated, 0)
		if s.Receive(r); r.MaxNew != c.want {
			t.Errorf("%+v: got %d", c, r.MaxNew)
		}
	}
}

// A token is consecutive when the result before had one of the request too.
func TestConsecutiveTokens(t *testing.T) {
	s, w := newScheduler(base())
	if s.LastMode() != None || s.Live() != 0 {
		t.Errorf("at rest: got mode %d and %d live", s.LastMode(), s.Live())
	}
	a := req("a", 10, 50, 0)
	s.Receive(a)
	for i, want := range []bool{false, true} {
		if turn(s); a.Consecutive() != want || s.Live() != 1 {
			t.Errorf("result %d: consecutive %v with %d live, want %v and 1", i, a.Consecutive(), s.Live(), want)
		}
	}
	s.Receive(req("b", 10, 50, 0))
	if turn(s); s.LastMode() != Extend {
		t.Errorf("got mode %d, want a prefill", s.LastMode())
	}
	if turn(s); a.Consecutive() {
		t.Error("consecutive over the prefill of another")
	}
	if turn(s); w.steady != 2 {
		t.Errorf("got %d steady, want a and b", w.steady)
	}
	s.Skip()
	if turn(s); w.steady != 2 || a.Consecutive() {
		t.Error("consecutive over an empty batch")
	}
}

// The next chunk takes what is promised to nobody, and the whole budget when there is
// no such room: it must go on.
func TestNextChunk(t *testing.T) {
	for _, c := range []struct{ room, want int }{{1000, 64}, {64, 64}, {63, 63}, {1, 1}, {0, 64}, {-5, 64}} {
		cfg := base()
		cfg.ChunkSize = 64
		s, _ := newScheduler(cfg)
		r := req("a", 200, 5, 0)
		s.Receive(r)
		a := s.newAdder()
		a.totalOffset = a.RemTotal() - float64(c.room)
		if a.addChunked(r); r.Extend() != c.want {
			t.Errorf("room for %d: got a chunk of %d, want %d", c.room, r.Extend(), c.want)
		}
	}
}

// Known ends are simulated in order of what is left, running requests among them, and
// give back what they occupy.
func TestIgnoreEOSEnds(t *testing.T) {
	for _, c := range []struct {
		name                  string
		pool, running, output int // outputs of the one that runs and of the newcomer
		want                  bool
	}{
		{"the first to end frees its prompt", 260, 10, 100, true},
		{"the running one takes its share", 400, 100, 100, false},
		{"and fits in more", 404, 100, 100, true},
		{"too little until the first end", 220, 10, 100, false},
	} {
		cfg := base()
		cfg.TotalTokens, cfg.MaxRunning = c.pool, 8
		s := New(cfg, kv.NewCache(c.pool, 1, nil), nil, &log{})
		a, b := req("a", 100, c.running, 0), req("b", 100, c.output, 0)
		a.IgnoreEOS, b.IgnoreEOS = true, true
		s.Receive(a)
		turn(s)
		s.Receive(b)
		if got := turn(s).Mode == Extend; got != c.want {
			t.Errorf("%s: admitted %v, want %v", c.name, got, c.want)
		}
	}
}

// A page's remainder of the chunk cuts a second request; the first goes on without the
// rest of its prompt, as upstream, and takes as many steps either way.
func TestSecondCut(t *testing.T) {
	for _, stepwise := range []bool{false, true} {
		cfg := base()
		cfg.PageSize, cfg.ChunkSize, cfg.MaxRunning, cfg.Stepwise = 4, 61, 4, stepwise
		s := New(cfg, kv.NewCache(2000, 4, nil), nil, &log{})
		a, b := req("a", 202, 5, 0), req("b", 90, 5, 0)
		b.IgnoreEOS = true
		s.Receive(a)
		s.Receive(b)
		if got := turn(s); got.Tokens[0] != 60 || got.Tokens[1] != 1 {
			t.Fatalf("first step: got %v tokens, want 60 and 1", got.Tokens)
		}
		for range 12 {
			turn(s)
		}
		if a.Outputs() != 5 || b.Outputs() != 5 || !a.done() || !b.done() {
			t.Errorf("stepwise %v: got %d and %d outputs, want 5 each and the end", stepwise, a.Outputs(), b.Outputs())
		}
	}
}

// A mixed step takes the running requests without those that ended, and evicts for
// their tokens.
func TestMixing(t *testing.T) {
	cfg := base()
	cfg.MixedChunk, cfg.MaxRunning, cfg.TotalTokens = true, 4, 130
	s, _ := newScheduler(cfg)
	s.Receive(req("cached", 98, 1, 0))
	turn(s)
	s.Receive(req("short", 1, 2, 0))
	s.Receive(req("long", 9, 9, 0))
	turn(s)
	turn(s)
	s.Receive(req("new", s.Cache().Free(), 2, 0))
	if b := turn(s); b.Mode != Mixed || names(b.Reqs) != "new long" {
		t.Errorf("got mode %d of %s, want a mixed step of new and long", b.Mode, names(b.Reqs))
	}
}

// A request aborted between its prefill and its first decode step ends with that step.
func TestAbortBeforeTheFirstDecode(t *testing.T) {
	s, w := newScheduler(base())
	a := req("a", 10, 40, 0)
	s.Receive(a)
	turn(s)
	s.Abort(func(r *Req) bool { return r == a })
	turn(s)
	if len(w.ended) != 1 || a.Outputs() != 2 {
		t.Errorf("got %v ended with %d outputs, want a with 2", w.ended, a.Outputs())
	}
	turn(s)
	clean(t, s)
}

// Exactly enough is enough, and a request that has ended is no victim.
func TestPreemptionExactly(t *testing.T) {
	for _, c := range []struct {
		output int
		want   int
	}{{222, 1}, {223, 2}} {
		cfg := base()
		cfg.Priorities, cfg.MaxRunning, cfg.TotalTokens, cfg.Conservative = true, 3, 600, 2
		s, w := newScheduler(cfg)
		for i, p := range []int{40, 20, 0} {
			s.Receive(req(string(rune('a'+i)), 20, 160, p))
		}
		turn(s)
		s.Receive(req("u", 20, c.output, 70))
		if turn(s); len(w.preempted) != c.want {
			t.Errorf("%d tokens to come: preempted %v, want %d", c.output, w.preempted, c.want)
		}
	}
	cfg := base()
	cfg.Priorities = true
	s, w := newScheduler(cfg)
	s.Receive(req("ends", 20, 2, 0))
	s.Receive(req("stays", 20, 30, 60))
	turn(s)
	turn(s)
	s.Receive(req("u", 20, 5, 65))
	turn(s)
	if len(w.preempted) > 0 {
		t.Errorf("preempted %v, which had ended", w.preempted)
	}
	for range 60 {
		turn(s)
	}
	clean(t, s)
}

// While decode steps are owed, a prompt cut into chunks is stored once and no further
// than it was computed.
func TestDeferredChunkIsStoredOnce(t *testing.T) {
	cfg := base()
	cfg.ChunkSize, cfg.DecodeCredits, cfg.MaxRunning = 64, 2, 4
	s, _ := newScheduler(cfg)
	s.Receive(req("a", 10, 50, 0))
	turn(s)
	turn(s)
	turn(s)
	r := req("long", 200, 5, 0)
	s.Receive(r)
	turn(s)
	for range 2 {
		if b := turn(s); b.Mode != Decode || r.Prefix() != 64 {
			t.Errorf("owed step: got mode %d behind %d tokens, want a decode step behind 64", b.Mode, r.Prefix())
		}
	}
	if b := turn(s); b.Prefix[0] != 64 || b.Tokens[0] != 64 {
		t.Errorf("next chunk: got %d behind %d, want 64 behind 64", b.Tokens[0], b.Prefix[0])
	}
}

// Without chunks nothing is mixed, whatever enable_mixed_chunk says.
func TestNoMixingWithoutChunks(t *testing.T) {
	for _, chunk := range []int{512, -1} {
		cfg := base()
		cfg.MixedChunk, cfg.ChunkSize = true, chunk
		s, _ := newScheduler(cfg)
		s.Receive(req("a", 10, 50, 0))
		turn(s)
		s.Receive(req("b", 10, 50, 0))
		if got, want := turn(s).Mode == Mixed, chunk > 0; got != want {
			t.Errorf("chunks of %d: mixed %v, want %v", chunk, got, want)
		}
	}
}

// A request opens a page with its next token when what it holds fills its pages.
func TestNeededPages(t *testing.T) {
	c := base()
	c.PageSize = 4
	s, _ := newScheduler(c)
	reqs := []*Req{req("full", 8, 8, 0), req("part", 7, 8, 0), req("also full", 4, 8, 0)}
	for _, r := range reqs {
		r.hold.Committed = r.Input
	}
	if got := s.needed(reqs); got != 8 {
		t.Errorf("got %d tokens, want two pages of 4", got)
	}
}
