package vllm

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

// job is a request inside the engine. Jobs are pooled.
type job struct {
	content identity // beside the request's own first fields, which a step reads with it
	request *engines.Request
	sched.Request
	drafts substream.Stream // the request's, from output token drawn on
	drawn  int
}

// newJob makes a request the scheduler understands out of r.
func (e *Engine) newJob(r *engines.Request) *job {
	var j *job
	if n := len(e.spare); n > 0 {
		j, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		j = new(job)
	}
	prompt := r.PromptTokens()
	limit := r.MaxTokens
	if limit == 0 {
		limit = e.parts.Sched.MaxModelLen - prompt
	}
	seq := j.Sequence
	seq.Reset()
	j.request, j.drafts, j.drawn = r, r.Drafts, 0
	j.Request = sched.Request{Sequence: seq, Number: uint64(r.ID), Priority: r.Priority, Arrival: r.Arrival,
		MaxTokens: limit, MinTokens: r.MinTokens, Owner: j}
	if !r.IgnoreEOS && r.StopAt < limit {
		j.StopAt = r.StopAt
	}
	j.content.reset(r, e.loop.Scheduler.Cache().Config().HashBlockSize)
	j.Prompt, j.Tokens, j.Hashes = prompt, prompt, &j.content
	r.Token = engines.TokenRecord{Prompt: prompt}
	return j
}

// reject applies the front end's checks (vllm/v1/engine/input_processor.py:436-480,
// vllm/sampling_params.py).
func (e *Engine) reject(r *engines.Request) *engines.Rejection {
	n, longest := r.PromptTokens(), e.parts.Sched.MaxModelLen
	limit := longest - n
	if r.MaxTokens > 0 {
		limit = min(limit, r.MaxTokens)
	}
	switch {
	case n == 0:
		return &engines.Rejection{Reason: "The decoder prompt cannot be empty"}
	case n > longest:
		return &engines.Rejection{Reason: fmt.Sprintf("The decoder prompt (length %d) is longer than the maximum model length of %d.", n, longest)}
	case n == longest:
		return &engines.Rejection{Reason: fmt.Sprintf("The decoder prompt (length %d) plus the number of requested output tokens (at least 1) is longer than the maximum model length of %d.", n, longest)}
	case r.MaxTokens < 0:
		return &engines.Rejection{Reason: fmt.Sprintf("max_tokens must be at least 1, got %d.", r.MaxTokens)}
	case r.MinTokens > limit:
		return &engines.Rejection{Reason: fmt.Sprintf("min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, r.MinTokens)}
	}
	return nil
}

// record brings the request's token record up to date.
func (e *Engine) record(j *job) {
	t := &j.request.Token
	t.CachedLocal, t.Emitted, t.Preemptions = j.Cached, j.Outputs(), j.Preemptions
	t.Computed = e.loop.Scheduler.ScheduledTokens(&j.Request)
}

// retire takes in the requests whose end the scheduler has passed on; one that a
// batch in flight still holds is kept until that completes.
func (e *Engine) retire(ended []*sched.Request) {
	for _, r := range ended {
		e.ending = append(e.ending, r.Owner.(*job))
	}
	e.release()
}

// release returns jobs no batch holds any more to the pool.
func (e *Engine) release() {
	if len(e.ending) == 0 {
		return
	}
	kept := e.ending[:0]
	for _, j := range e.ending {
		if j.Pending() {
			kept = append(kept, j)
			continue
		}
		j.request = nil
		e.spare = append(e.spare, j)
	}
	clear(e.ending[len(kept):])
	e.ending = kept
}

// identity gives a request's blocks identities from its segments: equal tokens give
// equal identities, whatever segments they are written in. A block goes by the run
// its last token lies in (the longest stretch of one stream), everything before that
// run, and its own number, so that identities count up along a run.
type identity struct {
	unit    int
	request *engines.Request
	segment int    // next segment; the output comes after the prompt's
	end     int    // tokens the runs so far cover
	before  uint64 // of everything before the next run
	runs    []run
	last    run // the one looked at last
}

// run is the blocks first to end-1, whose last token lies in one run of a stream.
type run struct {
	first, end int
	base       uint64
}

func (c *identity) reset(r *engines.Request, unit int) {
	*c = identity{unit: unit, request: r, before: saltOf(r.Salt), runs: c.runs[:0]}
}

// BlockHash is the identity of hash block i and everything before it.
func (c *identity) BlockHash(i int) (hash kv.BlockHash, run int) {
	r := &c.last
	if i < r.first || i >= r.end {
		for c.end < (i+1)*c.unit {
			c.extend()
		}
		k := len(c.runs) - 1
		for c.runs[k].first > i {
			k--
		}
		*r = c.runs[k]
	}
	h := r.base + uint64(i)
	if h == 0 {
		return 1, 1 // zero means no hash
	}
	return kv.BlockHash(h), int(min(uint64(r.end-i), -h))
}

// runAlign keeps the last bits of a run's base clear, so that its identities fill the
// octets of the cache's index.
const runAlign = 64

// extend takes in the next run.
func (c *identity) extend() {
	var s engines.Segment
	for ; c.segment <= len(c.request.Prompt); c.segment++ {
		next := c.written(c.segment)
		if s.Count == 0 {
			s = next
		} else if next.Count == 0 || next.Stream == s.Stream && next.Start == s.Start+s.Count {
			s.Count += next.Count
		} else {
			break
		}
	}
	base := mix(mix(c.before^mix(s.Stream)) ^ uint64(s.Start))
	first := c.end / c.unit
	c.end += s.Count
	c.runs = append(c.runs, run{first, c.end / c.unit, base / runAlign * runAlign})
	c.before = mix(base ^ uint64(s.Count))
}

// written is segment i as the request states it; the output's is longer than any
// sequence.
func (c *identity) written(i int) engines.Segment {
	if i < len(c.request.Prompt) {
		return c.request.Prompt[i]
	}
	s := c.request.Output
	s.Count = longest
	return s
}

// longest is more tokens than a sequence has.
const longest = 1 << 40

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// saltOf starts a chain: FNV-1a of the cache salt.
func saltOf(salt string) uint64 {
	h := uint64(0xCBF29CE484222325)
	for i := range len(salt) {
		h = (h ^ uint64(salt[i])) * 0x100000001B3
	}
	return h
}
