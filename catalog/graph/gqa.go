package graph

import (
	"github.com/inference-sim/accuracy-dashboard/catalog"
)

// gqa reads grouped-query attention with head_dim defaulting to hidden/heads.
func gqa(c *config, g *catalog.Graph) catalog.Attention {
	a := catalog.Attention{Kind: catalog.Full, Heads: c.size("num_attention_heads"), KVHeads: c.size("num_key_value_heads")}
	if a.HeadDim = c.optional("head_dim"); a.HeadDim == 0 && a.Heads > 0 {
		a.HeadDim = g.Hidden / a.Heads
	}
	a.ValueHeadDim = a.HeadDim
	a.RotaryDim = partial(c, a.HeadDim)
	a.Bias = c.flag("attention_bias")
	return a
}

func readLlama(c *config, g *catalog.Graph) {
	g.Blocks = []catalog.Block{{
		Name: "dense", Norms: 2, Attention: gqa(c, g),
		MLP: catalog.MLP{Inter: c.size("intermediate_size"), Bias: c.flag("mlp_bias")},
	}}
	g.Layers = encode(repeated(c.size("num_hidden_layers"), "dense"))
}

// readGptOss: window layers alternate with full ones; sinks and biases are the
// architecture's (openai/gpt-oss@main gpt_oss/torch/model.py: AttentionBlock,
// MLPBlock).
func readGptOss(c *config, g *catalog.Graph) {
	full := gqa(c, g)
	full.Sinks = true
	window := full
	window.Kind, window.Window = catalog.Sliding, c.size("sliding_window")
	moe := &catalog.MoE{
		Experts: c.size("num_local_experts"), TopK: c.size("num_experts_per_tok"), Inter: c.size("intermediate_size"),
		Scoring: "softmax", RouterBias: true, ExpertBias: true,
	}
	c.must("experts_per_token", moe.TopK)
	g.Blocks = []catalog.Block{
		{Name: "window_moe", Norms: 2, Attention: window, MLP: catalog.MLP{MoE: moe}},
		{Name: "full_moe", Norms: 2, Attention: full, MLP: catalog.MLP{MoE: moe}},
	}
	g.Layers = encode(layerTypes(c, map[string]string{"sliding_attention": "window_moe", "full_attention": "full_moe"}))
}

// layerTypes maps the layer_types list to block names and holds it to
// num_hidden_layers.
func layerTypes(c *config, blocks map[string]string) []string {
	var types, names []string
	c.need("layer_types", &types)
	for _, t := range types {
		if blocks[t] == "" {
			c.fail("layer_types", t, "is a layer this deriver does not know", "")
		}
		names = append(names, blocks[t])
	}
	c.must("num_hidden_layers", len(names))
	return names
}

func readMiniMaxM2(c *config, g *catalog.Graph) {
	a := gqa(c, g)
	if c.flag("use_qk_norm") {
		c.must("qk_norm_type", "per_layer")
		a.QKNorm = catalog.PerLayer
	}
	c.must("sliding_window", nil)
	c.must("shared_intermediate_size", 0)
	layers := c.size("num_hidden_layers")
	var attention []int // 1 is softmax attention, 0 a linear layer of the family's M1
	c.get("attn_type_list", &attention)
	for _, kind := range attention {
		if kind != 1 {
			c.fail("attn_type_list", "", "holds a layer without softmax attention", "1 for each layer")
		}
	}
	g.Blocks = []catalog.Block{{Name: "moe", Norms: 2, Attention: a, MLP: catalog.MLP{MoE: &catalog.MoE{
		Experts: c.size("num_local_experts"), TopK: c.size("num_experts_per_tok"), Inter: c.size("intermediate_size"),
		Scoring: c.text("scoring_func"), RouterBias: c.flag("use_routing_bias"),
	}}}}
	g.Layers = encode(repeated(layers, "moe"))
	modules, depth := c.optional("num_mtp_modules"), c.optional("mtp_transformer_layers")
	if c.flag("use_mtp") {
		g.MTP = &catalog.MTP{Modules: modules, Layers: depth, Block: "moe"}
	}
}
