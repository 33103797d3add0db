package config

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Resolve applies ServerArgs' rules in upstream's order (server_args.py
// __post_init__).
func Resolve(in Input) (*Config, error) {
	c := &Config{Chip: in.Chip, Graph: in.Graph, Storage: in.Checkpoint.Storage, Env: in.Env, Sources: map[string]Source{}, Values: map[string]string{}}
	r := newReader(in.Args, c)
	c.parallel(r, max(1, in.Nodes))
	c.scheduling(r)
	c.memoryDefaults(r)
	c.kernels(r)
	c.page(r)
	c.graphs(r)
	c.memFraction(r)
	return c, r.err
}

func (c *Config) parallel(r *reader, nodes int) {
	c.Tensor = r.int("tensor-parallel-size", 1, 1)
	c.Expert = r.int("expert-parallel-size", 1, 1)
	for _, one := range []string{"data-parallel-size", "pipeline-parallel-size"} {
		if n := r.int(one, 1, 1); n != 1 {
			r.fail(one, n, "is not modelled", "1")
		}
	}
	switch e := c.experts(); {
	case c.Tensor%c.Expert != 0:
		r.fail("expert-parallel-size", c.Expert, fmt.Sprintf("tp_size %d must be divisible by ep_size", c.Tensor), "a divisor of tp_size")
	case c.Expert > 1 && e == nil:
		r.fail("expert-parallel-size", c.Expert, "the model has no experts", "1")
	case c.Expert > 1 && e.Experts%c.Expert != 0:
		r.fail("expert-parallel-size", c.Expert, fmt.Sprintf("%d experts do not divide among the ranks", e.Experts), "a divisor of the experts")
	case c.Tensor%nodes != 0:
		r.fail("tensor-parallel-size", c.Tensor, fmt.Sprintf("tp_size must be divisible by nnodes %d", nodes), "a multiple of the nodes")
	}
	for b, n := range c.Graph.BlockCounts() {
		if h := b.Attention.Heads; n > 0 && h > 0 && h%c.Tensor != 0 && r.err == nil {
			r.fail("tensor-parallel-size", c.Tensor, fmt.Sprintf("%d attention heads do not divide among the ranks", h), "a divisor of the heads")
		}
	}
}

func (c *Config) scheduling(r *reader) {
	c.ContextLen = r.int("context-length", c.Graph.MaxPosition, 1)
	if c.ContextLen > c.Graph.MaxPosition {
		r.fail("context-length", c.ContextLen, fmt.Sprintf("is greater than the derived context_length (%d)", c.Graph.MaxPosition), "no more than the model's")
	}
	c.MaxPrefill = r.int("max-prefill-tokens", 16384, 1)
	c.MaxRunning = r.int("max-running-requests", 0, 1)
	c.MaxTotal = r.int("max-total-tokens", 0, 1)
	c.MaxQueued = r.int("max-queued-requests", 0, 1)
	c.PrefillMax = r.int("prefill-max-requests", 0, 1)
	c.DecodeCredits = r.int("prefill-decode-interval", 0, 0)
	c.Conservative = r.float("schedule-conservativeness", 1)
	c.Policy = r.choice("schedule-policy", "fcfs", "fcfs", "lpm", "dfs-weight", "lof", "random")
	c.Eviction = r.choice("radix-eviction-policy", "lru", "lru", "lfu", "fifo", "mru", "filo", "priority", "slru")
	c.NoTree = r.flag("disable-radix-cache")
	c.MixedChunk = r.flag("enable-mixed-chunk")
	c.Overlap = !r.flag("disable-overlap-schedule")
	c.StreamInterval = r.int("stream-interval", 1, 1)
	c.RecvInterval = r.int("scheduler-recv-interval", 1, 0)
	c.DecodeLog = r.int("decode-log-interval", 40, 1)
	c.Seed = r.int("random-seed", 0, 0)
	c.Priorities = r.flag("enable-priority-scheduling")
	c.LowFirst = r.flag("schedule-low-priority-values-first")
	c.NoPreemption = r.flag("disable-priority-preemption")
	c.PreemptAbove = r.int("priority-scheduling-preemption-threshold", 10, 0)
	if c.Priorities && c.Policy != "fcfs" && c.Policy != "lof" {
		r.fail("schedule-policy", c.Policy, "To use priority scheduling, schedule_policy must be 'fcfs' or 'lof'", "fcfs, lof")
	}
	if c.Policy == "random" && !r.has("random-seed") {
		r.fail("random-seed", "unset", "upstream draws the seed from the operating system", "a stated seed with schedule-policy random")
	}
}

// tier is what GPUs below a memory get.
type tier struct {
	below       float64 // MiB
	chunk       int
	small, wide int // largest decode graph below tp 4, from tp 4
}

// tiers are chunk size and decode graph limit by memory (server_args.py:4862-4922).
var tiers = []tier{
	{20 << 10, 2048, 8, 8}, {35 << 10, 2048, 24, 80}, {60 << 10, 4096, 32, 160}, {90 << 10, 8192, 256, 512},
	{160 << 10, 8192, 256, 512}, {math.Inf(1), 16384, 512, 512},
}

func (c *Config) memoryDefaults(r *reader) {
	mib := c.memoryMiB()
	t := tiers[slices.IndexFunc(tiers, func(t tier) bool { return mib < t.below })]
	c.Chunk = r.int("chunked-prefill-size", t.chunk, -1)
	if !r.has("chunked-prefill-size") {
		r.note("chunked-prefill-size", "rule", fmt.Sprintf("a GPU of %.0f MiB", mib), c.Chunk)
	}
	largest := t.small
	if c.Tensor >= 4 {
		largest = t.wide
	}
	largest = r.int("cuda-graph-max-bs", largest, 1)
	if !r.has("cuda-graph-max-bs") {
		r.note("cuda-graph-max-bs", "rule", fmt.Sprintf("a GPU of %.0f MiB at tp %d", mib, c.Tensor), largest)
	}
	c.GraphSizes = r.list("cuda-graph-bs")
	if c.GraphSizes == nil {
		c.GraphSizes = decodeSizes(largest)
	}
	slices.Sort(c.GraphSizes)
}

// decodeSizes are the captured batch sizes (server_args.py:5166).
func decodeSizes(largest int) []int {
	sizes := []int{1, 2, 4, 8, 12}
	sizes = steps(sizes, 16, 256, 8)
	sizes = steps(sizes, 272, 496, 16)
	sizes = steps(sizes, 512, largest, 32)
	return upTo(sizes, largest)
}

// prefillSizes are the captured prompt lengths (server_args.py:5219).
func prefillSizes(largest int) []int {
	var sizes []int
	sizes = steps(sizes, 4, 32, 4)
	sizes = steps(sizes, 48, 256, 16)
	sizes = steps(sizes, 288, 512, 32)
	sizes = steps(sizes, 576, 1024, 64)
	sizes = steps(sizes, 1280, 4096, 256)
	sizes = steps(sizes, 4608, largest, 512)
	return upTo(sizes, largest)
}

func steps(sizes []int, from, to, by int) []int {
	for n := from; n <= to; n += by {
		sizes = append(sizes, n)
	}
	return sizes
}

func upTo(sizes []int, largest int) []int {
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return n > largest })
	if !slices.Contains(sizes, largest) {
		sizes = append(sizes, largest)
	}
	return sizes
}

