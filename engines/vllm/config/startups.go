package config

// This file is the project's own: it replays recorded start-ups.

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// Report is the outcome of replaying one file of recorded start-ups.
type Report struct {
	File        string
	Checked     int      // lines, or facts of a defaults file
	Differences []string // "line name: field: got, want"; empty when the port agrees
}

// Failed is the number of lines with a difference.
func (r *Report) Failed() int { return len(r.Differences) }

//go:embed startup/models.json
var standIns []byte

// stand-ins are the invented models and chips the recordings name.
type standInModel struct {
	Arch       string
	Layers     int
	Heads      int
	KV         int
	Head       int
	MaxLen     int `json:"max_len"`
	Sliding    int
	Experts    int
	MLA        bool
	Hybrid     bool
	Pooling    bool
	LayerTypes []string                 `json:"layer_types"`
	Rope       struct{ Factor float64 } `json:"rope"`
}

func (s standInModel) facts(name string) Model {
	m := Model{Name: name, Architecture: s.Arch, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KV, HeadDim: s.Head, MaxLen: s.MaxLen,
		Window: s.Sliding, Experts: s.Experts, MLA: s.MLA, Hybrid: s.Hybrid, Pooling: s.Pooling, Interleaved: len(s.LayerTypes) > 1}
	if s.Rope.Factor > 0 {
		m.MaxLen = int(s.Rope.Factor * float64(s.MaxLen))
	}
	return m
}

type catalogue struct {
	Models map[string]standInModel
	Chips  map[string][]any
}

func (c catalogue) chip(name string) Chip {
	v := c.Chips[name]
	capability := v[2].([]any)
	return Chip{Name: v[0].(string), GiB: v[1].(float64), Capability: [2]int{int(capability[0].(float64)), int(capability[1].(float64))}}
}

// CheckStartups replays one recorded file: config.jsonl (a start-up a line),
// backends.jsonl (an attention back-end choice a line) or defaults.json.
func CheckStartups(name string, r io.Reader) (Report, error) {
	rep := Report{File: name}
	var cat catalogue
	if err := json.Unmarshal(standIns, &cat); err != nil {
		return rep, fmt.Errorf("startup/models.json: %w", err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return rep, err
	}
	if bytes.Contains(data[:min(len(data), 4096)], []byte("batch_defaults")) {
		return rep, cat.defaults(&rep, data)
	}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<22)
	for n := 1; scan.Scan(); n++ {
		if len(bytes.TrimSpace(scan.Bytes())) == 0 {
			continue
		}
		rep.Checked++
		if diff := cat.line(scan.Bytes()); diff != "" {
			rep.Differences = append(rep.Differences, fmt.Sprintf("%d: %s", n, diff))
		}
	}
	return rep, scan.Err()
}

func (c catalogue) line(data []byte) string {
	if bytes.Contains(data, []byte(`"priorities"`)) || bytes.Contains(data, []byte(`"backend_for"`)) {
		return c.backendLine(data)
	}
	var l startupLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err.Error()
	}
	return l.check(c)
}

type startupLine struct {
	Name, Chip, Model string
	Usage             *string
	GPUs              int
	Accept            bool
	Args              map[string]any
	Env               map[string]string
	Resolved          map[string]any
	Error             []any
}

func (l *startupLine) check(c catalogue) string {
	in := Input{Args: l.Args, Env: l.Env, Model: c.Models[l.Model].facts(l.Model), Chip: c.chip(l.Chip), GPUsPerNode: l.GPUs}
	if l.Usage != nil {
		in.Usage = Usage(*l.Usage)
	}
	got, err := Resolve(in)
	switch {
	case err != nil && l.Accept:
		return fmt.Sprintf("%s: refused (%v), want accepted", l.Name, err)
	case err == nil && !l.Accept:
		return fmt.Sprintf("%s: accepted, want %v", l.Name, l.Error)
	case err != nil:
		return differ(l.Name, recorded(err), l.Error)
	}
	have := got.observed()
	for _, field := range sortedKeys(l.Resolved) {
		v, known := have[field]
		if !known {
			return fmt.Sprintf("%s: %s is recorded and not resolved here", l.Name, field)
		}
		if d := differ(l.Name+": "+field, v, l.Resolved[field]); d != "" {
			return d
		}
	}
	return ""
}

// recordedText is where the recorder cut messages.
const recordedText = 500

// classField is the field an argument sets where its name differs.
var classField = map[string]string{"kv_cache_dtype": "cache_dtype", "scheduling_policy": "policy"}

// recorded writes an error as the recorder did.
func recorded(err error) any {
	u, ok := err.(*Upstream)
	if !ok {
		return err.Error()
	}
	if u.Items == nil {
		return []any{u.Class, u.Text}
	}
	items := []any{}
	for _, i := range u.Items {
		if field, ok := classField[i.Loc]; ok {
			i.Loc = field
		}
		items = append(items, []any{i.Loc, i.Type, i.Message[:min(len(i.Message), recordedText)]})
	}
	return []any{u.Class, items}
}

