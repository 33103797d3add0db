package config

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Model is what start-up resolution reads of a checkpoint's config.json.
type Model struct {
	Name         string
	Architecture string
	Layers       int
	Heads        int
	KVHeads      int
	HeadDim      int
	MaxLen       int // derived: max_position_embeddings, stretched by yarn and its kin
	Window       int // of a model whose every layer is windowed, or some; 0 is none
	Experts      int // 0 is dense
	MLA          bool
	SparseMLA    bool
	Hybrid       bool // some layer keeps a recurrent state
	Interleaved  bool // windowed layers beside full ones
	Pooling      bool
	Sinks        bool
	Predictors   int // multi-token-prediction modules (n_predict)
}

// FromCatalog reads the facts of a catalog model.
func FromCatalog(m *catalog.Model, checkpoint string) Model {
	g := m.Graph
	f := Model{Name: checkpoint, Architecture: g.Architecture, Layers: g.LayerCount(), MaxLen: g.MaxPosition}
	if g.MTP != nil {
		f.Predictors = g.MTP.Modules
	}
	full, windowed := 0, 0
	for b, n := range g.BlockCounts() {
		if n == 0 {
			continue
		}
		a := b.Attention
		f.Sinks = f.Sinks || a.Sinks
		if b.MLP.MoE != nil {
			f.Experts = max(f.Experts, b.MLP.MoE.Experts)
		}
		switch a.Kind {
		case catalog.MLA, catalog.SparseMLA:
			f.MLA, f.Heads, f.KVHeads, f.HeadDim = true, a.Heads, 1, a.Latent.KVRank+a.Latent.RopeDim
			f.SparseMLA = f.SparseMLA || a.Kind == catalog.SparseMLA
			full += n
		case catalog.GatedDelta, catalog.Mamba2:
			f.Hybrid = true
		case catalog.Sliding, catalog.Chunked:
			f.Heads, f.KVHeads, f.HeadDim, f.Window = a.Heads, a.KVHeads, a.HeadDim, a.Window
			windowed += n
		case catalog.Full:
			f.Heads, f.KVHeads, f.HeadDim = a.Heads, a.KVHeads, a.HeadDim
			full += n
		}
	}
	f.Interleaved = full > 0 && windowed > 0
	return f
}

// Chip is what resolution reads of an accelerator: visible memory, CUDA
// capability, product name.
type Chip struct {
	Name       string
	GiB        float64
	Capability [2]int
}

// ChipOf reads a catalog chip, or refuses one that is not a CUDA device.
func ChipOf(c *catalog.Chip) (Chip, error) {
	out := Chip{Name: c.Name, GiB: float64(c.MemoryBytes()) / float64(quantity.Bytes(1<<30))}
	if _, err := fmt.Sscanf(c.ComputeCapability, "%d.%d", &out.Capability[0], &out.Capability[1]); err != nil {
		return out, valueError("chip %s has compute capability %q: this port resolves vLLM's CUDA platform only", c.Name, c.ComputeCapability)
	}
	return out, nil
}

// Blackwell is the data-centre part of SM 10.x.
func (c Chip) Blackwell() bool { return c.Capability[0] == 10 }

// Hopper is SM 9.0.
func (c Chip) Hopper() bool { return c.Capability == [2]int{9, 0} }

// Usage is who starts the engine; batch defaults depend on it.
type Usage string

const (
	APIServer Usage = "OPENAI_API_SERVER"
	LLMClass  Usage = "LLM_CLASS"
	NoUsage   Usage = ""
)

// batchDefaults are max_num_batched_tokens and max_num_seqs by device memory
// (arg_utils.py:2566-2657; recorded in defaults.json).
func batchDefaults(chip Chip, u Usage) (tokens, seqs int) {
	if u == NoUsage {
		return 2048, 128
	}
	tokens, seqs = 8192, 256
	server := 2048
	switch {
	case chip.GiB >= 160:
		tokens, server, seqs = 16384, 16384, 1024
	case chip.GiB >= 70 && !strings.Contains(strings.ToLower(chip.Name), "a100"):
		tokens, server, seqs = 16384, 8192, 1024
	}
	if u == APIServer {
		tokens = server
	}
	return tokens, seqs
}

// runsV2 says whether the V2 model runner takes the model: dense ones, and listed
// architectures, of which none is on record (vllm.py:648-726).
func (m Model) runsV2() bool { return m.Experts == 0 && !m.Hybrid }
