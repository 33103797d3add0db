// Package config resolves SGLang's server arguments as ServerArgs does at start-up:
// stated values kept, the rest from defaults and from rules over the chip and the
// model.
//
// In: arguments by their long names, the model's shape, the chip. Out: a Config with
// the source of every value, or a refusal. It sizes nothing and opens nothing. No
// start-up of SGLang was recorded: rules rest on the reading of the source and their
// reasons begin with "inferred" where even that was not at hand.
//
// Source: sgl-project/sglang@0bda0b168ad5bf7311ae639904489a4698a05546
// python/sglang/srt/server_args.py, arg_groups/overrides.py. Rules kept: SGL-3, X1,
// SUB-6.
package config

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Config is the resolved launch of one server.
type Config struct {
	Tensor, Expert int
	ContextLen     int
	Chunk          int // chunked_prefill_size; <= 0 is off
	MaxPrefill     int
	MaxRunning     int // as stated; 0 is unset
	MaxTotal       int // max_total_tokens as stated; 0 is unset
	MemFraction    float64
	Page           int
	Attention      string // of decode; Prefill is that of prompts
	Prefill        string
	KV             quantity.Format
	StateDtype     quantity.Format // of recurrent states
	MoERunner      string
	GraphSizes     []int // sequences of captured decode graphs, ascending; nil is none
	PrefillSizes   []int // tokens of captured prefill graphs
	Overlap        bool
	MixedChunk     bool
	Policy         string
	Conservative   float64
	Eviction       string
	NoTree         bool
	StreamInterval int
	RecvInterval   int
	FusedReduce    bool // one kernel reduces and normalises
	MaxQueued      int
	PrefillMax     int
	DecodeLog      int
	Seed           int
	Priorities     bool
	LowFirst       bool
	NoPreemption   bool
	PreemptAbove   int
	DecodeCredits  int
	Env            map[string]string // as stated; the scheduler reads its own

	Chip    *catalog.Chip
	Graph   *catalog.Graph
	Storage catalog.Storage
	Sources map[string]Source // by argument name
	Values  map[string]string // resolved, for people
}

// Source is where a value came from.
type Source struct {
	Kind string // "stated", "default", "rule"
	Why  string
}

// Input is what a launch resolves from.
type Input struct {
	Args       map[string]any
	Env        map[string]string
	Graph      *catalog.Graph
	Checkpoint *catalog.Checkpoint
	Chip       *catalog.Chip
	Nodes      int
}

// Architecture of the chip, as the choices below ask for it.
func (c *Config) hopper() bool    { return c.Chip.Architecture == "hopper" }
func (c *Config) blackwell() bool { return c.Chip.Architecture == "blackwell" }
func (c *Config) amd() bool       { return c.Chip.Vendor == "amd" }

// latent, sparse and recurrent say what kinds of layers the model has.
func (c *Config) latent() bool {
	return c.has(func(a *catalog.Attention) bool { return a.Latent != nil })
}

// Sparse says whether an indexer picks the tokens attended.
func (c *Config) Sparse() bool {
	return c.has(func(a *catalog.Attention) bool { return a.Indexer != nil })
}

// Recurrent says whether some layers keep a state instead of tokens.
func (c *Config) Recurrent() bool {
	return c.has(func(a *catalog.Attention) bool { return a.Recurrent != nil })
}

func (c *Config) has(is func(*catalog.Attention) bool) bool {
	for b, n := range c.Graph.BlockCounts() {
		if n > 0 && is(&b.Attention) {
			return true
		}
	}
	return false
}

func (c *Config) experts() *catalog.MoE {
	for b, n := range c.Graph.BlockCounts() {
		if n > 0 && b.MLP.MoE != nil {
			return b.MLP.MoE
		}
	}
	return nil
}

// memoryMiB is the chip's memory as nvidia-smi would say it.
func (c *Config) memoryMiB() float64 { return float64(c.Chip.MemoryBytes()) / (1 << 20) }
