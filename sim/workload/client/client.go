// Package client reproduces benchmark clients bit for bit: the requests they
// draw, their order, their warm-up and how they keep requests outstanding.
//
// In: the client's own options. Out: a workload.Source that sends exactly the
// requests the client sent. Draws follow SemiAnalysisAI/InferenceX@843c6254
// utils/bench_serving/benchmark_serving.py and kimbochen/bench_serving@406abc35
// benchmark_serving.py, which draw alike and differ in their warm-up. Rule kept:
// COV-12 (Target Design §11.8).
package client

import (
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// Requests are the drawn lengths, in list order.
type Requests struct {
	Input, Output []int32
	Offset        []int32 // first token id before the request's index is added; nil without a vocabulary
}

// Draw makes every request of the random dataset: all input lengths, then all
// output lengths, then all token offsets, from one generator.
func Draw(x *spec.InferenceX) Requests {
	g := newMT19937(x.Seed)
	nominal, added := x.ISL, 0
	if t := x.Template; t != nil {
		nominal, added = nominal-t.Subtract, t.Add
	}
	r := Requests{Input: g.uniform(x.Prompts, x.Least(nominal), nominal), Output: g.uniform(x.Prompts, x.Least(x.OSL), x.OSL)}
	for i := range r.Input {
		r.Input[i] += int32(added)
	}
	if x.VocabSize > 0 {
		r.Offset = g.uniform(x.Prompts, 0, x.VocabSize-1)
	}
	return r
}

// uniform draws n integers on low..high as RandomState.randint does.
func (g *mt19937) uniform(n, low, high int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(low) + int32(g.below(uint32(high-low)))
	}
	return out
}

// InferenceX is the client: warm-up copies of request 0 under their own bound,
// then every request in list order with Concurrency outstanding, the next sent
// the moment one ends.
type InferenceX struct {
	draw        Requests
	template    int
	vocab       int
	concurrency int
	warmups     int // not sent yet
	next        int // list index of the next measured request
	outstanding int
	ended       int64
	now         int64
}

// New returns the client's source.
func New(x *spec.InferenceX) *InferenceX {
	c := &InferenceX{draw: Draw(x), vocab: x.VocabSize, concurrency: x.Concurrency, warmups: *x.Warmups}
	if x.Template != nil {
		c.template = x.Template.Add
	}
	return c
}

// Due is at once while the semaphore has room, and the list or the warm-up has a
// request; the list waits for the warm-up to end.
func (c *InferenceX) Due() int64 {
	switch {
	case c.outstanding >= c.concurrency:
		return workload.Never
	case c.warmups > 0:
		return c.now
	case c.next == len(c.draw.Input), c.next == 0 && c.outstanding > 0:
		return workload.Never
	}
	return c.now
}

// Take sends the next warm-up copy or the next request of the list.
func (c *InferenceX) Take(now int64, r *workload.Request) {
	c.outstanding++
	cause := workload.Cause{Kind: workload.AfterEnd, End: c.ended - 1}
	i, warmup := c.next, c.warmups > 0
	if warmup {
		c.warmups--
	} else {
		c.next++
	}
	length := int(c.draw.Output[i])
	*r = workload.Request{Index: int64(i), Session: -1, Warmup: warmup, MaxTokens: length, Length: length, Cause: cause, Prompt: c.prompt(i),
		Output: workload.Segment{Stream: workload.OutputStream(0, c.serial(i, warmup))}}
}

// serial numbers outputs so that warm-up copies generate streams of their own.
func (c *InferenceX) serial(i int, warmup bool) int64 {
	if warmup {
		return int64(len(c.draw.Input) + c.warmups)
	}
	return int64(i)
}

// prompt gives request i its tokens: with a vocabulary, consecutive token ids
// from (offset+i), wrapping; without, a stream of its own.
func (c *InferenceX) prompt(i int) []workload.Segment {
	s := make([]workload.Segment, 0, 2)
	n := int(c.draw.Input[i])
	if c.template > 0 {
		s = append(s, workload.Segment{Stream: workload.TemplateStream(), Count: c.template})
		n -= c.template
	}
	if c.draw.Offset == nil {
		return append(s, workload.Segment{Stream: workload.PromptStream(0, int64(i)), Count: n})
	}
	for start := (int(c.draw.Offset[i]) + i) % c.vocab; n > 0; start = 0 {
		k := min(n, c.vocab-start)
		s = append(s, workload.Segment{Stream: workload.VocabularyStream(), Start: start, Count: k})
		n -= k
	}
	return s
}

// Ended frees a place under the semaphore.
func (c *InferenceX) Ended(now int64, _ workload.End) {
	c.outstanding--
	c.ended++
	c.now = now
}

// Left is how many requests, warm-ups among them, were not sent yet.
func (c *InferenceX) Left() int64 { return int64(c.warmups + len(c.draw.Input) - c.next) }
