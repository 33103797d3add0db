package sched

import (
	"testing"
)

func TestTuning(t *testing.T) {
	for _, c := range []struct {
		name, value string
		known, bad  bool
	}{
		{"SGLANG_RETRACT_DECODE_STEPS", "5", true, false}, {"SGLANG_INIT_NEW_TOKEN_RATIO", "0.5", true, false},
		{"SGLANG_RETRACT_DECODE_STEPS", "few", true, true}, {"SGLANG_OTHER", "1", false, false},
		{"SGLANG_RETRACT_DECODE_STEPS", "-1", true, true}, {"SGLANG_RETRACT_DECODE_STEPS", "0", true, false},
		{"SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS", "0", true, true}, {"SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS", "1", true, false},
		{"SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION", "-1", true, true}, {"SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION", "64", true, false},
		{"IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD", "-2", true, true}, {"IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD", "-1", true, false},
		{"IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD", "1.5", true, true}, {"IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD", "8", true, false},
		{"SGLANG_INIT_NEW_TOKEN_RATIO", "NaN", true, true}, {"SGLANG_INIT_NEW_TOKEN_RATIO", "+Inf", true, true},
		{"SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR", "-0.1", true, true}, {"SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR", "0", true, false},
	} {
		tuned := Untuned()
		if known, err := tuned.Set(c.name, c.value); known != c.known || (err != nil) != c.bad {
			t.Errorf("%s=%s: got %v, %v; want known %v, refused %v", c.name, c.value, known, err, c.known, c.bad)
		}
		if kept := tuned == Untuned(); kept != (c.bad || !c.known) {
			t.Errorf("%s=%s: value kept: %v", c.name, c.value, !kept)
		}
	}
	cfg := base()
	cfg.InitRatio = 0.5
	s, _ := newScheduler(cfg)
	if init, least, decay := s.Ratios(); init != 0.5 || least != 0.5*0.14 || decay != (0.5-0.5*0.14)/600 {
		t.Errorf("got %v, %v, %v; want a start at 0.5", init, least, decay)
	}
}

// After a prefill step so many decode steps go first, while there is something to
// decode.
func TestDecodeCredits(t *testing.T) {
	for _, credits := range []int{0, 3} {
		cfg := base()
		cfg.DecodeCredits, cfg.MaxRunning = credits, 8
		s, _ := newScheduler(cfg)
		s.Receive(req("a", 10, 50, 0))
		turn(s)
		s.Receive(req("b", 10, 50, 0))
		got := 0
		for turn(s).Mode == Decode {
			got++
		}
		if got != credits {
			t.Errorf("interval %d: got %d decode steps before the next prefill", credits, got)
		}
	}
}
