package sched

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// log is a Watcher that notes ends and aborts.
type log struct {
	ended, aborted, preempted []string
	steady                    int
	ratio                     float64 // after the last retraction
}

func (l *log) Filling(*Adder)                          {}
func (l *log) Tried(*Adder, *Req, Verdict, bool, bool) {}
func (l *log) Retracted(_ []*Req, ratio float64)       { l.ratio = ratio }
func (l *log) Steady(n int)                            { l.steady += n }
func (l *log) Published([]kv.Event)                    {}
func (l *log) Aborted(r *Req, why string)              { l.aborted = append(l.aborted, r.Name+": "+why) }
func (l *log) Preempted(v []*Req) {
	for _, r := range v {
		l.preempted = append(l.preempted, r.Name)
	}
}
func (l *log) Emitted(r *Req) {
	if r.done() {
		l.ended = append(l.ended, r.Name)
	}
}

func base() Config {
	return Config{
		TotalTokens: 2000, MaxRunning: 2, ContextLen: 4096, ChunkSize: 512, MaxPrefill: 16384, PageSize: 1, Policy: FCFS, Conservative: 1,
		Tuning: Untuned(), PreemptThreshold: 10, DecodeLogInterval: 40, Seed: 1,
	}
}

func newScheduler(c Config) (*Scheduler, *log) {
	w := &log{}
	return New(c, kv.NewCache(c.TotalTokens, c.PageSize, kv.NewTree(c.PageSize, kv.LRU, nil)), nil, w), w
}

func req(name string, prompt, output, priority int) *Req {
	stream := uint64(0)
	for _, c := range name {
		stream = stream*131 + uint64(c)
	}
	return &Req{
		Name: name, Prompt: []engines.Segment{{Stream: stream, Count: prompt}}, Input: prompt, MaxNew: output, Priority: priority,
		Next: func(j int) engines.Segment { return engines.Segment{Stream: stream + 1<<40, Start: j, Count: 1 << 20} },
	}
}

// turn is one iteration of the normal loop.
func turn(s *Scheduler) *Batch {
	b := s.Next()
	if b == nil {
		s.Idle()
		return nil
	}
	s.Process(b.Mode, b.Reqs, b.Decoding)
	return b
}

// advance runs one iteration up to its launch or its wait.
func advance(l *Loop) *Launch {
	o := l.Turn()
	if o == nil && !l.Waits() {
		l.Rest()
	}
	return o
}

