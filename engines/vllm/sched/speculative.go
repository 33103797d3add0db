package sched

import "slices"

var (
	eagleFamily = []string{"eagle", "eagle3", "mtp"}
	asyncDrafts = []string{"eagle", "eagle3", "mtp", "ngram_gpu", "draft_model", "dspark"}
)

// Eagle reports whether the drafter reads the target's hidden states, so that a
// prefix hit must leave it one block to compute.
func (s *Speculative) Eagle() bool {
	return s != nil && slices.Contains(eagleFamily, s.Method)
}

// Async reports whether drafting works with asynchronous scheduling
// (vllm/config/vllm.py:1227-1307).
func (s *Speculative) Async() bool {
	return s == nil || slices.Contains(asyncDrafts, s.Method)
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
