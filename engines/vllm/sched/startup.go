package sched

import (
	"fmt"
	"math"
	"sort"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/connector"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

// StartupError is a refusal in the upstream's own words.
type StartupError struct {
	Type string // exception class
	Text string // first line
}

func (e *StartupError) Error() string { return e.Text }

// check applies the start-up rules and arranges the cache.
func (c *Config) check() (*kv.Config, error) {
	if err := c.checkBudget(); err != nil {
		return nil, err
	}
	if _, err := connector.Open(c.Connector); err != nil {
		return nil, err
	}
	layers := make([]kv.Layer, len(c.Layers))
	for i, l := range c.Layers {
		l.Spec = c.complete(l.Spec)
		layers[i] = l
	}
	groups, err := kv.Group(layers, c.DisableHybrid)
	if err != nil {
		return nil, err
	}
	if err := c.checkRetention(groups); err != nil {
		return nil, err
	}
	if err := c.checkPool(groups); err != nil && !c.UncheckedPool {
		return nil, err
	}
	size, hash := kv.BlockSizes(groups, c.PrefixCaching)
	lag := max(c.Speculative.PrefillLookahead()-1, 0) // the last module has not seen them
	return &kv.Config{Groups: groups, NumBlocks: c.NumBlocks, BlockSize: size, HashBlockSize: hash, Caching: c.PrefixCaching,
		Retention: c.Retention, Watermark: c.Watermark, MaxModelLen: c.MaxModelLen, MaxInFlight: c.MaxInFlightTokens(), Lag: lag, Sink: c.Sink}, nil
}

// complete fills what a layer's spec takes from the engine.
func (c *Config) complete(g kv.GroupSpec) kv.GroupSpec {
	g.Eagle = c.Speculative.Eagle()
	if g.Kind == kv.Mamba {
		g.Aligned, g.Extra = c.AlignedMamba, c.Speculative.K()
		if !g.Aligned {
			g.BlockSize = c.MaxModelLen
		}
	}
	return g
}

// checkBudget is SchedulerConfig's validation (vllm/config/scheduler.py:249-285).
func (c *Config) checkBudget() error {
	if c.MaxNumSeqs < 1 || c.MaxModelLen < 1 || !c.ChunkedPrefill && c.MaxNumBatchedTokens < c.MaxModelLen ||
		c.MaxNumBatchedTokens < c.MaxNumSeqs || c.LongPrefillTokenThreshold > c.MaxModelLen {
		return &StartupError{"ValidationError", "1 validation error for SchedulerConfig"}
	}
	if n := c.Speculative.Slots(); c.MaxNumBatchedTokens <= n {
		return &StartupError{"ValueError", fmt.Sprintf("max_num_batched_tokens (%d) leaves no room beside the %d draft slots of a request", c.MaxNumBatchedTokens, n)}
	}
	return nil
}

// checkRetention refuses an interval where no group could use it
// (vllm/v1/core/kv_cache_coordinator.py:32-61).
func (c *Config) checkRetention(groups []kv.GroupSpec) error {
	if c.Retention <= 0 || !c.PrefixCaching {
		return nil
	}
	for i := range groups {
		if k := groups[i].Kind; k == kv.SlidingWindow || k == kv.Mamba {
			return nil
		}
	}
	return &StartupError{"ValueError", "prefix_cache_retention_interval needs a sliding-window or mamba group"}
}

// checkPool refuses a pool that cannot hold one request of the longest length
// (vllm/v1/core/kv_cache_utils.py:772-805, 2231-2250).
func (c *Config) checkPool(groups []kv.GroupSpec) error {
	usable := c.NumBlocks - 1
	need := func(tokens int) int { return kv.PeakBlocks(groups, tokens, c.MaxInFlightTokens()) }
	if need(c.MaxModelLen) <= usable {
		return nil
	}
	bytes := float64(groups[0].PageBytes) * float64(groups[0].Layers)
	gib := func(blocks int) string {
		v := math.Round(float64(blocks)*bytes/(1<<30)*100) / 100
		if v == math.Trunc(v) {
			return fmt.Sprintf("%.1f", v)
		}
		return fmt.Sprint(v)
	}
	longest := sort.Search(c.MaxModelLen, func(n int) bool { return need(n+1) > usable })
	estimate := ""
	if longest > 0 {
		estimate = fmt.Sprintf("Based on the available memory, the estimated maximum model length is %d. ", longest)
	}
	return &StartupError{"ValueError", fmt.Sprintf("To serve at least one request with the model's max seq len (%d), (%s GiB KV cache is needed, "+
		"which is larger than the available KV cache memory (%s GiB). %sTry increasing `gpu_memory_utilization` "+
		"(which also controls CPU memory on the CPU platform) or decreasing `max_model_len` when initializing the engine.",
		c.MaxModelLen, gib(need(c.MaxModelLen)), gib(usable), estimate)}
}
