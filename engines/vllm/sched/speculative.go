package sched

import (
	"fmt"
	"slices"
)

var eagleFamily = []string{"eagle", "eagle3", "mtp"}

// Eagle reports whether the drafter reads the target's hidden states, so that a
// prefix hit must leave it one block to compute.
func (s *Speculative) Eagle() bool {
	return s != nil && slices.Contains(eagleFamily, s.Method)
}

// K is the drafts proposed a step, 0 without a drafter.
func (s *Speculative) K() int {
	if s == nil {
		return 0
	}
	return s.Tokens
}

// Lookahead is the slots a request holds for drafts (vllm/config/vllm.py:621-645).
func (s *Speculative) Lookahead() int {
	switch {
	case s == nil:
		return 0
	case s.Eagle() || s.Method == "draft_model" || s.Method == "dspark":
		return s.Tokens
	case s.Method == "dflash":
		return s.Tokens + 1
	}
	return 0
}

// Slots is the extra input slots a request's drafting takes
// (vllm/config/speculative.py:1429-1483).
func (s *Speculative) Slots() int {
	switch {
	case s == nil:
		return 0
	case s.Method == "dflash":
		return s.Tokens
	case s.Method == "dspark" || s.Parallel && s.Eagle():
		return s.Tokens - 1
	case s.Method == "draft_model" && s.Parallel:
		return s.Tokens
	case s.Method == "draft_model":
		return 1
	}
	return 0
}

// PrefillLookahead is how many prompt tokens past a chunk's end the drafter reads.
func (s *Speculative) PrefillLookahead() int {
	switch {
	case !s.Eagle():
		return 0
	case s.Modules > 1 && s.Tokens > 1:
		return s.Tokens
	}
	return 1
}

// byRequests spreads Schedule over the number of requests in a step, or refuses it
// (vllm/config/speculative.py).
func (s *Speculative) byRequests(maxNumSeqs int) ([]int, error) {
	if s == nil || s.Schedule == nil {
		return nil, nil
	}
	refuse := func(text string) error { return &StartupError{"ValueError", text} }
	lookup := []int{0}
	last := 0
	for _, r := range s.Schedule {
		switch {
		case len(r) != 3:
			return nil, refuse("Each num_speculative_tokens_per_batch_size entry must be a 3-item sequence: (range_start, range_end, num_speculative_tokens).")
		case r[0] <= 0 || r[1] <= 0:
			return nil, refuse(fmt.Sprintf("Batch-size range (%d, %d) must be positive.", r[0], r[1]))
		case r[0] <= last || r[1] < r[0]:
			return nil, refuse("Batch-size ranges must be non-overlapping and sorted.")
		case r[2] < 0:
			return nil, refuse("num_speculative_tokens_per_batch_size values must be >= 0.")
		}
		for n := last + 1; n < r[0]; n++ {
			lookup = append(lookup, lookup[last])
		}
		for n := r[0]; n <= r[1]; n++ {
			lookup = append(lookup, min(r[2], s.Tokens))
		}
		last = r[1]
	}
	for len(lookup) <= maxNumSeqs {
		lookup = append(lookup, lookup[last])
	}
	return lookup[:maxNumSeqs+1], nil
}

// DraftsByRequests is the number of drafts by requests in the step; nil is always K.
func (s *Scheduler) DraftsByRequests() []int { return s.lookup }

// draftsAfter is how many drafts a request gets after a batch (scheduler.py:1258-1263).
func (s *Scheduler) draftsAfter(b *Batch) int {
	if s.lookup == nil {
		return s.k
	}
	return s.lookup[min(len(b.Entries), len(s.lookup)-1)]
}
