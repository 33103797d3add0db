package sched

import (
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

// own gives every block of a request an identity of its own.
type own int

func (o own) BlockHash(i int) (kv.BlockHash, int) { return kv.BlockHash(int(o)*1000 + i + 1), 1 }

func request(n, prompt, limit int) *Request {
	return &Request{Sequence: kv.Sequence{Hashes: own(n), Prompt: prompt, Tokens: prompt}, Number: uint64(n), Arrival: float64(n), MaxTokens: limit}
}

// bench is a loop with its last batch.
type bench struct {
	*Loop
	t   *testing.T
	out Output
}

func newBench(t *testing.T, change func(*Config), requests ...*Request) *bench {
	t.Helper()
	c := config()
	change(&c)
	l, err := NewLoop(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		l.Scheduler.Add(r)
	}
	return &bench{Loop: l, t: t, out: Output{Verbose: true}}
}

// tokens launches a batch and returns what it schedules of each request.
func (b *bench) tokens(of ...*Request) []int {
	b.t.Helper()
	got := make([]int, len(of))
	batch := b.Launch()
	if batch == nil {
		return got
	}
	for _, e := range batch.Entries {
		if i := slices.Index(of, e.Request); i >= 0 {
			got[i] = e.Tokens
		}
	}
	return got
}

func (b *bench) want(step string, got []int, want ...int) {
	b.t.Helper()
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: got %v tokens, want %v", step, got, want)
	}
}

// A drafter's input slots come off the batch, one set a request.
func TestDraftSlotsComeOffTheBudget(t *testing.T) {
	rs := []*Request{request(1, 3, 4), request(2, 3, 4), request(3, 3, 4)}
	b := newBench(t, func(c *Config) {
		c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Speculative = 3, 8, &Speculative{Method: "draft_model", Tokens: 2}
	}, rs...)
	b.want("8 slots, 1 beside each prompt of 3", b.tokens(rs...), 3, 3, 0)
}

// Drafts are proposed once a batch: with two in flight, the step between schedules
// nothing of a request that waits for its tokens.
func TestDraftsAreVerifiedOnce(t *testing.T) {
	r := request(1, 4, 20)
	b := newBench(t, func(c *Config) {
		c.PipelineParallel, c.Speculative = 2, &Speculative{Method: "ngram", Tokens: 2}
	}, r)
	b.want("prompt", b.tokens(r), 4)
	batch := b.Oldest()
	b.Complete(&b.out)
	b.Scheduler.Propose(batch, func(*Request) int { return 2 })
	b.want("a token and its drafts", b.tokens(r), 3)
	b.want("while they run", b.tokens(r), 0)
	if !r.Pending() {
		t.Error("not pending with its batch in flight")
	}
	batch = b.Oldest()
	batch.Entries[0].Accepted = 2
	b.Complete(&b.out)
	if d := b.out.Drafts; d.Drafts != 1 || d.Tokens != 2 || d.Accepted != 2 || !slices.Equal(d.PerPosition, []int{1, 1}) {
		t.Errorf("got %+v, want one verification of two, both accepted", d)
	}
	b.Complete(&b.out)
	if d := b.out.Drafts; d.Drafts+d.Tokens+d.Accepted != 0 || !slices.Equal(d.PerPosition, []int{0, 0}) {
		t.Errorf("a batch without drafts: got %+v", d)
	}
}

// A cut verification is not topped up before it returns.
func TestAPartOfTheDraftsIsVerifiedOnce(t *testing.T) {
	r := request(1, 2, 20)
	b := newBench(t, func(c *Config) {
		c.PipelineParallel, c.LongPrefillTokenThreshold, c.Speculative = 2, 2, &Speculative{Method: "ngram", Tokens: 2}
	}, r)
	b.tokens(r)
	batch := b.Oldest()
	b.Complete(&b.out)
	b.Scheduler.Propose(batch, func(*Request) int { return 2 })
	b.want("a token and one draft of two", b.tokens(r), 2)
	b.want("while they run", b.tokens(r), 0)
}

