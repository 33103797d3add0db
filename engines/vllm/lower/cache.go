package lower

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// cache lists the KV layers of the fullest stage and the groups they form, and
// leaves the look-up from a layer to its first group.
func (l *lowering) cache(stages [][]indexed, block int) ([]kv.Layer, []plan.KVGroup, error) {
	l.statePage = l.statePadding(block)
	fullest := 0
	for s := range stages {
		if len(stages[s]) > len(stages[fullest]) {
			fullest = s
		}
	}
	var layers []kv.Layer
	for _, f := range fold(stages[fullest]) {
		if spec, ok := l.spec(f.block.Attention, block); ok {
			layers = append(layers, kv.Layer{Spec: spec, Count: f.count})
		}
	}
	groups, err := kv.Group(layers, l.c.DisableHMA)
	if err != nil {
		return nil, nil, err
	}
	var out []plan.KVGroup
	for _, g := range groups {
		out = append(out, plan.KVGroup{Kind: planKind(g, l.c.Model.MLA), Window: window(g), Layers: g.Layers,
			PageTokens: g.BlockSize, BytesPerPage: quantity.Bytes(g.PageBytes * int64(g.Layers))})
	}
	l.group = func(a catalog.Attention) int {
		spec, _ := l.spec(a, block)
		for i, g := range groups {
			if g.Kind == spec.Kind || l.c.DisableHMA && g.Kind == kv.Full {
				return i
			}
		}
		return 0
	}
	return layers, out, nil
}

func planKind(g kv.GroupSpec, mla bool) string {
	switch g.Kind {
	case kv.SlidingWindow:
		return "sliding_window"
	case kv.ChunkedLocal:
		return "chunked_local"
	case kv.Mamba:
		return "recurrent"
	}
	if mla {
		return "mla"
	}
	return "full"
}

func window(g kv.GroupSpec) int {
	if g.Kind == kv.SlidingWindow || g.Kind == kv.ChunkedLocal {
		return g.Window
	}
	return 0
}

// spec is a layer's KV-cache spec on one rank; ok is false for a layer that keeps
// nothing.
func (l *lowering) spec(a catalog.Attention, block int) (s kv.GroupSpec, ok bool) {
	s.BlockSize = block
	switch a.Kind {
	case catalog.NoMixer:
		return s, false
	case catalog.MLA, catalog.SparseMLA:
		s.PageBytes = l.bytes(block, a.Latent.KVRank+a.Latent.RopeDim)
		return s, true
	case catalog.GatedDelta, catalog.Mamba2:
		s.Kind, s.PageBytes = kv.Mamba, max(l.stateBytes(a), l.statePage)
		return s, true
	case catalog.Sliding:
		s.Kind, s.Window = kv.SlidingWindow, a.Window
	case catalog.Chunked:
		s.Kind, s.Window = kv.ChunkedLocal, a.Window
	}
	if l.c.WindowOff && s.Kind == kv.SlidingWindow {
		s.Kind, s.Window = kv.Full, 0
	}
	_, heads := l.headShare(a)
	s.PageBytes = l.bytes(block, heads*(a.HeadDim+a.ValueHeadDim))
	return s, true
}

// bytes of tokens cached at width elements each; scales of an FP8 cache are one
// per layer and live with the weights.
func (l *lowering) bytes(tokens, width int) int64 {
	layout, _ := l.k.kv.Layout()
	bits := layout.PayloadBits
	n := int64(tokens) * int64(width)
	if layout.Cols > 0 {
		return n*int64(bits)/8 + n/layout.Cols*int64(layout.ScaleBits)/8
	}
	return n * int64(bits) / 8
}

// stateBytes is one sequence's recurrent state and convolution tail on one rank.
func (l *lowering) stateBytes(a catalog.Attention) int64 {
	r := *a.Recurrent
	heads, keys := ceilDiv(r.ValueHeads, l.c.TP), ceilDiv(r.KeyHeads, l.c.TP)
	state := stateElement(l.c.MambaStateDtype, r.StateDtype == quantity.FP32)
	conv := stateElement(l.c.MambaDtype, false) * int64((r.ConvKernel-1)*(2*keys*r.KeyHeadDim+heads*r.ValueHeadDim))
	return state*int64(heads*r.KeyHeadDim*r.ValueHeadDim) + conv
}

// stateElement is the bytes of a state's element, as stated or as the model has it.
func stateElement(stated string, wide bool) int64 {
	if stated == "float32" || stated == "auto" && wide {
		return 4
	}
	return half
}

// stateBlock is the attention block of a hybrid model: the smallest multiple of 16
// tokens whose page holds a recurrent state, or the stated one when it is larger
// (models/config.py, HybridAttentionMambaModelConfig; inferred: these hooks are not
// on record).
func (l *lowering) stateBlock(block int) int {
	perToken, state := l.perToken(), l.largestState()
	if perToken == 0 || state == 0 {
		return block
	}
	const align = 16
	need := align * int((state+align*perToken-1)/(align*perToken))
	if need > block {
		l.choose("block-size", fmt.Sprint(need), "inferred: a block's page must hold a recurrent state")
	}
	return max(block, need)
}

// statePadding is what a state's page is padded to: the attention page.
func (l *lowering) statePadding(block int) int64 { return l.perToken() * int64(block) }

func (l *lowering) perToken() int64 {
	for b, n := range l.g.BlockCounts() {
		if n > 0 && b.Attention.Recurrent == nil && b.Attention.Kind != catalog.NoMixer {
			s, _ := l.spec(b.Attention, 1)
			return s.PageBytes
		}
	}
	return 0
}

func (l *lowering) largestState() int64 {
	var most int64
	for b, n := range l.g.BlockCounts() {
		if n > 0 && b.Attention.Recurrent != nil {
			most = max(most, l.stateBytes(b.Attention))
		}
	}
	return most
}
