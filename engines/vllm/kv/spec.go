package kv

import (
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Kind is how a layer's attention uses its cache.
type Kind uint8

const (
	Full Kind = iota
	SlidingWindow
	ChunkedLocal
	Mamba
)

// rules are what differs between kinds; the kinds' files hold them.
type rules struct {
	event   string // kind in cache events
	manager string // upstream class
	// skipped is how many leading tokens attention no longer reads once computed
	// tokens are there.
	skipped func(g *GroupSpec, computed int) int
	// hit finds the longest cached prefix of at most length tokens.
	hit func(c *Cache, a *attention, h HashSource, length int)
	// runs is how many blocks that end at a boundary a hit there reads; 0 means the
	// kind keeps every block.
	runs func(g *GroupSpec) int
	// peak is the most blocks one request of tokens can hold; limits is what a step
	// can add.
	peak func(g *GroupSpec, tokens, inFlight int) int
}

// registry holds the supported kinds. Source:
// vllm/v1/core/single_type_kv_cache_manager.py:1899-1945.
var registry [4]rules

func init() {
	registry = [4]rules{
		Full:          {"full_attention", "FullAttentionManager", nothingSkipped, fullHit, everyBlock, wholeLength},
		SlidingWindow: {"sliding_window", "SlidingWindowManager", windowSkipped, windowHit, windowBlocks, windowPeak},
		ChunkedLocal:  {"chunked_local_attention", "ChunkedLocalAttentionManager", chunkSkipped, chunkHit, everyBlock, chunkPeak},
		Mamba:         {"mamba", "MambaManager", stateSkipped, stateHit, oneState, statePeak},
	}
}

// SpecKind maps an upstream spec class to its kind, or refuses it by name.
// Source: vllm/v1/kv_cache_interface.py.
func SpecKind(class string) (Kind, error) {
	switch class {
	case "FullAttentionSpec", "MLAAttentionSpec":
		return Full, nil
	case "SlidingWindowSpec", "SlidingWindowMLASpec":
		return SlidingWindow, nil
	case "ChunkedLocalAttentionSpec":
		return ChunkedLocal, nil
	case "MambaSpec":
		return Mamba, nil
	}
	return 0, &diag.Refusal{Field: "kv_cache_spec", Value: class, Problem: "this KV-cache spec is not modelled", Rule: "VLM-6",
		Accept: diag.OneOf(class, []string{"FullAttentionSpec", "MLAAttentionSpec", "SlidingWindowSpec", "SlidingWindowMLASpec", "ChunkedLocalAttentionSpec", "MambaSpec"})}
}

// GroupSpec is a group of layers that share one block table.
type GroupSpec struct {
	Kind      Kind
	BlockSize int // tokens a block
	// Window is the sliding window or the attention chunk, in tokens. A full group may
	// carry the window of windowed layers that it allocates for in full.
	Window int
	Layers int
	// PageBytes is one layer's block in bytes.
	PageBytes int64
	// Aligned marks a mamba group whose states sit on block boundaries; without it the
	// group holds one state a request.
	Aligned bool
	// Extra is the state blocks a mamba group adds for draft tokens.
	Extra int
	// Eagle marks a group whose hits lose their last block to the drafter.
	Eagle bool
}

// Event is the group's kind in cache events.
func (g *GroupSpec) Event() string { return registry[g.Kind].event }

// Manager is the upstream class that manages the group.
func (g *GroupSpec) Manager() string { return registry[g.Kind].manager }

// SlidingWindow is the window of a group that slides or stands in for one that does.
func (g *GroupSpec) SlidingWindow() int {
	if g.Kind == ChunkedLocal {
		return 0
	}
	return g.Window
}

// Peak is the most blocks one request of tokens can hold in the group when at most
// inFlight tokens are being computed.
func (g *GroupSpec) Peak(tokens, inFlight int) int {
	return registry[g.Kind].peak(g, tokens, inFlight)
}

// AdmissionCap is the most blocks a request is charged for at admission, 0 for no
// cap. Source: vllm/v1/kv_cache_interface.py:497-595.
func (g *GroupSpec) AdmissionCap(maxModelLen, inFlight int) int {
	if g.Kind == SlidingWindow || g.Kind == ChunkedLocal {
		return g.Peak(maxModelLen, inFlight)
	}
	return 0
}

func nothingSkipped(*GroupSpec, int) int { return 0 }
func everyBlock(*GroupSpec) int          { return 0 }

func ceilDiv(a, b int) int { return (a + b - 1) / b }
