package enginetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// Run runs the suite on one engine, with n random scenarios.
func Run(t *testing.T, make Maker, n int) {
	t.Run("exact fit", func(t *testing.T) { exactFit(t, make) })
	t.Run("one block over", func(t *testing.T) { oneOver(t, make) })
	t.Run("pools", func(t *testing.T) { pools(t, make, max(20, n/3)) })
	t.Run("shapes", func(t *testing.T) { shapes(t, make) })
	t.Run("identifiers", func(t *testing.T) { identifiers(t, make) })
	t.Run("random", func(t *testing.T) { random(t, make, n) })
}

func base() Setup {
	return Setup{Blocks: 32, BlockTokens: 16, MaxSeqs: 8, StepTokens: 128, MaxLength: 256, Caching: true, Shape: "full"}
}

func ask(id int, prompt, output int) Arrival {
	drafts := substream.New(1, "ask", "drafts")
	return Arrival{Request: engines.Request{ID: engines.RequestID(id), MaxTokens: output, Drafts: drafts.At(uint64(id)),
		Prompt: []engines.Segment{{Stream: uint64(id), Count: prompt}}, Output: engines.Segment{Stream: uint64(id) + 1<<32}}}
}

// exactFit: one request that needs every block runs to its end.
func exactFit(t *testing.T, make Maker) {
	s := base()
	s.Blocks = s.MaxLength / s.BlockTokens
	e, err := make(s)
	if err != nil {
		t.Fatalf("a pool of %d blocks of %d tokens for %d tokens: %v", s.Blocks, s.BlockTokens, s.MaxLength, err)
	}
	res, err := Drive(e, []Arrival{ask(1, 100, s.MaxLength-100)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Emitted, s.MaxLength-100; got != want {
		t.Errorf("emitted: got %d, want %d", got, want)
	}
}

// oneOver: the same request with one block less is refused, at start-up or at
// submission, and never retried for ever.
func oneOver(t *testing.T, make Maker) {
	s := base()
	s.Blocks = s.MaxLength/s.BlockTokens - 1
	e, err := make(s)
	if err != nil {
		return
	}
	a := ask(1, 100, s.MaxLength-100)
	if no := e.Submit(&a.Request); no == nil || no.Reason == "" {
		t.Errorf("a request of %d tokens was taken by a pool of %d", s.MaxLength, s.Blocks*s.BlockTokens)
	}
}

// pools: of n random setups, the least pool that takes the longest request also runs it to
// its end, alone or among others that want the same blocks, and a pool with one block less
// refuses it with a reason. Where every layer attends to everything that least pool holds
// the request's tokens and no more; the last one's KV may be left out, nothing reads it.
func pools(t *testing.T, make Maker, n int) {
	ran := 0
	for seed := range n {
		s, arrivals := Scenario(uint64(seed))
		least, reason := leastPool(s, make)
		if least == 0 {
			continue // refused at any size
		}
		ran++
		if reason == "" {
			t.Errorf("seed %d: %d blocks are refused without a reason", seed, least-1)
		}
		if s.Shape == "full" && s.Drafts == 0 && least != s.blocksFor(s.MaxLength) && least != s.blocksFor(s.MaxLength-1) {
			t.Errorf("seed %d: the least pool is %d blocks of %d tokens for %d tokens", seed, least, s.BlockTokens, s.MaxLength)
		}
		s.Blocks = least
		whole := longest(s)
		for _, crowd := range [][]Arrival{{whole}, append(clone(arrivals), among(whole, len(arrivals))...)} {
			e, err := make(s)
			if err != nil {
				t.Fatal(err)
			}
			res, err := Drive(e, crowd, nil)
			if err != nil {
				t.Fatalf("seed %d, %d requests: %v\n%+v", seed, len(crowd), err, s)
			}
			if id := crowd[len(crowd)-1].Request.ID; res.Ended[id] != engines.Length {
				t.Errorf("seed %d: of %d requests the longest ended %d, want %d", seed, len(crowd), res.Ended[id], engines.Length)
			}
		}
	}
	t.Logf("%d of %d setups ran, the rest were refused at any size", ran, n)
	if ran*2 < n {
		t.Errorf("only %d of %d setups ran", ran, n)
	}
}

// blocksFor is how many blocks hold n tokens.
func (s *Setup) blocksFor(n int) int { return (n + s.BlockTokens - 1) / s.BlockTokens }

// longest is a request of as many tokens as s allows.
func longest(s Setup) Arrival { return ask(1<<20, s.MaxLength/2, s.MaxLength-s.MaxLength/2) }

// among is two of a that come when others are there.
func among(a Arrival, others int) []Arrival {
	b := a
	b.Request.ID++
	a.At, b.At = others, others
	return []Arrival{a, b}
}

// leastPool is the least number of blocks with which s takes its longest request, 0 when
// it never does, and why one block less is refused.
func leastPool(s Setup, make Maker) (blocks int, reason string) {
	refused := func(blocks int) string {
		s.Blocks = blocks
		e, err := make(s)
		if err != nil {
			return err.Error()
		}
		a := longest(s)
		if no := e.Submit(&a.Request); no != nil {
			return no.Reason
		}
		return ""
	}
	low, high := 0, 8*s.MaxLength/s.BlockTokens+64
	if refused(high) != "" {
		return 0, ""
	}
	for high-low > 1 {
		if mid := (low + high) / 2; refused(mid) != "" {
			low = mid
		} else {
			high = mid
		}
	}
	return high, refused(low)
}

// shapes: every layout runs or is refused with a reason.
func shapes(t *testing.T, make Maker) {
	for _, shape := range Shapes() {
		t.Run(shape, func(t *testing.T) {
			s := base()
			s.Shape, s.Blocks = shape, 128
			e, err := make(s)
			if err != nil {
				if err.Error() == "" {
					t.Error("refused without a reason")
				}
				return
			}
			if _, err := Drive(e, []Arrival{ask(1, 100, 40), ask(2, 30, 60), ask(3, 200, 30)}, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// identifiers: a rejected or ended id leaves nothing behind that a later request
// could meet, and aborting an unknown id changes nothing.
func identifiers(t *testing.T, make Maker) {
	s := base()
	e, err := make(s)
	if err != nil {
		t.Fatal(err)
	}
	e.Abort(7)
	if no := e.Submit(&[]Arrival{ask(7, s.MaxLength+1, 1)}[0].Request); no == nil {
		t.Fatal("a prompt longer than the maximum was taken")
	}
	for range 3 {
		res, err := Drive(e, []Arrival{ask(7, 50, 20)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Ended[7]; got != engines.Length {
			t.Errorf("finish: got %d, want %d", got, engines.Length)
		}
		e.Abort(7)
	}
}

// random runs n seeded scenarios, each with and without the engine's shortcuts, and
// demands equal logs.
func random(t *testing.T, make Maker, n int) {
	ran := 0
	for seed := range n {
		s, arrivals := Scenario(uint64(seed))
		var logs [2]bytes.Buffer
		refused := false
		for k, plain := range []bool{false, true} {
			s.Plain = plain
			e, err := make(s)
			if err != nil {
				refused = true
				break
			}
			if _, err := Drive(e, clone(arrivals), &logs[k]); err != nil {
				t.Fatalf("seed %d plain %v: %v\n%+v", seed, plain, err, s)
			}
		}
		if refused {
			continue
		}
		ran++
		if !bytes.Equal(logs[0].Bytes(), logs[1].Bytes()) {
			t.Fatalf("seed %d: shortcuts change the outcome\n%+v\n%s", seed, s, firstDifference(logs[0].Bytes(), logs[1].Bytes()))
		}
	}
	t.Logf("%d of %d scenarios ran, the rest were refused at start-up", ran, n)
	if ran*2 < n {
		t.Errorf("only %d of %d scenarios ran", ran, n)
	}
}

func clone(list []Arrival) []Arrival { return append([]Arrival(nil), list...) }

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := 0; i < len(x) && i < len(y); i++ {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d\nwith    %s\nwithout %s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines with, %d without", len(x), len(y))
}

// Scenario draws a setup and its arrivals from a seed.
func Scenario(seed uint64) (Setup, []Arrival) {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	pick := func(list ...int) int { return list[rng.IntN(len(list))] }
	s := Setup{BlockTokens: pick(1, 4, 16, 32), MaxSeqs: pick(1, 3, 8, 40), StepTokens: pick(40, 64, 256, 2048),
		MaxLength: pick(64, 200, 512), Caching: rng.IntN(3) > 0, Async: rng.IntN(2) == 0, Pipeline: 1,
		Priority: rng.IntN(4) == 0, Shape: "full"}
	if rng.IntN(6) == 0 {
		s.Pipeline = pick(2, 4)
	}
	if rng.IntN(6) == 0 {
		s.Drafts = pick(1, 3)
	}
	if rng.IntN(3) == 0 {
		s.Shape = Shapes()[rng.IntN(len(Shapes()))]
	}
	s.Blocks = s.MaxLength/s.BlockTokens*pick(1, 1, 2, 6) + pick(1, 2, 20)
	n := pick(1, 5, 30, 80)
	at := 0
	var arrivals []Arrival
	for i := range n {
		at += rng.IntN(pick(1, 3, 20))
		prompt := 1 + rng.IntN(s.MaxLength-1)
		if rng.IntN(2) == 0 {
			prompt = 1 + rng.IntN(s.MaxLength/4)
		}
		a := ask(i+1, prompt, 1+rng.IntN(s.MaxLength/2))
		a.At = at
		a.Request.Arrival, a.Request.Priority = float64(at), rng.IntN(3)
		if rng.IntN(3) == 0 {
			a.Request.StopAt = 1 + rng.IntN(20)
		}
		if rng.IntN(8) == 0 {
			a.Request.MinTokens = min(a.Request.MaxTokens, rng.IntN(12))
		}
		if shared := rng.IntN(prompt + 1); rng.IntN(2) == 0 && shared > 0 && shared < prompt {
			a.Request.Prompt = []engines.Segment{{Stream: 1 << 40, Count: shared}, {Stream: uint64(i), Count: prompt - shared}}
		}
		if rng.IntN(8) == 0 {
			a.AbortAt, a.During = at+1+rng.IntN(30), rng.IntN(2) == 0
		}
		arrivals = append(arrivals, a)
	}
	return s, arrivals
}
