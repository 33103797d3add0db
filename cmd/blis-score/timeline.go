package main

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// watch simulates a scenario and keeps what it did over time.
func watch(w *world.World, s *spec.Scenario) (*spec.Result, *record.Timeline, error) {
	in, t := w.Sim(), &timeline{width: 1 << 12, measured: des.Never}
	in.Observer = t
	r, err := sim.Run(s, in)
	if err != nil {
		return nil, nil, err
	}
	return r, t.record(), nil
}

// timeline sums batches in bins. A run's length is known when it has ended, so bins of
// a power of two of microseconds are folded in pairs when they run out.
type timeline struct {
	bins     [96]bin
	width    des.Time
	used     int
	measured des.Time // when the first measured request was sent
}

type bin struct {
	weight, running, waiting, tokens int64 // weight is microseconds of batches
	kv                               float64
}

func (b *bin) add(o bin) {
	b.weight += o.weight
	b.running += o.running
	b.waiting += o.waiting
	b.tokens += o.tokens
	b.kv += o.kv
}

// Batch adds a batch to the bin it ends in.
func (t *timeline) Batch(b sim.BatchRecord) {
	at := int(b.End / t.width)
	for ; at >= len(t.bins); at = int(b.End / t.width) {
		for i := range t.bins {
			both := bin{}
			if 2*i+1 < len(t.bins) {
				both = t.bins[2*i]
				both.add(t.bins[2*i+1])
			}
			t.bins[i] = both
		}
		t.width *= 2
		t.used = (t.used + 1) / 2
	}
	long := int64(max(1, b.End-b.Launched))
	t.bins[at].add(bin{long, long * int64(b.Running), long * int64(b.Waiting), int64(b.Tokens), float64(long) * b.KVUsage})
	t.used = max(t.used, at+1)
}

// Request notes when measuring began.
func (t *timeline) Request(r sim.RequestRecord) {
	if r.Measured {
		t.measured = min(t.measured, r.Sent)
	}
}

// Instant is not drawn.
func (t *timeline) Instant(des.Time, sim.Load) {}

func (t *timeline) record() *record.Timeline {
	out := &record.Timeline{BinSeconds: float64(t.width) / 1e6}
	if t.measured != des.Never {
		out.Measured = float64(t.measured) / 1e6
	}
	mean := func(sum, weight, step float64) float64 {
		if weight == 0 {
			return 0
		}
		return math.Round(sum/weight*step) / step
	}
	for _, b := range t.bins[:t.used] {
		w := float64(b.weight)
		out.Running = append(out.Running, mean(float64(b.running), w, 100))
		out.Waiting = append(out.Waiting, mean(float64(b.waiting), w, 100))
		out.KV = append(out.KV, mean(b.kv, w, 1e4))
		out.Tokens = append(out.Tokens, mean(float64(b.tokens), out.BinSeconds, 10))
	}
	return out
}
