package graph

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// Small configurations written for these tests, one an architecture; sizes are
// such that no two dimensions are equal.
const (
	llama    = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":160,"num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":96,"max_position_embeddings":512,"hidden_act":"silu","rope_theta":10000,"rope_scaling":{"rope_type":"llama3","factor":8,"original_max_position_embeddings":128}}`
	gptOss   = `{"architectures":["GptOssForCausalLM"],"model_type":"gpt_oss","hidden_size":64,"intermediate_size":48,"num_hidden_layers":4,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":16,"vocab_size":96,"max_position_embeddings":512,"attention_bias":true,"sliding_window":32,"num_local_experts":6,"num_experts_per_tok":2,"experts_per_token":2,"rope_theta":150000,"layer_types":["sliding_attention","full_attention","sliding_attention","full_attention"],"quantization_config":{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router","lm_head"]}}`
	miniMax  = `{"architectures":["MiniMaxM2ForCausalLM"],"model_type":"minimax_m2","hidden_size":64,"intermediate_size":48,"num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":16,"rotary_dim":8,"vocab_size":96,"max_position_embeddings":512,"num_local_experts":6,"num_experts_per_tok":2,"use_qk_norm":true,"qk_norm_type":"per_layer","use_routing_bias":true,"scoring_func":"sigmoid","use_mtp":true,"num_mtp_modules":3,"mtp_transformer_layers":1,"rope_theta":10000,"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128],"fmt":"float8_e4m3fn","activation_scheme":"dynamic","modules_to_not_convert":["gate","lm_head"]}}`
	deepSeek = `{"architectures":["DeepseekV3ForCausalLM"],"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":160,"moe_intermediate_size":48,"num_hidden_layers":3,"first_k_dense_replace":1,"moe_layer_freq":1,"num_attention_heads":4,"num_key_value_heads":4,"q_lora_rank":24,"kv_lora_rank":20,"qk_nope_head_dim":12,"qk_rope_head_dim":8,"v_head_dim":10,"n_routed_experts":6,"n_shared_experts":2,"num_experts_per_tok":2,"n_group":2,"topk_group":1,"topk_method":"noaux_tc","scoring_func":"sigmoid","num_nextn_predict_layers":1,"vocab_size":96,"max_position_embeddings":512,"rope_theta":10000}`
	qwen     = `{"architectures":["Qwen3_5MoeForConditionalGeneration"],"model_type":"qwen3_5_moe","vision_config":{"depth":2},"tie_word_embeddings":false,"text_config":{"model_type":"qwen3_5_moe_text","hidden_size":64,"moe_intermediate_size":48,"shared_expert_intermediate_size":40,"num_hidden_layers":4,"full_attention_interval":2,"layer_types":["linear_attention","full_attention","linear_attention","full_attention"],"num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,"attn_output_gate":true,"linear_num_key_heads":2,"linear_key_head_dim":8,"linear_num_value_heads":4,"linear_value_head_dim":12,"linear_conv_kernel_dim":4,"mamba_ssm_dtype":"float32","num_experts":6,"num_experts_per_tok":2,"mlp_only_layers":[],"mtp_num_hidden_layers":1,"vocab_size":96,"max_position_embeddings":512,"rope_parameters":{"rope_theta":10000,"rope_type":"default","partial_rotary_factor":0.25}}}`
	dsNVFP4  = `{"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":"FP8","group_size":16,"exclude_modules":["lm_head","model.layers.*.self_attn.q_a_proj","model.layers.*.self_attn.q_b_proj","model.layers.*.self_attn.kv_a_proj_with_mqa","model.layers.*.self_attn.kv_b_proj","model.layers.3*"]}}`
	// a wrapper whose inner document calls itself by the bare architecture, as nvidia/Kimi-K2.5-NVFP4's does
	kimi      = `{"architectures":["KimiK25ForConditionalGeneration"],"model_type":"kimi_k25","vision_config":{},"tie_word_embeddings":false,"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4","config_groups":{"group_0":{"input_activations":{"num_bits":4,"type":"float","group_size":16},"weights":{"num_bits":4,"type":"float","group_size":16},"targets":["Linear"]}},"ignore":["language_model.lm_head","language_model.model.layers.0.self_attn*","language_model.model.layers.1.self_attn*","language_model.model.layers.2.self_attn*"]},"text_config":` + deepSeek + `}`
	glmExtras = `"model_type":"glm_moe_dsa","index_n_heads":4,"index_head_dim":16,"index_topk":64,"qk_head_dim":20,"head_dim":8,`
)

var here = &catalog.Source{Repository: "owner/carrier", Revision: "0123", Path: "configs"}

func derive(files fstest.MapFS, checkpoints ...string) ([]byte, error) {
	m := &catalog.Model{Name: "m", DerivedFrom: catalog.GraphInput{Checkpoints: checkpoints}}
	return Derive("models/m/model.yaml", m, here, files)
}

func vendor(text string) fstest.MapFS { return fstest.MapFS{"o--m_config.json": {Data: []byte(text)}} }

