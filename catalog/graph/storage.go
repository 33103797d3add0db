package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// modules are a layer's linear modules by class, named below "layers.N.", as the
// checkpoints name them. Classes without an entry are never quantised:
// embeddings, norms, routers and lm_head.
type modules map[catalog.Class][]string

var (
	selfAttention = []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}
	latentIn      = []string{"self_attn.q_a_proj", "self_attn.q_b_proj", "self_attn.kv_a_proj_with_mqa", "self_attn.kv_b_proj"}
	output        = []string{"self_attn.o_proj"}
	gated         = []string{"gate_proj", "up_proj", "down_proj"}

	llamaModules = modules{
		catalog.AttentionIn: selfAttention, catalog.AttentionOut: output, catalog.DenseMLP: under("mlp.", gated),
	}
	gptOssModules = modules{
		catalog.AttentionIn: selfAttention, catalog.AttentionOut: output, catalog.Expert: {"mlp.experts"},
	}
	miniMaxModules = modules{
		catalog.AttentionIn: selfAttention, catalog.AttentionOut: output,
		catalog.Expert: under("block_sparse_moe.experts.0.", []string{"w1", "w2", "w3"}),
	}
	deepSeekModules = modules{
		catalog.AttentionIn: latentIn, catalog.AttentionOut: output,
		catalog.IndexerLinear: {"self_attn.indexer.wq_b", "self_attn.indexer.wk"},
		catalog.IndexerHead:   {"self_attn.indexer.weights_proj"},
		catalog.DenseMLP:      under("mlp.", gated), catalog.SharedExpert: under("mlp.shared_experts.", gated),
		catalog.Expert: under("mlp.experts.0.", gated),
	}
	qwen35Modules = modules{
		catalog.AttentionIn: selfAttention, catalog.AttentionOut: output,
		catalog.RecurrentPart: {"linear_attn.in_proj_qkv", "linear_attn.in_proj_z", "linear_attn.out_proj"},
		catalog.SharedExpert:  under("mlp.shared_expert.", gated), catalog.Expert: under("mlp.experts.0.", gated),
	}
)

func under(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = prefix + n
	}
	return out
}

// scheme is a checkpoint's quantisation: one format, the modules kept out of it,
// and the cache format it asks for.
type scheme struct {
	format quantity.Format            // "" when nothing is quantised
	kv     quantity.Format            // "" when the checkpoint asks for none
	kept   []func(module string) bool // kept in the model's dtype
	layers []string                   // the names in kept that start at the root and reach into layers
}

// located refuses a kept name that lies outside the layers the handler names: it
// would match nothing and leave its module quantised.
func (s scheme) located(file string, h handler) error {
	for _, n := range s.layers {
		if !h.names(n) {
			return &diag.Refusal{File: file, Field: "quantization", Value: n, Problem: "is kept unquantised but is none of this architecture's modules", Accept: h.prefix + ".layers.N...", Rule: "SUB-15"}
		}
	}
	return nil
}

// excludes says whether a module or one of its parents is kept in the model's
// dtype.
func (s scheme) excludes(module string) bool {
	return slices.ContainsFunc(s.kept, func(match func(string) bool) bool { return match(module) })
}

// storage resolves a scheme to one format per class of g's tensors.
func storage(file string, g *catalog.Graph, h handler, s scheme) (catalog.Storage, error) {
	out := catalog.Storage{KVCache: g.Dtype, Tensors: map[catalog.Class]quantity.Format{}}
	if err := s.located(file, h); err != nil {
		return out, err
	}
	if s.kv != "" {
		out.KVCache = s.kv
	}
	for t := range g.Tensors() {
		out.Tensors[t.Class] = g.Dtype
	}
	layers := map[catalog.Class]quantity.Format{}
	for i, b := range g.LayerBlocks() {
		if err := s.layer(file, g, b, h.modules, fmt.Sprintf("%s.layers.%d.", h.prefix, i), layers); err != nil {
			return out, err
		}
	}
	maps.Copy(out.Tensors, layers)
	if g.MTP == nil {
		return out, nil
	}
	mtp := map[catalog.Class]quantity.Format{}
	if err := s.layer(file, g, g.Block(g.MTP.Block), h.modules, h.mtpPrefix(g), mtp); err != nil {
		return out, err
	}
	maps.DeleteFunc(mtp, func(class catalog.Class, f quantity.Format) bool { return f == out.Tensors[class] })
	if len(mtp) > 0 {
		out.MTP = mtp
	}
	return out, nil
}

// layer sets in to the format of each class b has modules of, and refuses a class
// whose modules differ from each other or from an earlier layer's.
func (s scheme) layer(file string, g *catalog.Graph, b *catalog.Block, m modules, prefix string, in map[catalog.Class]quantity.Format) error {
	for t := range g.BlockTensors(b) {
		for _, module := range m[t.Class] {
			f := s.format
			if f == "" || s.excludes(prefix+module) {
				f = g.Dtype
			}
			if before, seen := in[t.Class]; seen && before != f {
				return &diag.Refusal{
					File: file, Field: prefix + module, Value: string(f), Problem: "is stored unlike the rest of class " + string(t.Class),
					Accept: string(before), Rule: "SUB-15",
				}
			}
			in[t.Class] = f
		}
	}
	return nil
}

// names says whether a module stands where h's layers do, those of the MTP tree
// included.
func (h handler) names(module string) bool {
	tree, _, own := strings.Cut(h.mtp, "layers.")
	return strings.HasPrefix(module, h.prefix+".layers.") || own && strings.HasPrefix(module, tree)
}

// mtpPrefix names the module of the MTP layer: one past the last layer, or a tree
// of its own.
func (h handler) mtpPrefix(g *catalog.Graph) string {
	if h.mtp != "" {
		return h.mtp
	}
	return fmt.Sprintf("%s.layers.%d.", h.prefix, g.LayerCount())
}
