package sched

import (
	"errors"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func config() Config {
	return Config{MaxNumSeqs: 8, MaxNumBatchedTokens: 256, MaxModelLen: 512, ChunkedPrefill: true, BlockSize: 16, NumBlocks: 33, PrefixCaching: true,
		PipelineParallel: 1, Layers: []kv.Layer{{Count: 2, Spec: kv.GroupSpec{Kind: kv.Full, BlockSize: 16, PageBytes: 512}}}}
}

// Each start-up refusal stands beside the closest configuration that is accepted.
func TestStartupRefusalsInPairs(t *testing.T) {
	keep.Rule(t, "SIM-9")
	window := kv.Layer{Count: 2, Spec: kv.GroupSpec{Kind: kv.SlidingWindow, BlockSize: 16, Window: 40, PageBytes: 512}}
	for _, c := range []struct {
		name           string
		refuse, accept func(*Config)
	}{
		{"pool of one block less than a request", func(c *Config) { c.NumBlocks = 32 }, func(c *Config) { c.NumBlocks = 33 }},
		{"budget below the sequences", func(c *Config) { c.MaxNumSeqs = 257 }, func(c *Config) { c.MaxNumSeqs = 256 }},
		{"no sequence", func(c *Config) { c.MaxNumSeqs = 0 }, func(c *Config) { c.MaxNumSeqs = 1 }},
		{"no length", func(c *Config) { c.MaxModelLen = 0 }, func(c *Config) { c.MaxModelLen = 1 }},
		{"whole prefills above the budget", func(c *Config) { c.ChunkedPrefill, c.MaxModelLen = false, 257 }, func(c *Config) { c.ChunkedPrefill, c.MaxModelLen = false, 256 }},
		{"threshold above the length", func(c *Config) { c.LongPrefillTokenThreshold = 513 }, func(c *Config) { c.LongPrefillTokenThreshold = 512 }},
		{"retention without a sparse group", func(c *Config) { c.Retention = 64 },
			func(c *Config) { c.Retention, c.Layers, c.NumBlocks = 64, append(c.Layers, window), 80 }},
		{"draft slots fill the budget", func(c *Config) {
			c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Speculative = 4, 4, &Speculative{Method: "dflash", Tokens: 4}
		}, func(c *Config) {
			c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Speculative = 4, 5, &Speculative{Method: "dflash", Tokens: 4}
		}},
		{"a connector", func(c *Config) { c.Connector = "NixlConnector" }, func(c *Config) { c.Connector = "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad, good := config(), config()
			c.refuse(&bad)
			c.accept(&good)
			if _, err := New(bad); err == nil || err.Error() == "" {
				t.Errorf("refused side: got %v", err)
			}
			if _, err := New(good); err != nil {
				t.Errorf("accepted side: got %v", err)
			}
		})
	}
}

func TestPoolRefusalNamesTheLongestLengthThatFits(t *testing.T) {
	c := config()
	c.NumBlocks = 11
	_, err := New(c)
	e, ok := errors.AsType[*StartupError](err)
	if !ok || e.Type != "ValueError" {
		t.Fatalf("got %v, want a ValueError", err)
	}
	if got, want := e.Text[:60], "To serve at least one request with the model's max seq len ("; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConcurrentBatches(t *testing.T) {
	for _, c := range []struct {
		pipeline int
		async    bool
		runner   Runner
		want     int
	}{{1, false, RunnerV2, 1}, {4, false, RunnerV2, 4}, {1, true, RunnerV2, 2}, {4, true, RunnerV2, 5}, {1, true, RunnerV1, 2}, {4, true, RunnerV1, 4}} {
		conf := Config{PipelineParallel: c.pipeline, Async: c.async, Runner: c.runner}
		if got := conf.MaxConcurrentBatches(); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestSpeculativeSlots(t *testing.T) {
	for _, c := range []struct {
		s                         Speculative
		slots, lookahead, prefill int
	}{
		{Speculative{Method: "ngram", Tokens: 3}, 0, 0, 0},
		{Speculative{Method: "eagle", Tokens: 3}, 0, 3, 1},
		{Speculative{Method: "eagle3", Tokens: 3, Parallel: true}, 2, 3, 1},
		{Speculative{Method: "mtp", Tokens: 3, Modules: 3}, 0, 3, 3},
		{Speculative{Method: "draft_model", Tokens: 4}, 1, 4, 0},
		{Speculative{Method: "draft_model", Tokens: 4, Parallel: true}, 4, 4, 0},
		{Speculative{Method: "dflash", Tokens: 4}, 4, 5, 0},
	} {
		if got := [3]int{c.s.Slots(), c.s.Lookahead(), c.s.PrefillLookahead()}; got != [3]int{c.slots, c.lookahead, c.prefill} {
			t.Errorf("%+v: got %v", c.s, got)
		}
	}
}
