package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// handler reads one architecture's keys into g and names its modules.
type handler struct {
	read    func(c *config, g *catalog.Graph)
	modules modules
	prefix  string // of layer names in the checkpoint, before ".layers."
	mtp     string // prefix of the MTP layer; "": one past the last layer
}

// handlers by the text model's model_type.
var handlers = map[string]handler{
	"llama":            {readLlama, llamaModules, "model", ""},
	"gpt_oss":          {readGptOss, gptOssModules, "model", ""},
	"minimax_m2":       {readMiniMaxM2, miniMaxModules, "model", ""},
	"deepseek_v3":      {readDeepSeek, deepSeekModules, "model", ""},
	"kimi_k2":          {readDeepSeek, deepSeekModules, "model", ""},
	"glm_moe_dsa":      {readDeepSeek, deepSeekModules, "model", ""},
	"qwen3_5_moe_text": {readQwen35, qwen35Modules, "model", "mtp.layers.0."},
}

// wrappers are multimodal documents, and where their checkpoints keep the language
// model's layers. It is under text_config, whose own model_type does not tell: the
// two Kimi-K2.5 checkpoints differ there. The towers are left out of the graph.
var wrappers = map[string]string{"kimi_k25": "language_model.model", "qwen3_5_moe": "model.language_model"}

// shape reads a config.json into a graph without provenance or storage, and
// returns the handler and the quantization_config found on the way (nil if none).
func shape(file string, data []byte) (*catalog.Graph, handler, *config, error) {
	top, err := parse(file, data)
	if err != nil {
		return nil, handler{}, nil, err
	}
	g := &catalog.Graph{Schema: catalog.GraphSchema, Architecture: architecture(top)}
	c, quant := top, top.sub("quantization_config")
	layers, wrapped := wrappers[top.text("model_type")]
	if wrapped {
		c = top.sub("text_config")
		if c == nil {
			return nil, handler{}, nil, &diag.Refusal{File: file, Field: "text_config", Problem: "is missing", Rule: "SUB-15"}
		}
		top.read["vision_config"], top.read["tie_word_embeddings"] = true, true
		g.Omitted = []string{"vision"}
		if q := c.sub("quantization_config"); q != nil {
			quant = q
		}
		g.Tied = top.flag("tie_word_embeddings")
	}
	h, ok := handlers[c.text("model_type")]
	if !ok {
		return nil, handler{}, nil, &diag.Refusal{
			File: file, Field: "model_type", Value: c.text("model_type"),
			Problem: "is an architecture without a graph handler", Accept: fmt.Sprint(known()), Rule: "SUB-15",
		}
	}
	if wrapped {
		h.prefix = layers
	}
	readCommon(c, g)
	h.read(c, g)
	if err := c.done(); err != nil {
		return nil, handler{}, nil, err
	}
	return g, h, quant, top.done()
}

func known() []string { return slices.Sorted(maps.Keys(handlers)) }

// readCommon reads what every decoder has.
func readCommon(c *config, g *catalog.Graph) {
	if name := architecture(c); name != "" {
		g.Architecture = name
	}
	g.Hidden, g.Vocab, g.MaxPosition = c.size("hidden_size"), c.size("vocab_size"), c.size("max_position_embeddings")
	g.Tied = g.Tied || c.flag("tie_word_embeddings")
	c.must("hidden_act", "silu") // gated: three matrices an MLP
	g.Dtype = dtype(c)
	g.Rope = rope(c)
}

// architecture is the class the document names; a wrapper's inner document may not.
func architecture(c *config) string {
	var names []string
	if c.get("architectures", &names); len(names) != 1 {
		return ""
	}
	return names[0]
}

// dtype is that of unquantised tensors. A configuration without one is loaded as
// bfloat16 by the engines and its owners' checkpoints are bfloat16.
func dtype(c *config) quantity.Format {
	for _, key := range []string{"dtype", "torch_dtype"} {
		if s := c.text(key); s != "" && s != "bfloat16" {
			c.fail(key, s, "is not a dtype this deriver knows", "bfloat16")
		}
	}
	return quantity.BF16
}

// rope reads both spellings: rope_scaling with rope_theta beside it, and
// rope_parameters with it inside.
func rope(c *config) catalog.Rope {
	r := catalog.Rope{Scaling: "none"}
	c.get("rope_theta", &r.Theta)
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		s := c.sub(key)
		if s == nil {
			continue
		}
		s.get("rope_theta", &r.Theta)
		for _, k := range []string{"type", "rope_type"} {
			switch kind := s.text(k); kind {
			case "", "default":
			case "yarn", "llama3":
				r.Scaling = kind
			default:
				c.fail(key+"."+k, kind, "is a scaling this deriver does not know", "default, yarn, llama3")
			}
		}
		s.get("factor", &r.Factor)
		r.OriginalPosition = s.optional("original_max_position_embeddings")
	}
	return r
}

// partial is the rotating elements of a head of dim, from the factor given in one
// of three places.
func partial(c *config, dim int) int {
	factor := 1.0
	if s := c.sub("rope_parameters"); s != nil {
		s.get("partial_rotary_factor", &factor)
	}
	c.get("partial_rotary_factor", &factor)
	n := int(math.Round(factor * float64(dim)))
	if given := c.optional("rotary_dim"); given > 0 {
		n = given
	}
	return n
}

// encode run-length encodes layer block names: the shortest repeated prefix, then
// the rest, so 61 layers of two kinds read as two lines.
func encode(names []string) []catalog.LayerGroup {
	var out []catalog.LayerGroup
	for len(names) > 0 {
		period, repeat := bestPeriod(names)
		out = append(out, catalog.LayerGroup{Repeat: repeat, Pattern: names[:period]})
		names = names[period*repeat:]
	}
	return out
}

// bestPeriod is the period (at most 8) whose repetition covers the most layers;
// ties go to the shorter.
func bestPeriod(names []string) (period, repeat int) {
	period, repeat = 1, 1
	for p := 1; p <= min(8, len(names)); p++ {
		n := 1
		for (n+1)*p <= len(names) && slices.Equal(names[:p], names[n*p:(n+1)*p]) {
			n++
		}
		if n*p > period*repeat && (n > 1 || p == 1) {
			period, repeat = p, n
		}
	}
	return period, repeat
}

// repeated is n times the same name.
func repeated(n int, name string) []string { return slices.Repeat([]string{name}, max(n, 0)) }
