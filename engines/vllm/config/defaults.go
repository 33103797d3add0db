package config

// This file is the project's own: upstream has no file of defaults.

import (
	"encoding/json"
	"fmt"
	"slices"
)

type defaultsFile struct {
	Facts struct {
		Batch     map[string]map[string]map[Usage]int `json:"batch_defaults"`
		Cache     map[string]any
		Cudagraph []captureCase
		Fallback  map[string]int
		Padding   [][2]int
	}
}

type captureCase struct {
	Chip   string
	Count  int
	Max    int    `json:"max_capture"`
	Budget int    `json:"max_num_batched_tokens"`
	Seqs   int    `json:"max_num_seqs"`
	Drafts int    `json:"num_speculative_tokens"`
	Mode   string `json:"performance_mode"`
	Runs   [][]int
	Given  []int
	Result []int
}

// defaults replays defaults.json: batch limits by chip and usage, cache defaults,
// capture sizes, padding.
func (c catalogue) defaults(rep *Report, data []byte) error {
	var f defaultsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	check := func(what string, got, want any) {
		rep.Checked++
		if d := differ(what, got, want); d != "" {
			rep.Differences = append(rep.Differences, d)
		}
	}
	for _, chip := range sortedKeys(f.Facts.Batch) {
		for _, u := range []Usage{APIServer, LLMClass} {
			tokens, seqs := batchDefaults(c.chip(chip), u)
			check(chip+" max_num_batched_tokens", tokens, f.Facts.Batch[chip]["max_num_batched_tokens"][u])
			check(chip+" max_num_seqs", seqs, f.Facts.Batch[chip]["max_num_seqs"][u])
		}
	}
	tokens, seqs := batchDefaults(c.chip("H200"), NoUsage)
	check("no usage", []any{tokens, seqs}, []any{f.Facts.Fallback["max_num_batched_tokens"], f.Facts.Fallback["max_num_seqs"]})
	got, err := Resolve(Input{Model: c.Models["llama"].facts("llama"), Chip: c.chip("H200"), Usage: APIServer})
	if err != nil {
		return err
	}
	check("cache", map[string]any{"default_block_size": got.BlockSize, "enable_prefix_caching": got.PrefixCaching, "gpu_memory_utilization": got.GPUMemory,
		"mamba_cache_mode": got.MambaCacheMode, "prefix_cache_retention_interval": *got.Retention, "prefix_caching_hash_algo": got.HashAlgo}, f.Facts.Cache)
	for i, k := range f.Facts.Cudagraph {
		k.check(check, fmt.Sprintf("cudagraph[%d]", i), c.chip)
	}
	for _, p := range f.Facts.Padding {
		check(fmt.Sprintf("padding of %d", p[0]), got.Compile.PadTo(p[0]), p[1])
	}
	return nil
}

func (k *captureCase) check(check func(string, any, any), what string, chip func(string) Chip) {
	if k.Given != nil {
		c := &Config{MaxBatchedTokens: k.Budget, MaxSeqs: 1024, Sources: map[string]Source{}}
		c.Compile.Graphs = "FULL_AND_PIECEWISE"
		args := map[string]any{"cudagraph_capture_sizes": list(k.Given)}
		err := c.captures(&reader{c: c, args: args}, &reader{c: c})
		check(what+" given", []any{err == nil, list(c.Compile.Sizes), c.Compile.MaxSize}, []any{true, list(k.Result), k.Max})
		return
	}
	c := &Config{Chip: chip(k.Chip), MaxBatchedTokens: k.Budget, MaxSeqs: k.Seqs, Mode: k.Mode, Sources: map[string]Source{}}
	c.Compile.Graphs = "FULL_AND_PIECEWISE"
	if k.Drafts > 0 {
		c.Spec = &Speculative{Tokens: k.Drafts}
	}
	err := c.captures(&reader{c: c}, &reader{c: c})
	var want []int
	for _, run := range k.Runs {
		if len(run) == 1 {
			want = append(want, run[0])
			continue
		}
		for n := run[0]; n <= run[1]; n += run[2] {
			want = append(want, n)
		}
	}
	check(what, []any{err == nil, len(c.Compile.Sizes), c.Compile.MaxSize, list(c.Compile.Sizes)}, []any{true, k.Count, k.Max, list(want)})
}

// PadTo is the captured size a step of tokens rounds up to; tokens itself when no
// size reaches it.
func (k *Compilation) PadTo(tokens int) int {
	if i, _ := slices.BinarySearch(k.Sizes, tokens); i < len(k.Sizes) {
		return k.Sizes[i]
	}
	return tokens
}
