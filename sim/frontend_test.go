package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// passed runs a front end on what a client sends and returns what reaches the engine.
func passed(t *testing.T, price cost.FrontEnd, sent []sending) []sending {
	t.Helper()
	k := des.New[message]()
	engine := new(sink)
	f := &frontEnd{price: price, target: k.Add("engine", engine, 1000)}
	k.Add("client", &script{to: k.Add("front end", f, 1000), left: sent}, 1000)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	for k.Next() != des.Never {
		if err := k.Round(); err != nil {
			t.Fatal(err)
		}
	}
	return engine.got
}

// Against a plain list: requests pass one after the other, each then takes its own
// time, and one whose client gives up before it has passed never reaches the engine.
func TestFrontEndPassesWhatIsNotGivenUp(t *testing.T) {
	price := cost.FrontEnd{FixedSeconds: 3e-6, PerPromptToken: 1e-6, SerialPerRequest: 4e-6}
	dropped := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var sent, want []sending
		var free des.Time
		for now := range des.Time(60) {
			for range rng.IntN(3) {
				r := &request{serial: uint64(len(sent))}
				r.engine.Token.Prompt = rng.IntN(30)
				sent = append(sent, sending{now, classRequest, r})
				free = max(free, now) + 4
				enters, gone := free+3+des.Time(r.engine.Token.Prompt), now+des.Time(1+rng.IntN(60))
				if enters <= gone {
					want = append(want, sending{enters, classRequest, r}, sending{gone, classAbort, r})
				} else {
					dropped++
				}
				sent = append(sent, sending{gone, classAbort, r})
			}
		}
		in := func(a, b sending) int { return int(a.at - b.at) }
		slices.SortStableFunc(sent, in)
		got := passed(t, price, sent)
		order := func(a, b sending) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			if a.class != b.class {
				return int(a.class) - int(b.class)
			}
			return int(a.body.serial) - int(b.body.serial)
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %d messages, want %d", seed, len(got), len(want))
		}
	}
	if dropped < 1000 {
		t.Errorf("only %d requests were given up on the way", dropped)
	}
}

// A long queue is not moved for every request that leaves it.
func TestALongQueueIsNotMovedForEachRequest(t *testing.T) {
	const n = 200_000
	sent := make([]sending, n)
	for i := range sent {
		sent[i] = sending{0, classRequest, &request{serial: uint64(i)}}
	}
	start := time.Now()
	if got := passed(t, cost.FrontEnd{SerialPerRequest: 1e-6}, sent); len(got) != n {
		t.Fatalf("got %d requests, want %d", len(got), n)
	}
	if took := time.Since(start); took > 10*time.Second { // a fifth of a second; a minute if each moved the rest
		t.Errorf("%d queued requests took %v", n, took)
	}
}
