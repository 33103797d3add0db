package lower

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// fullMixed are backends whose mixed batches can be captured whole; the others
// capture uniform decode batches only (AttentionCGSupport; inferred for FlashInfer
// and MLA from their classes, not recorded).
func (l *lowering) fullMixed() bool {
	return l.k.attention == "TRITON_ATTN" || l.k.attention == "FLASH_ATTN" && !l.c.Chip.Blackwell() && l.c.Chip.Hopper()
}

// graphMode is cudagraph_mode after the attention backend had its say
// (gpu_model_runner.py, _check_and_update_cudagraph_mode): a backend that cannot
// capture mixed batches turns FULL into FULL_AND_PIECEWISE, or into
// FULL_DECODE_ONLY when attention is not split off.
func (l *lowering) graphMode() string {
	k := &l.c.Compile
	mode := k.Graphs
	split := !k.NoSplitting && k.Mode == "VLLM_COMPILE"
	if k.Pass.FuseAttnQuant && (mode == "FULL_AND_PIECEWISE" || mode == "PIECEWISE") {
		mode, split = "FULL", false
		l.choose("cudagraph-mode", mode, "inferred: pass_config.fuse_attn_quant keeps attention in the compiled graph")
	}
	if mode == "FULL" && !l.fullMixed() {
		mode = "FULL_DECODE_ONLY"
		if split {
			mode = "FULL_AND_PIECEWISE"
		}
		l.choose("cudagraph-mode", mode, "inferred: "+l.k.attention+" cannot capture mixed batches")
	}
	if !split && (mode == "PIECEWISE" || mode == "FULL_AND_PIECEWISE") {
		mode = map[string]string{"PIECEWISE": "NONE", "FULL_AND_PIECEWISE": "FULL_DECODE_ONLY"}[mode]
		l.choose("cudagraph-mode", mode, "inferred: without splitting_ops there is nothing to capture piecewise")
	}
	return mode
}

// graphs lists what is captured. Full decode graphs reach the largest uniform
// batch (v1/cudagraph_dispatcher.py, initialize_cudagraph_keys).
func (l *lowering) graphs() Padding {
	c := l.c
	var g plan.GraphPolicy
	mode := l.graphMode()
	query := 1 + c.Drafts()
	decode := slices.DeleteFunc(slices.Clone(c.Compile.Sizes), func(n int) bool { return n > query*c.MaxSeqs || n < query })
	switch mode {
	case "PIECEWISE":
		g.Piecewise = c.Compile.Sizes
	case "FULL":
		g.Full = c.Compile.Sizes
	case "FULL_DECODE_ONLY":
		g.Full = decode
	case "FULL_AND_PIECEWISE":
		g.Full, g.Piecewise = decode, c.Compile.Sizes
	}
	return Padding{g, captured(g.Full), captured(g.Piecewise), query, mode == "FULL"}
}

// Padding says how a step is launched.
type Padding struct {
	graphs    plan.GraphPolicy
	full      []int // by tokens, up to the largest captured size
	piecewise []int
	query     int  // tokens of a uniform decode sequence
	fullMixed bool // cudagraph_mode FULL: mixed batches replay full graphs too
}

// Of pads a batch of tokens over seqs sequences; uniform is a batch whose every
// sequence decodes query tokens. Steps above the largest captured size run as they
// are, without a graph (v1/cudagraph_dispatcher.py:72-93, 240-330).
func (p *Padding) Of(tokens, seqs int, uniform bool) plan.PaddedShape {
	if uniform || p.fullMixed {
		if n, ok := up(p.full, tokens); ok {
			return plan.PaddedShape{Tokens: n, Seqs: n / p.query, Launch: plan.FullGraph}
		}
	}
	if n, ok := up(p.piecewise, tokens); ok {
		return plan.PaddedShape{Tokens: n, Seqs: seqs, Launch: plan.PiecewiseGraph}
	}
	return plan.PaddedShape{Tokens: tokens, Seqs: seqs, Launch: plan.Eager}
}

// captured is the least of the ascending sizes that holds n tokens, by n.
func captured(sizes []int) []int {
	var by []int
	for _, size := range sizes {
		for len(by) <= size {
			by = append(by, size)
		}
	}
	return by
}

func up(captured []int, n int) (int, bool) {
	if n >= len(captured) {
		return 0, false
	}
	return captured[n], true
}