// page is the page size: the default, or what the attention backend insists on
// (arg_groups/overrides.py:2128-2204, 2298, 2378).
func (c *Config) page(r *reader) {
	c.Page = r.int("page-size", 1, 1)
	takes := map[string][]int{
		"flashmla": {64}, "cutlass_mla": {128}, "trtllm_mla": {32, 64}, "trtllm_mha": {16, 32, 64, 128}, "nsa": {64},
	}[c.Attention]
	if c.Attention == "fa4" && !c.latent() && c.blackwell() {
		takes = []int{128}
	}
	if takes == nil || slices.Contains(takes, c.Page) {
		return
	}
	if c.Page = 64; !slices.Contains(takes, c.Page) { // cutlass_mla and fa4 take 128 alone
		c.Page = takes[0]
	}
	r.note("page-size", "rule", c.Attention+" takes pages of "+fmt.Sprint(takes), c.Page)
}

func (c *Config) graphs(r *reader) {
	if r.flag("disable-cuda-graph") {
		c.GraphSizes = nil
		return
	}
	if c.Recurrent() || c.Sparse() || len(c.Graph.Omitted) > 0 {
		r.note("prefill graphs", "rule", "inferred: multimodal, recurrent and sparse models run prompts without a graph", "none")
		return
	}
	largest := c.Chunk
	if largest <= 0 {
		largest = c.MaxPrefill
	}
	if c.latent() {
		largest = min(largest, 2048)
	}
	c.PrefillSizes = prefillSizes(largest)
}

// memFraction is mem_fraction_static (server_args.py:4981-5016): what the reserve of
// chunk, parallelism and graphs leaves.
func (c *Config) memFraction(r *reader) {
	mib := c.memoryMiB()
	chunk := c.Chunk
	if chunk <= 0 {
		chunk = c.MaxPrefill
	}
	reserved := 512 + float64(1.5*float64(max(chunk, 2048))) + float64(float64(c.Tensor)/8*1024)
	if n := len(c.GraphSizes); n > 0 {
		reserved += float64(2 * c.GraphSizes[n-1])
	}
	switch {
	case len(c.PrefillSizes) > 0 && c.latent():
		reserved += 1536
	default:
		reserved += float64(8 * len(c.PrefillSizes))
	}
	if mib > 60*1024 {
		reserved = max(reserved, 10240)
	}
	fraction := math.Floor(float64((mib-reserved)/mib*1000)+0.5) / 1000
	c.MemFraction = r.float("mem-fraction-static", fraction)
	if !r.has("mem-fraction-static") {
		r.note("mem-fraction-static", "rule", fmt.Sprintf("%.0f of %.0f MiB reserved", reserved, mib), fraction)
	}
	if !(c.MemFraction > 0 && c.MemFraction < 1) {
		r.fail("mem-fraction-static", c.MemFraction, "is not a share of the memory", "a number in (0, 1)")
	}
}

// cacheFormat reads kv-cache-dtype: auto is what the checkpoint asks for.
func (c *Config) cacheFormat(r *reader) quantity.Format {
	switch r.choice("kv-cache-dtype", "auto", "auto", "fp8_e4m3", "fp8_e5m2", "bfloat16", "bf16") {
	case "fp8_e4m3", "fp8_e5m2":
		return quantity.FP8
	case "auto":
		return c.Storage.KVCache
	}
	return quantity.BF16
}