// differ compares as canonical JSON.
func differ(what string, got, want any) string {
	g, err := canon.JSON(got)
	if err != nil {
		return err.Error()
	}
	w, err := canon.JSON(want)
	if err != nil {
		return err.Error()
	}
	if bytes.Equal(g, w) {
		return ""
	}
	return fmt.Sprintf("%s: got %s, want %s", what, g, w)
}

// observed is the recorder's view of a resolved configuration.
func (c *Config) observed() map[string]any {
	sizes := c.Compile.Sizes
	head, tail := sizes[:min(4, len(sizes))], sizes[max(0, len(sizes)-3):]
	var window any
	if c.SlidingWindow > 0 {
		window = c.SlidingWindow
	}
	var retention, scheduled any
	if c.Retention != nil {
		retention = *c.Retention
	}
	if c.MaxScheduledTokens != nil {
		scheduled = *c.MaxScheduledTokens
	}
	return map[string]any{
		"all2all": c.All2All, "async_scheduling": c.Async, "block_size": c.BlockSize, "cache_dtype": c.CacheDtype,
		"capture_head": list(head), "capture_tail": list(tail), "n_capture": len(sizes), "max_capture": c.Compile.MaxSize,
		"chunked_prefill": c.ChunkedPrefill, "compile_mode": c.Compile.Mode, "cudagraph_mode": c.Compile.Graphs,
		"disable_cascade_attn": true, "disable_hma": c.DisableHMA, "dp": c.DP, "dp_external_lb": c.ExternalLB, "dp_hybrid_lb": c.HybridLB,
		"dp_local": c.DPLocal, "dtype": c.Dtype, "enforce_eager": c.EnforceEager, "ep": c.EP, "executor": c.Executor,
		"gpu_memory_utilization": c.GPUMemory, "hash_algo": c.HashAlgo, "long_prefill_token_threshold": c.LongPrefill,
		"mamba_cache_mode": c.MambaCacheMode, "max_concurrent_batches": c.InFlight, "max_model_len": c.MaxModelLen,
		"max_num_batched_tokens": c.MaxBatchedTokens, "max_num_scheduled_tokens": scheduled, "max_num_seqs": c.MaxSeqs,
		"optimization_level": fmt.Sprintf("O%d", c.Level), "policy": c.Policy, "pp": c.PP, "prefix_caching": c.PrefixCaching,
		"reserve_full_isl": c.ReserveFullISL, "retention": retention, "runner": c.Runner, "sliding_window": window, "tp": c.TP,
		"use_v2_runner": c.V2Runner, "world_size": c.WorldSize(),
	}
}

func list(v []int) []any {
	out := []any{}
	for _, n := range v {
		out = append(out, n)
	}
	return out
}

type backendLine struct {
	Priorities string
	BackendFor string `json:"backend_for"`
	Capability [2]int
	MLA        bool
	NumHeads   int `json:"num_heads"`
	KV         string
	Order      []string

	Dtype            string
	HeadSize         int  `json:"head_size"`
	BlockSize        *int `json:"block_size"`
	HasSlidingWindow bool `json:"has_sliding_window"`
	UseNonCausal     bool `json:"use_non_causal"`
	UseInvariant     bool `json:"use_batch_invariant"`
	AttnType         string
	AttnTypeName     string `json:"attn_type"`
	Selected         *string
	Valid            []string
	Invalid          map[string][]string
	KernelBlockSizes []any `json:"kernel_block_sizes"`
	Preferred        *int  `json:"preferred_block_size"`
}

func (catalogue) backendLine(data []byte) string {
	var l backendLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err.Error()
	}
	d := Demand{Capability: l.Capability, Dtype: l.Dtype, HeadSize: l.HeadSize, CacheDtype: l.KV, MLA: l.MLA, Heads: l.NumHeads,
		Sliding: l.HasSlidingWindow, NonCausal: l.UseNonCausal, BatchInvariant: l.UseInvariant, AttnType: l.AttnTypeName}
	if l.Priorities != "" {
		return differ("order on "+l.Priorities, Order(d), l.Order)
	}
	if l.BlockSize != nil {
		d.BlockSize = *l.BlockSize
	}
	what := fmt.Sprintf("%s %s head %d cache %s", l.BackendFor, l.Dtype, l.HeadSize, l.KV)
	name, reasons := Choose("", d)
	var valid []string
	for _, n := range Order(d) {
		if reasons[n] == nil {
			valid = append(valid, n)
		}
	}
	want := ""
	if l.Selected != nil {
		want = *l.Selected
	}
	for _, diff := range []string{differ(what+": selected", name, want), sameList(what+": valid", valid, l.Valid), differ(what+": invalid", reasons, l.Invalid)} {
		if diff != "" {
			return diff
		}
	}
	if name == "" {
		return ""
	}
	sizes, multiple := KernelBlocks(name)
	blocks := list(sizes)
	if multiple {
		blocks = []any{[]any{"multiple_of", sizes[0]}}
	}
	if diff := differ(what+": kernel blocks", blocks, l.KernelBlockSizes); diff != "" {
		return diff
	}
	return differ(what+": preferred block", PreferredBlock(name, 16), *l.Preferred)
}

func sameList(what string, got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("%s: got %s, want %s", what, strings.Join(got, " "), strings.Join(want, " "))
}