// What runs without being visited is exact whenever somebody looks, and stands still
// when nothing may be scheduled.
func TestCruisingRequestsAreExactWhenSeen(t *testing.T) {
	r := request(1, 4, 40)
	b := newBench(t, func(c *Config) {}, r)
	for range 6 {
		b.Launch()
		b.Complete(&b.out)
	}
	if b.Scheduler.cruise.n != 1 {
		t.Fatal("the request does not cruise")
	}
	if got := b.Scheduler.Running()[0]; got.Tokens != 10 || got.Computed != 9 {
		t.Errorf("got %d tokens, %d computed, want 10 and 9", got.Tokens, got.Computed)
	}
	for range 3 {
		b.Launch()
		b.Complete(&b.out)
	}
	b.Scheduler.Pause(PausedAll)
	var batch Batch
	if b.Scheduler.Schedule(&batch); batch.Tokens != 0 {
		t.Errorf("paused: got %d tokens scheduled, want none", batch.Tokens)
	}
}

// One token to compute is padded to a decode's shape beside decodes alone.
func TestAnAdmittedTokenIsPaddedBesideDecodes(t *testing.T) {
	k := &Speculative{Method: "eagle", Tokens: 2}
	schedule := &Speculative{Method: "eagle", Tokens: 2, Schedule: [][]int{{1, 8, 2}}}
	for _, c := range []struct {
		name   string
		spec   *Speculative
		prompt int // of the request that runs
		want   int
	}{{"a decode runs", k, 4, 3}, {"a prompt runs", k, 40, 1}, {"drafts follow a schedule", schedule, 4, 1}, {"nothing runs", k, 0, 1}} {
		before, one := request(1, max(c.prompt, 1), 30), request(2, 1, 30)
		b := newBench(t, func(c *Config) { c.Speculative, c.LongPrefillTokenThreshold = &(*k), 8 }, before)
		b.Scheduler.config.Speculative = c.spec
		b.Scheduler.lookup, _ = c.spec.byRequests(8)
		if c.prompt == 0 {
			b.Scheduler.Abort(before)
		}
		b.tokens(before)
		b.Complete(&b.out)
		b.Scheduler.Add(one)
		if got := b.tokens(one); got[0] != c.want {
			t.Errorf("%s: got %d tokens, want %d", c.name, got[0], c.want)
		}
	}
}

// A victim that the step had scheduled returns its tokens and its drafts' slots.
func TestAVictimReturnsItsTokens(t *testing.T) {
	c := config()
	c.Speculative = &Speculative{Method: "draft_model", Tokens: 2}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	kept, victim := request(1, 4, 8), request(2, 8, 8)
	s.running = []*Request{kept, victim}
	b := Batch{Entries: []Entry{{Request: kept, Tokens: 4}, {Request: victim, Tokens: 8}}}
	left := budgets{tokens: 3, input: 2}
	s.preempt(&b, &left, victim, 1)
	if want := (budgets{tokens: 11, input: 11}); left != want || len(b.Entries) != 1 || len(b.Preempted) != 1 {
		t.Errorf("got %+v left, %d entries, %d preempted; want %+v, 1, 1", left, len(b.Entries), len(b.Preempted), want)
	}
	if running, waiting, _ := s.Counts(); running != 1 || waiting != 1 {
		t.Errorf("got %d running, %d waiting, want 1 and 1", running, waiting)
	}
}

// The k-th adapter beside max_loras others waits; those of one adapter count once.
func TestAdaptersCountOnce(t *testing.T) {
	var rs []*Request
	for i, adapter := range []int{1, 1, 2, 3, 0} {
		r := request(i+1, 4, 8)
		r.Adapter = adapter
		rs = append(rs, r)
	}
	b := newBench(t, func(c *Config) { c.MaxLoRAs = 2 }, rs...)
	b.want("two adapters a step", b.tokens(rs...), 4, 4, 4, 0, 4)
}

// A session's chunk replaces the token that was not computed, and what was drafted
// after it.
func TestAChunkIsTakenUpWhole(t *testing.T) {
	r := request(1, 4, 2)
	r.Resumable = true
	b := newBench(t, func(c *Config) { c.Speculative = &Speculative{Method: "ngram", Tokens: 2} }, r)
	b.tokens(r)
	batch := b.Oldest()
	b.Complete(&b.out)
	b.Scheduler.Propose(batch, func(*Request) int { return 2 })
	extended := 0
	b.Scheduler.Stream(r, Chunk{Tokens: 3, Extend: func() { extended++ }})
	b.tokens(r)
	b.Oldest().Entries[0].Accepted = 0
	b.Complete(&b.out)
	for range 2 { // outputs up to the session's limit
		b.tokens(r)
		batch = b.Oldest()
		b.Complete(&b.out)
		b.Scheduler.Propose(batch, func(*Request) int { return 2 })
	}
	if r.Blocked != AwaitsChunk {
		t.Fatalf("got blocked %d, want a session without input", r.Blocked)
	}
	b.Scheduler.Stream(r, Chunk{Tokens: 1, Extend: func() { extended++ }})
	if extended != 2 || r.Tokens != 10 || r.Prompt != 10 || r.Drafts() != 0 {
		t.Errorf("got %d extensions, %d tokens, %d of them prompt, %d drafts; want 2, 10, 10, 0", extended, r.Tokens, r.Prompt, r.Drafts())
	}
}