func TestDerive(t *testing.T) {
	keep.Rule(t, "SUB-3", "SUB-15", "T-M1")
	withQuant := vendor(deepSeek)
	withQuant["o--m_hf_quant_config.json"] = &fstest.MapFile{Data: []byte(dsNVFP4)}
	for name, files := range map[string]fstest.MapFS{ // order: each case has its own golden
		"llama": vendor(llama), "gpt_oss": vendor(gptOss), "minimax_m2": vendor(miniMax), "qwen3_5": vendor(qwen),
		"deepseek_v3_nvfp4": withQuant, "kimi_k25_nvfp4": vendor(kimi),
		"glm_moe_dsa": vendor(strings.Replace(deepSeek, `"model_type":"deepseek_v3",`, glmExtras, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := derive(files, "o/m")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if line, have, derived := (Derived{Have: want, Want: got}).Differs(); line != 0 {
				t.Errorf("%s:%d: got %q, want %q", golden, line, derived, have)
			}
		})
	}
}

// edit returns a configuration with one key set, or taken away when value is "".
func edit(t *testing.T, text, key, value string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	m = maps.Clone(m)
	if delete(m, key); value != "" {
		m[key] = json.RawMessage(value)
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestDeriveRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, key string
		bad, good       string // values of key; "" takes it away
		want            string
	}{
		{"architecture", llama, "model_type", `"mamba"`, `"llama"`, "is an architecture without a graph handler"},
		{"unknown key", llama, "num_experts", `8`, ``, "may change the shape"},
		{"missing size", llama, "vocab_size", ``, `97`, "vocab_size: is missing"},
		{"activation", llama, "hidden_act", `"gelu"`, `"silu"`, `hidden_act: "gelu": is a value whose shape is not known`},
		{"dtype", llama, "torch_dtype", `"float16"`, `"bfloat16"`, "is not a dtype"},
		{"rope", llama, "rope_scaling", `{"rope_type":"ntk"}`, `{"rope_type":"yarn"}`, "is a scaling"},
		{"wrong type", llama, "hidden_size", `"64"`, `128`, "hidden_size"},
		{"layer type", gptOss, "layer_types", `["chunked_attention"]`, `["full_attention","sliding_attention","full_attention","sliding_attention"]`, "is a layer this deriver does not know"},
		{"layer count", gptOss, "num_hidden_layers", `5`, `4`, "num_hidden_layers: 5"},
		{"linear layer", miniMax, "attn_type_list", `[1,0]`, `[1,1]`, "without softmax attention"},
		{"head count", deepSeek, "num_key_value_heads", `2`, `4`, "num_key_value_heads: 2"},
		{"quantisation", llama, "quantization_config", `{"quant_method":"awq"}`, `{"quant_method":"mxfp4"}`, "is a quantisation this deriver does not know"},
		{"block shape", llama, "quantization_config", `{"quant_method":"fp8","weight_block_size":[64,64]}`, `{"quant_method":"fp8","weight_block_size":[128,128]}`, "weight_block_size"},
		{"kept module of no layer", llama, "quantization_config", `{"quant_method":"mxfp4","modules_to_not_convert":["language_model.model.layers.*.mlp"]}`, `{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.mlp"]}`, "is none of this architecture's modules"},
		{"uneven class", llama, "quantization_config", `{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.1.mlp"]}`, `{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.mlp"]}`, "is stored unlike the rest of class dense_mlp"},
	} {
		if _, err := derive(vendor(edit(t, c.text, c.key, c.bad)), "o/m"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
		if _, err := derive(vendor(edit(t, c.text, c.key, c.good)), "o/m"); err != nil {
			t.Errorf("%s: the closest good configuration: %v", c.name, err)
		}
	}
}

func TestDeriveRefusesCheckpointsOfTwoShapes(t *testing.T) {
	files := vendor(llama)
	files["o--n_config.json"] = &fstest.MapFile{Data: []byte(edit(t, llama, "hidden_size", "128"))}
	if _, err := derive(files, "o/m", "o/n"); err == nil || !strings.Contains(err.Error(), "has another shape") {
		t.Errorf("got %v, want a refusal", err)
	}
	files["o--n_config.json"] = &fstest.MapFile{Data: []byte(edit(t, llama, "use_cache", "true"))}
	if _, err := derive(files, "o/m", "o/n"); err != nil {
		t.Errorf("equal shapes: %v", err)
	}
}

func TestEncodeLayers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"aaaa", "4[a]"},
		{"abababab", "4[a b]"},
		{"aaabaaab", "2[a a a b]"},
		{"aaabbbbbb", "3[a] 6[b]"},
		{"a", "1[a]"},
		{"abc", "1[a] 1[b] 1[c]"},
	} {
		got := []string{}
		for _, l := range encode(strings.Split(c.in, "")) {
			got = append(got, string(rune('0'+l.Repeat))+"["+strings.Join(l.Pattern, " ")+"]")
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: got %s, want %s", c.in, g, c.want)
		}
	}
}

func TestGlobMatchesWholeParts(t *testing.T) {
	for _, c := range []struct {
		pattern, module string
		want            bool
	}{
		{"gate", "model.layers.0.block_sparse_moe.gate", true},
		{"gate", "model.layers.0.mlp.gate_proj", false},
		{"model.layers.1.self_attn", "model.layers.1.self_attn.q_proj", true},
		{"model.layers.1.self_attn", "model.layers.11.self_attn.q_proj", false},
		{"model.layers.*.self_attn", "model.layers.11.self_attn.q_proj", true},
		{"model.layers.6*", "model.layers.61.mlp.gate", true},
		{"*.mlp.shared_expert.*", "model.layers.0.mlp.shared_expert.up_proj", true},
	} {
		if got := glob(c.pattern)(c.module); got != c.want {
			t.Errorf("%s on %s: got %v, want %v", c.pattern, c.module, got, c.want)
		}
	}
}
