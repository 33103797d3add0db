package graph

import "github.com/inference-sim/accuracy-dashboard/catalog"

// readDeepSeek reads the DeepSeek-V3 family: latent attention, leading dense
// layers, then MoE with shared experts. index_* keys make it sparse (DeepSeek-V3.2
// report §2.1; GLM-5 takes the same layer).
func readDeepSeek(c *config, g *catalog.Graph) {
	a := latent(c)
	layers, dense := c.size("num_hidden_layers"), c.size("first_k_dense_replace")
	c.must("moe_layer_freq", 1)
	moe := deepSeekMoE(c)
	g.Blocks = []catalog.Block{
		{Name: "mla_dense", Norms: 2, Attention: a, MLP: catalog.MLP{Inter: c.size("intermediate_size")}},
		{Name: "mla_moe", Norms: 2, Attention: a, MLP: catalog.MLP{MoE: moe}},
	}
	g.Layers = encode(append(repeated(dense, "mla_dense"), repeated(layers-dense, "mla_moe")...))
	if n := c.optional("num_nextn_predict_layers"); n > 0 {
		g.MTP = &catalog.MTP{Modules: n, Layers: 1, Block: "mla_moe"}
	}
}

func latent(c *config) catalog.Attention {
	l := &catalog.Latent{
		QRank: c.optional("q_lora_rank"), KVRank: c.size("kv_lora_rank"),
		NopeDim: c.size("qk_nope_head_dim"), RopeDim: c.size("qk_rope_head_dim"),
	}
	a := catalog.Attention{
		Kind: catalog.MLA, Heads: c.size("num_attention_heads"), HeadDim: l.NopeDim + l.RopeDim,
		ValueHeadDim: c.size("v_head_dim"), RotaryDim: l.RopeDim, Bias: c.flag("attention_bias"), Latent: l,
	}
	c.must("num_key_value_heads", a.Heads) // the latent is expanded to every head
	c.must("qk_head_dim", a.HeadDim)
	c.must("head_dim", a.HeadDim, l.RopeDim) // GLM-5 repeats the rotating part under this key
	if n := c.optional("index_n_heads"); n > 0 {
		a.Kind = catalog.SparseMLA
		a.Indexer = &catalog.Indexer{Heads: n, HeadDim: c.size("index_head_dim"), TopK: c.size("index_topk")}
	}
	return a
}

func deepSeekMoE(c *config) *catalog.MoE {
	m := &catalog.MoE{
		Experts: c.size("n_routed_experts"), TopK: c.size("num_experts_per_tok"), Inter: c.size("moe_intermediate_size"),
		Scoring: c.text("scoring_func"), RouterBias: c.text("topk_method") == "noaux_tc",
	}
	m.SharedInter = c.optional("n_shared_experts") * m.Inter
	if groups := c.optional("n_group"); groups > 1 {
		m.Groups, m.TopKGroups = groups, c.size("topk_group")
	} else {
		c.must("topk_group", 1)
	}
	return m
}