func names(reqs []*Req) string {
	var out []string
	for _, r := range reqs {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

func TestPriorityOrder(t *testing.T) {
	for _, low := range []bool{false, true} {
		c := base()
		c.Priorities, c.LowFirst, c.MaxRunning = true, low, 1
		s, w := newScheduler(c)
		for i, p := range []int{3, 9, 1} {
			s.Receive(req(string(rune('a'+i)), 10, 2, p))
		}
		for range 12 {
			turn(s)
		}
		want := map[bool]string{false: "b a c", true: "c a b"}[low]
		if got := strings.Join(w.ended, " "); got != want {
			t.Errorf("low first %v: got %s, want %s", low, got, want)
		}
	}
}

// A running request gives way when the newcomer is more urgent by more than the
// threshold, and not at the threshold.
func TestPreemption(t *testing.T) {
	for _, c := range []struct {
		difference int
		off        bool
		want       string
	}{{11, false, "r"}, {10, false, ""}, {11, true, ""}} {
		cfg := base()
		cfg.Priorities, cfg.MaxRunning, cfg.NoPreemption = true, 1, c.off
		s, w := newScheduler(cfg)
		s.Receive(req("r", 10, 50, 0))
		turn(s)
		turn(s)
		s.Receive(req("u", 10, 3, c.difference))
		turn(s)
		if got := strings.Join(w.preempted, " "); got != c.want {
			t.Errorf("difference %d, off %v: preempted %q, want %q", c.difference, c.off, got, c.want)
		}
		for range 120 {
			turn(s)
		}
		if len(w.ended) != 2 {
			t.Errorf("difference %d: %v ended, want both", c.difference, w.ended)
		}
		clean(t, s)
	}
}

func TestFullQueueAbortsTheWorse(t *testing.T) {
	c := base()
	c.MaxQueued, c.Priorities = 1, true
	s, w := newScheduler(c)
	s.Receive(req("a", 10, 2, 1))
	s.Receive(req("b", 10, 2, 1)) // no better: it is the one aborted
	s.Receive(req("c", 10, 2, 5)) // better: a goes
	want := []string{"b: The request queue is full.", "a: The request is aborted by a higher priority request."}
	if fmt.Sprint(w.aborted) != fmt.Sprint(want) || names(s.Waiting()) != "c" {
		t.Errorf("got %v with %s waiting, want %v and c", w.aborted, names(s.Waiting()), want)
	}
}

func TestShuffleIsPythons(t *testing.T) {
	list := strings.Fields("q1 q2 q3 q4 q5 q6 q7 q8")
	newTwister(1).shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	// random.seed(1); random.shuffle(list) of CPython 3.11
	if got, want := strings.Join(list, " "), "q4 q7 q2 q6 q8 q1 q5 q3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAbortedChunkGivesItsMemoryBack(t *testing.T) {
	c := base()
	c.ChunkSize = 64
	s, w := newScheduler(c)
	r := req("long", 300, 5, 0)
	s.Receive(r)
	turn(s)
	if s.Chunked() != r {
		t.Fatal("the prompt was not cut")
	}
	s.Abort(func(x *Req) bool { return x == r })
	turn(s)
	if fmt.Sprint(w.aborted) != "[long: ]" {
		t.Errorf("got %v, want the chunked request", w.aborted)
	}
	clean(t, s)
}

// clean fails unless every slot, lock and token is returned.
func clean(t testing.TB, s *Scheduler) {
	t.Helper()
	c := s.Cache()
	switch {
	case s.Slots() != s.c.MaxRunning || s.Live() != 0:
		t.Errorf("%d slots free and %d requests live, want %d and none", s.Slots(), s.Live(), s.c.MaxRunning)
	case c.Protected() != 0:
		t.Errorf("%d tokens stay locked", c.Protected())
	case c.Free()+c.Evictable() != c.Total():
		t.Errorf("%d tokens free and %d evictable of %d", c.Free(), c.Evictable(), c.Total())
	case len(s.Waiting()) > 0 || len(s.Running().Reqs) > 0 || s.Chunked() != nil:
		t.Error("a request is left behind")
	}
}

// scenarios is how many random runs a test makes: BLIS_FUZZ_SCENARIOS, or few.
func scenarios(few int) int {
	if n, err := strconv.Atoi(os.Getenv("BLIS_FUZZ_SCENARIOS")); err == nil {
		return n
	}
	if testing.Short() {
		return few / 10
	}
	return few
}

// TestRandomRunsLeakNothing drives random configurations to their end.
func TestRandomRunsLeakNothing(t *testing.T) {
	keep.Rule(t, "SIM-7")
	for seed := range scenarios(300) {
		if err := randomRun(t, uint64(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzRandomRunsLeakNothing(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := randomRun(t, seed); err != nil {
			t.Fatal(err)
		}
	})
}

func randomConfig(rng *rand.Rand) (Config, *kv.Tree) {
	pick := func(list ...int) int { return list[rng.IntN(len(list))] }
	c := base()
	c.PageSize = pick(1, 1, 4, 16)
	c.TotalTokens = pick(400, 800, 3000) / c.PageSize * c.PageSize
	c.MaxRunning, c.ChunkSize = pick(1, 3, 16), pick(-1, 32, 64, 512)
	c.Policy = Policies()[rng.IntN(len(Policies()))]
	c.Conservative = []float64{0.05, 0.3, 1}[rng.IntN(3)]
	c.MixedChunk, c.Overlap = rng.IntN(4) == 0, rng.IntN(2) == 0
	c.Priorities = (c.Policy == FCFS || c.Policy == LOF) && rng.IntN(4) == 0
	c.LowFirst, c.NoPreemption = rng.IntN(2) == 0, rng.IntN(4) == 0
	if rng.IntN(6) == 0 {
		c.MaxQueued = 4
	}
	if rng.IntN(6) == 0 {
		c.PrefillMax = pick(1, 2)
	}
	if rng.IntN(6) == 0 {
		c.DecodeCredits = pick(1, 5)
	}
	var tree *kv.Tree
	if rng.IntN(4) > 0 {
		tree = kv.NewTree(c.PageSize, kv.Policies()[rng.IntN(7)], nil)
	}
	return c, tree
}

func randomRun(t testing.TB, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 99))
	c, tree := randomConfig(rng)
	w := &log{}
	s := New(c, kv.NewCache(c.TotalTokens, c.PageSize, tree), nil, w)
	l := NewLoop(s)
	total := 5 + rng.IntN(40)
	sent := 0
	for turns := 0; sent < total || len(w.ended)+len(w.aborted) < total || l.InFlight() > 0; turns++ {
		if turns > 20000 {
			return fmt.Errorf("stuck with %d of %d ended (%+v)", len(w.ended)+len(w.aborted), total, c)
		}
		if sent < total && rng.IntN(3) == 0 {
			r := req(fmt.Sprintf("q%d", sent), 1+rng.IntN(c.TotalTokens/3), 1+rng.IntN(60), rng.IntN(30))
			if rng.IntN(2) == 0 {
				r.Prompt = []engines.Segment{{Stream: 5, Count: r.Input}}
			}
			r.IgnoreEOS = rng.IntN(2) == 0
			r.StopAt = rng.IntN(30)
			s.Receive(r)
			sent++
		}
		if rng.IntN(40) == 0 {
			victim := fmt.Sprintf("q%d", rng.IntN(total))
			s.Abort(func(r *Req) bool { return r.Name == victim })
		}
		if !l.Waits() {
			advance(l)
		}
		if l.Waits() {
			l.Settle()
		}
		if c := s.Cache(); c.Free() < 0 || c.Free()+c.Evictable()+c.Protected() > c.Total() {
			return fmt.Errorf("free %d, evictable %d, protected %d of %d", c.Free(), c.Evictable(), c.Protected(), c.Total())
		}
	}
	for range 3 {
		if !l.Waits() {
			advance(l)
		}
	}
	clean(t, s)
	return nil
}

// Without a radix cache, requests known to run to their limit are admitted by
// simulating their ends. When the first of two of 100 + 50 tokens ends, both hold 50
// outputs, which must fit beside the prompts and the slot the first is charged on top,
// with one more to spare for each: 100 + 1 + 100 + 2 x 50 + 2 < 304.
func TestIgnoreEOSAdmission(t *testing.T) {
	for _, c := range []struct {
		total, want int // tokens of the pool, requests of the first step
	}{{303, 1}, {304, 2}, {1000, 2}, {152, 1}} {
		cfg := base()
		cfg.TotalTokens, cfg.MaxRunning = c.total, 8
		s := New(cfg, kv.NewCache(c.total, 1, nil), nil, &log{})
		for _, name := range []string{"a", "b"} {
			r := req(name, 100, 50, 0)
			r.IgnoreEOS = true
			s.Receive(r)
		}
		if got := len(turn(s).Reqs); got != c.want {
			t.Errorf("pool of %d: got %d requests, want %d", c.total, got, c.want)
		}
	}
}

// A long request is cut to what is left of the chunk on the same path.
func TestIgnoreEOSChunk(t *testing.T) {
	cfg := base()
	cfg.ChunkSize = 64
	s := New(cfg, kv.NewCache(cfg.TotalTokens, 1, nil), nil, &log{})
	r := req("a", 100, 5, 0)
	r.IgnoreEOS = true
	s.Receive(r)
	if b := turn(s); b.Tokens[0] != 64 || s.Chunked() != r {
		t.Errorf("first step: got %d tokens, chunked %v; want 64 and more to come", b.Tokens[0], s.Chunked() != nil)
	}
	if b := turn(s); b.Prefix[0] != 64 || b.Tokens[0] != 36 || s.Chunked() != nil {
		t.Errorf("second step: got %d behind %d, want the other 36", b.Tokens[0], b.Prefix[0])
	}
}

// The least urgent go first, the latest of equals before the others, and as many as
// the newcomer's tokens take.
func TestPreemptionTakesTheWorstFirst(t *testing.T) {
	cfg := base()
	cfg.Priorities, cfg.MaxRunning, cfg.TotalTokens = true, 3, 400
	s, w := newScheduler(cfg)
	for i, p := range []int{5, 0, 0} {
		s.Receive(req(string(rune('a'+i)), 20, 60, p))
	}
	for range 3 {
		turn(s)
	}
	s.Receive(req("u", 20, 30, 50))
	turn(s)
	if got := strings.Join(w.preempted, " "); got != "c" {
		t.Errorf("got %q, want the later of the two at priority 0", got)
	}
	for range 400 {
		turn(s)
	}
	if len(w.ended) != 4 {
		t.Errorf("%v ended, want all four", w.ended)
	}
	clean(t, s)
}

// One request that cannot grow although it is alone is aborted.
func TestLastRequestThatDoesNotFitIsAborted(t *testing.T) {
	keep.Rule(t, "SIM-7")
	cfg := base()
	cfg.TotalTokens = 64
	s, w := newScheduler(cfg)
	w.ratio = -1
	r := req("a", 20, 30, 0)
	s.Receive(r)
	turn(s)
	r.MaxNew = 500 // longer than admission was told
	for range 60 {
		if b := turn(s); b != nil && len(w.aborted) > 0 {
			t.Error("its last step was launched")
		}
	}
	if len(w.aborted) != 1 || !strings.Contains(w.aborted[0], "Out of memory") || w.ratio != 0 {
		t.Errorf("got %v, want the request aborted for want of memory", w.aborted)
	}
	clean(t, s)
}
