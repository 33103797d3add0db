package main

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload/client"
	"gonum.org/v1/gonum/mathext/prng"
)

// COV-12: the requests of every recorded frame are those that a second implementation draws, on a
// Mersenne Twister of other authors.
func TestRequestsOfEveryFrameMatchASecondGenerator(t *testing.T) {
	keep.Rule(t, "COV-12")
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	frames := map[spec.InferenceX]bool{}
	for i := range l.Units {
		c, _ := l.Units[i].RecordedConfiguration()
		if c == nil || c.Client == nil || c.Client.NumPrompts == nil {
			continue
		}
		k := c.Client
		frames[spec.InferenceX{ISL: k.InputLen, OSL: k.OutputLen, RangeRatio: k.RandomRangeRatio, Prompts: *k.NumPrompts, VocabSize: 151936}] = true
	}
	for x := range frames {
		if got, want := client.Draw(&x), drawn(&x, 0); !sameRequests(got, want) {
			t.Errorf("%+v: the two generators draw other requests", x)
		}
		if sameRequests(client.Draw(&x), drawn(&x, 1)) {
			t.Errorf("%+v: another seed draws the same requests", x)
		}
	}
	if len(frames) < 20 {
		t.Errorf("got %d frames, want those of every shape and concurrency", len(frames))
	}
}

func sameRequests(a, b client.Requests) bool {
	return slices.Equal(a.Input, b.Input) && slices.Equal(a.Output, b.Output) && slices.Equal(a.Offset, b.Offset)
}

// drawn is what numpy's legacy generator gives the client: each value the low bits of an output, as
// many as the span has, and the next output where they lie beyond it.
func drawn(x *spec.InferenceX, seed uint64) client.Requests {
	twister := prng.NewMT19937()
	twister.Seed(seed)
	draw := func(low, high int) []int32 {
		values := make([]int32, 0, x.Prompts)
		width := bits.Len(uint(high - low))
		for len(values) < x.Prompts {
			v := 0
			if width > 0 {
				v = int(twister.Uint32() % (1 << width))
			}
			if v <= high-low {
				values = append(values, int32(low+v))
			}
		}
		return values
	}
	input := draw(int(float64(x.ISL)*x.RangeRatio), x.ISL)
	output := draw(int(float64(x.OSL)*x.RangeRatio), x.OSL)
	return client.Requests{Input: input, Output: output, Offset: draw(0, x.VocabSize-1)}
}