// A reset drops the tokens in flight of those that ran; they start over and emit as
// many as they would have.
func TestAResetDropsWhatIsInFlight(t *testing.T) {
	r := request(1, 4, 6)
	b := newBench(t, func(c *Config) { c.Async = true }, r)
	emitted := 0
	for n := 0; r.Status != Finished && n < 40; n++ {
		b.Launch()
		if n == 3 {
			b.Scheduler.ResetRunning()
			before := r.Tokens
			for b.InFlight() > 0 {
				b.Complete(&b.out)
			}
			if r.Tokens != before {
				t.Errorf("got %d tokens after the reset, want %d", r.Tokens, before)
			}
			continue
		}
		if b.Waits() {
			b.Complete(&b.out)
			emitted += b.out.Steady
			for _, e := range b.out.Events {
				emitted += e.Tokens
			}
		}
	}
	for b.InFlight() > 0 {
		b.Complete(&b.out)
	}
	if r.Pending() || r.dropped != 0 {
		t.Errorf("got pending %v, %d outputs left to drop, want none", r.Pending(), r.dropped)
	}
	if r.Status != Finished || emitted != 6 || r.Preemptions != 1 {
		t.Errorf("got %d tokens and %d preemptions, want 6 and 1", emitted, r.Preemptions)
	}
}

// A prompt whose next chunk would leave the drafter's modules too little to look
// ahead at gets a shorter chunk, or waits.
func TestChunksLeaveTheModulesTheirTokens(t *testing.T) {
	s, err := New(func() Config {
		c := config()
		c.Speculative = &Speculative{Method: "mtp", Tokens: 3, Modules: 3}
		return c
	}())
	if err != nil {
		t.Fatal(err)
	}
	r := request(1, 20, 4)
	for _, c := range []struct{ n, computed, want int }{{20, 0, 20}, {17, 0, 17}, {18, 0, 17}, {19, 0, 17}, {1, 17, 0}, {2, 17, 0}, {3, 17, 3}} {
		if got := s.clipToModules(r, c.n, c.computed); got != c.want {
			t.Errorf("%d of 20 tokens after %d: got %d, want %d", c.n, c.computed, got, c.want)
		}
	}
}

// A chunk ends where a state can be kept; for a drafter that is a block earlier.
func TestChunksEndWhereAStateIsKept(t *testing.T) {
	for _, c := range []struct {
		eagle             bool
		n, computed, want int
	}{{false, 40, 0, 32}, {false, 70, 0, 64}, {false, 6, 64, 6}, {true, 70, 0, 48}, {true, 22, 48, 22}, {false, 10, 0, 0}, {true, 10, 48, 10}} {
		conf := config()
		conf.AlignedMamba = true
		if c.eagle {
			conf.Speculative = &Speculative{Method: "eagle", Tokens: 2}
		}
		s := &Scheduler{config: conf}
		if got := s.clipToStates(request(1, 70, 4), c.n, c.computed); got != c.want {
			t.Errorf("eagle %v: %d of 70 tokens after %d: got %d, want %d", c.eagle, c.n, c.computed, got, c.want)
		}
	}
}

// Between two ranges the drafts of the one before hold.
func TestDraftsBetweenRanges(t *testing.T) {
	s := &Speculative{Method: "eagle", Tokens: 4, Schedule: [][]int{{1, 2, 4}, {5, 6, 9}}}
	got, err := s.byRequests(8)
	if want := []int{0, 4, 4, 4, 4, 4, 4, 4, 4}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	s.Schedule[1][2] = 1
	if got, _ := s.byRequests(8); !slices.Equal(got, []int{0, 4, 4, 4, 4, 1, 1, 1, 1}) {
		t.Errorf("got %v, want 4 up to the second range and 1 from there", got)
	}
}
