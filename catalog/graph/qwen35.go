package graph

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// readQwen35 reads Qwen3.5 MoE: gated delta-net layers with one gated full
// attention layer in every full_attention_interval, each with routed experts and
// one gated shared expert.
func readQwen35(c *config, g *catalog.Graph) {
	full := gqa(c, g)
	full.QKNorm, full.OutputGate = catalog.PerHead, c.flag("attn_output_gate")
	state := quantity.BF16
	if c.text("mamba_ssm_dtype") == "float32" {
		state = quantity.FP32
	}
	linear := catalog.Attention{Kind: catalog.GatedDelta, QKNorm: catalog.Unweighted, Recurrent: &catalog.Recurrent{
		KeyHeads: c.size("linear_num_key_heads"), KeyHeadDim: c.size("linear_key_head_dim"),
		ValueHeads: c.size("linear_num_value_heads"), ValueHeadDim: c.size("linear_value_head_dim"),
		ConvKernel: c.size("linear_conv_kernel_dim"), StateDtype: state,
	}}
	c.must("mlp_only_layers", []int{})
	moe := &catalog.MoE{
		Experts: c.size("num_experts"), TopK: c.size("num_experts_per_tok"), Inter: c.size("moe_intermediate_size"),
		SharedInter: c.size("shared_expert_intermediate_size"), SharedGate: true, Scoring: "softmax",
	}
	g.Blocks = []catalog.Block{
		{Name: "linear_moe", Norms: 2, Attention: linear, MLP: catalog.MLP{MoE: moe}},
		{Name: "full_moe", Norms: 2, Attention: full, MLP: catalog.MLP{MoE: moe}},
	}
	names := layerTypes(c, map[string]string{"linear_attention": "linear_moe", "full_attention": "full_moe"})
	interval := c.size("full_attention_interval")
	for i, name := range names {
		if interval > 0 && (name == "full_moe") != ((i+1)%interval == 0) {
			c.fail("full_attention_interval", "", "disagrees with layer_types", "")
		}
	}
	g.Layers = encode(names)
	if n := c.optional("mtp_num_hidden_layers"); n > 0 {
		g.MTP = &catalog.MTP{Modules: 1, Layers: n, Block: "full_moe", OwnEmbeddings: c.flag("mtp_use_dedicated_embeddings")}
	}
}
