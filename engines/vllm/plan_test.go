package vllm

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/lower"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// with returns spec with arguments added.
func with(s engines.Spec, args map[string]any) engines.Spec {
	s.Args = maps.Clone(s.Args)
	if s.Args == nil {
		s.Args = map[string]any{}
	}
	maps.Copy(s.Args, args)
	return s
}

func planOf(t *testing.T, s engines.Spec) *plan.PoolPlan {
	t.Helper()
	_, p, err := newKind(t).Explain(s, newWorld(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func named(p *plan.PoolPlan, name string) []plan.LoweredLayer {
	return slices.DeleteFunc(slices.Clone(p.Layers), func(l plan.LoweredLayer) bool { return l.Name != name })
}

func weight(p *plan.PoolPlan, name string) float64 {
	for _, w := range p.Weights {
		if w.Name == name {
			return float64(w.Bytes)
		}
	}
	return 0
}

func TestMoEKernels(t *testing.T) {
	keep.Rule(t, "FID-11", "T-C1")
	tp := func(n int) map[string]any { return map[string]any{"tensor-parallel-size": n} }
	on := func(s engines.Spec, chip string) engines.Spec { s.Hardware = chip; return s }
	nvfp4 := engines.Spec{Model: "minimax-m2.5", Checkpoint: "nvidia/MiniMax-M2.5-NVFP4", Hardware: "b200_sxm"}
	for _, c := range []struct {
		name string
		spec engines.Spec
		want string
	}{
		{"mxfp4 hopper", gptoss, "vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic"},
		{"mxfp4 marlin", with(gptoss, map[string]any{"moe-backend": "marlin"}), "vllm_gptossmxfp4moe_marlin_marlinexperts"},
		{"mxfp4 blackwell", gptossB, "vllm_gptossmxfp4moe_flashinfer_trtllm_mxfp4_bf16_trtllmmxfp4expertsmonolithic"},
		{"mxfp4 mxfp8", with(gptossB, map[string]any{"quantization-config.moe.activation": "mxfp8"}), "vllm_gptossmxfp4moe_flashinfer_trtllm_mxfp4_mxfp8_trtllmmxfp4expertsmonolithic"},
		{"fp8 hopper split", with(minimax, tp(4)), "vllm_fp8moe_triton_tritonexperts"},
		{"fp8 hopper spread", with(minimax, map[string]any{"tensor-parallel-size": 8, "enable-expert-parallel": true}), "vllm_fp8moe_flashinfer_cutlass_flashinferexperts"},
		{"fp8 blackwell", with(on(minimax, "b200_sxm"), tp(4)), "vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmonolithic"},
		{"nvfp4", with(nvfp4, tp(4)), "vllm_compressedtensorsw4a4nvfp4moe_flashinfer_trtllm_trtllmnvfp4expertsmonolithic"},
		{"int4", with(kimi, tp(8)), "vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts"},
	} {
		experts := named(planOf(t, c.spec), "experts")
		if got := experts[len(experts)-1].Kernel.Variant; got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAttentionKernelsAndCacheFormat(t *testing.T) {
	keep.Rule(t, "T-C1", "VLM-6")
	for _, c := range []struct {
		spec                    engines.Spec
		extend, decode, storage string
	}{
		{llama, "vllm_flash_attn_fa3", "vllm_flash_attn_fa3", "fp8"}, // the checkpoint asks for an FP8 cache
		{gptossB, "vllm_flashinfer_trtllmprefill", "vllm_flashinfer_trtllmdecode", "bf16"},
		{engines.Spec{Model: "gpt-oss-120b", Hardware: "a100_sxm_80gb", Args: map[string]any{"tensor-parallel-size": 2}}, "vllm_triton_attn", "vllm_triton_attn", "bf16"}, // sinks
	} {
		p := planOf(t, c.spec)
		var got []string
		for _, l := range named(p, "attention")[:2] {
			got = append(got, l.Kernel.Variant)
		}
		got = append(got, string(named(p, "attention")[0].Shape.KVType))
		if want := []string{c.extend, c.decode, c.storage}; !slices.Equal(got, want) {
			t.Errorf("%s on %s: got %v, want %v", c.spec.Model, c.spec.Hardware, got, want)
		}
	}
}

func TestKimiPlan(t *testing.T) {
	p := planOf(t, with(kimi, map[string]any{"tensor-parallel-size": 8}))
	mla := named(p, "mla")
	if len(mla) != 4 || mla[0].Repeat != 1 || mla[2].Repeat != 60 {
		t.Fatalf("mla entries: got %d, want extend and decode of the dense layer and of 60 more", len(mla))
	}
	s := mla[3].Shape
	if s.Heads != 8 || s.LatentRank != 512 || s.RopeDim != 64 || s.Hidden != 7168 || mla[3].Kernel.Variant != "FLASHINFER_MLA" {
		t.Errorf("mla: got %+v by %s", s, mla[3].Kernel.Variant)
	}
	want := plan.KVGroup{Kind: "mla", Layers: 61, PageTokens: 32, BytesPerPage: 61 * 32 * 576 * 2}
	if len(p.KV) != 1 || p.KV[0] != want {
		t.Errorf("KV: got %+v, want %+v", p.KV, want)
	}
	if len(named(p, "qkv_proj")) != 0 {
		t.Error("the module's projections are listed beside it")
	}
}

func TestMiniMaxNormsOverAllRanks(t *testing.T) {
	if got := len(named(planOf(t, with(minimax, map[string]any{"tensor-parallel-size": 4})), "qk_norm.all_reduce")); got != 1 {
		t.Errorf("at four ranks: got %d entries, want 1", got)
	}
	s := engines.Spec{Model: "minimax-m2.5", Checkpoint: "nvidia/MiniMax-M2.5-NVFP4", Hardware: "b300_sxm"}
	if got := len(named(planOf(t, s), "qk_norm.all_reduce")); got != 0 {
		t.Errorf("at one rank: got %d entries, want 0", got)
	}
}

func TestFusedAllReduceTakesTheNorm(t *testing.T) {
	s := with(llama, map[string]any{"tensor-parallel-size": 2})
	plain := planOf(t, s)
	fused := planOf(t, with(s, map[string]any{"compilation-config.pass_config.fuse_allreduce_rms": true}))
	if got := named(plain, "mlp_output")[0].Kernel.Variant; got != "vLLM_custom" || len(named(plain, "mlp_output.norm")) != 1 {
		t.Errorf("plain: got %s", got)
	}
	if got := named(fused, "mlp_output")[0].Kernel.Variant; got != "flashinfer_allreduce_fusion" || len(named(fused, "mlp_output.norm")) != 0 {
		t.Errorf("fused: got %s and %d norms", got, len(named(fused, "mlp_output.norm")))
	}
}

func TestWeightsAndCacheShard(t *testing.T) {
	keep.Rule(t, "FID-7", "SUB-14")
	one, four := planOf(t, with(llama, nil)), planOf(t, with(llama, map[string]any{"tensor-parallel-size": 4}))
	if got := weight(one, "mlp") / weight(four, "mlp"); got < 3.99 || got > 4.01 {
		t.Errorf("mlp weights: got a ratio of %v, want 4", got)
	}
	if one.KV[0].BytesPerPage != 4*four.KV[0].BytesPerPage {
		t.Errorf("KV pages: got %v and %v, want four to one", one.KV[0].BytesPerPage, four.KV[0].BytesPerPage)
	}
	eight := planOf(t, with(engines.Spec{Model: "qwen3.5-397b-a17b", Hardware: "b300_sxm"}, map[string]any{"tensor-parallel-size": 8}))
	if got := named(eight, "attention")[0].Shape.KVHeads; got != 1 {
		t.Errorf("two KV heads over eight ranks: got %d a rank, want 1, replicated", got)
	}
	stages := planOf(t, with(gptoss, map[string]any{"pipeline-parallel-size": 5}))
	var count [5]int
	for _, l := range named(stages, "qkv_proj") {
		count[l.Stage] += l.Repeat
	}
	if count != [5]int{7, 7, 7, 8, 7} {
		t.Errorf("layers of five stages: got %v, want 7 7 7 8 7", count)
	}
}

func TestGraphsFollowTheBackend(t *testing.T) {
	mode := func(m string) map[string]any { return map[string]any{"compilation-config.cudagraph_mode": m} }
	for _, c := range []struct {
		name            string
		spec            engines.Spec
		full, piecewise int // largest captured sizes, 0 for none
	}{
		{"default", gptoss, 512, 512},
		{"few sequences", with(gptoss, map[string]any{"max-num-seqs": 64, "max-cudagraph-capture-size": 2048}), 64, 2048},
		{"piecewise", with(gptoss, mode("PIECEWISE")), 0, 512},
		{"decode only", with(gptoss, mode("FULL_DECODE_ONLY")), 512, 0},
		{"full on FA3", with(gptoss, mode("FULL")), 512, 0},
		{"full on FlashInfer", with(gptossB, mode("FULL")), 1024, 1024},
		{"fused attention on FlashInfer", with(gptossB, map[string]any{"compilation-config.pass_config.fuse_attn_quant": true}), 1024, 0},
		{"eager", with(gptoss, map[string]any{"enforce-eager": true}), 0, 0},
	} {
		g := planOf(t, c.spec).Graphs
		if got := [2]int{last(g.Full), last(g.Piecewise)}; got != [2]int{c.full, c.piecewise} {
			t.Errorf("%s: got %v, want %d %d", c.name, got, c.full, c.piecewise)
		}
	}
}

func last(v []int) int {
	if len(v) == 0 {
		return 0
	}
	return v[len(v)-1]
}

func TestPadding(t *testing.T) {
	keep.Rule(t, "FID-11")
	k, w := newKind(t), newWorld(t)
	pad := func(s engines.Spec) *lower.Padding {
		x, err := k.prepare(s, w)
		if err != nil {
			t.Fatal(err)
		}
		return &x.lowered.Padding
	}
	byDefault := pad(gptoss)
	full := pad(with(gptoss, map[string]any{"compilation-config.cudagraph_mode": "FULL"}))
	decodeOnly := pad(with(gptoss, map[string]any{"compilation-config.cudagraph_mode": "FULL_DECODE_ONLY"}))
	for _, c := range []struct {
		p       *lower.Padding
		tokens  int
		uniform bool
		want    plan.PaddedShape
	}{
		{byDefault, 3, true, plan.PaddedShape{Tokens: 4, Seqs: 4, Launch: plan.FullGraph}},
		{byDefault, 257, false, plan.PaddedShape{Tokens: 272, Seqs: 3, Launch: plan.PiecewiseGraph}},
		{byDefault, 513, false, plan.PaddedShape{Tokens: 513, Seqs: 3, Launch: plan.Eager}},
		{full, 257, false, plan.PaddedShape{Tokens: 272, Seqs: 272, Launch: plan.FullGraph}},
		{decodeOnly, 257, false, plan.PaddedShape{Tokens: 257, Seqs: 3, Launch: plan.Eager}},
	} {
		if got := c.p.Of(c.tokens, 3, c.uniform); got != c.want {
			t.Errorf("%d tokens, uniform %v: got %+v, want %+v", c.tokens, c.uniform, got, c.want)
		}
	}
}

// TestRefusalPairs states the smallest refused launch and the closest accepted one.
func TestRefusalPairs(t *testing.T) {
	keep.Rule(t, "LIF-6", "SIM-1", "SIM-9", "T-B1", "T-E6", "VLM-6", "VLM-7", "X1")
	k, w := newKind(t), newWorld(t)
	arg := func(name string, v any) engines.Spec { return with(gptoss, map[string]any{name: v}) }
	for _, c := range []struct {
		refused, accepted engines.Spec
		want              string
	}{
		{arg("tensor-paralel-size", 2), arg("tensor-parallel-size", 2), "engine.args.tensor-paralel-size: 2: unrecognized arguments: --tensor-paralel-size"},
		{with(llama, map[string]any{"data-parallel-size": 2}), arg("data-parallel-size", 2), "engine.args.data-parallel-size: 2: a dense model's data-parallel ranks are engines of their own"},
		{arg("max-num-seqs", -4), arg("max-num-seqs", 1), "engine.args.max-num-seqs: -4: max_num_batched_tokens: Input should be"},
		{engines.Spec{Model: llama.Model, Checkpoint: "none", Hardware: llama.Hardware}, llama, "checkpoint: none: is no checkpoint of"},
		{arg("runner", "pooling"), arg("runner", "generate"), "engine.args.runner: pooling: is outside the values inert here"},
		{arg("disable-log-requests", true), arg("enable-log-requests", false), "engine.args.disable-log-requests: true: is not a setting of " + Version},
		{arg("max-model-len", 131073), arg("max-model-len", 131072), "User-specified max_model_len (131073) is greater than the derived max_model_len"},
		{arg("gpu-memory-utilization", 1.01), arg("gpu-memory-utilization", 1.0), "engine.args.gpu-memory-utilization: 1.01: gpu_memory_utilization: Input should be less than or equal to 1"},
		{arg("gpu-memory-utilization", 0.4), arg("gpu-memory-utilization", 0.6), "No available memory for the cache blocks"},
		{arg("block-size", 24), arg("block-size", 32), "engine.args.block-size: 24: No valid attention backend found: FLASH_ATTN: block_size not supported"},
		{arg("kv-transfer-config", map[string]any{"kv_connector": "NixlConnector", "kv_role": "kv_both"}), gptoss, "engine.args.kv-transfer-config.kv_connector: NixlConnector: is not modelled"},
		{arg("speculative-config", map[string]any{"method": "medusa", "num_speculative_tokens": 2}),
			arg("speculative-config", map[string]any{"method": "ngram", "num_speculative_tokens": 2}), "engine.args.speculative-config.method: medusa: is outside the values modelled here"},
		{split("20,15"), split("20,16"), "sum(partitions)=35 does not match num_hidden_layers=36."},
		{split("36"), split("35,1"), "len(partitions)=1 does not match pp_size=2."},
		{arg("mamba-ssm-cache-dtype", "fp8"), arg("mamba-ssm-cache-dtype", "bfloat16"), "Input should be 'auto', 'float32', 'float16' or 'bfloat16'"},
		{with(minimax, map[string]any{"tensor-parallel-size": 8}), with(minimax, map[string]any{"tensor-parallel-size": 8, "enable-expert-parallel": true}),
			"gate's and up's weight = 192 is not divisible by weight quantization block_n = 128"},
		{engines.Spec{Model: "glm-5", Hardware: "b200_sxm", Args: map[string]any{"tensor-parallel-size": 8}}, kimiOn8(), "is not modelled"},
		{engines.Spec{Model: "gpt-oss-120b", Hardware: "mi300x"}, gptoss, "CUDA platform only"},
		{engines.Spec{Model: "gpt-oss-120b", Hardware: "h200_sxm", Env: map[string]string{"VLLM_NO_SUCH": "1"}}, gptoss, "engine.env.VLLM_NO_SUCH: 1: vLLM reads no such variable"},
	} {
		_, _, err := k.Explain(c.refused, w)
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || !strings.Contains(r.Error(), c.want) {
			t.Errorf("%v: got %v, want a refusal with %q", c.refused.Args, err, c.want)
		}
		if _, _, err := k.Explain(c.accepted, w); err != nil {
			t.Errorf("%v: got %v, want accepted", c.accepted.Args, err)
		}
	}
}

// split is a launch whose pipeline stages are cut by hand.
func split(layers string) engines.Spec {
	s := with(gptoss, map[string]any{"pipeline-parallel-size": 2})
	s.Env = map[string]string{"VLLM_PP_LAYER_PARTITION": layers}
	return s
}

func kimiOn8() engines.Spec { return with(kimi, map[string]any{"tensor-parallel-size": 8}) }

func TestCatalogModelsThatVLLMRuns(t *testing.T) {
	keep.Rule(t, "FID-7", "SUB-14")
	k, w := newKind(t), newWorld(t)
	for _, name := range w.catalog.Models() {
		m, err := w.Model(name)
		if err != nil {
			t.Fatal(err)
		}
		sparse := config.FromCatalog(m, "").SparseMLA
		_, p, err := k.Explain(engines.Spec{Model: name, Hardware: "b300_sxm", Args: map[string]any{"tensor-parallel-size": 8, "enable-expert-parallel": true, "max-model-len": 8192}}, w)
		if sparse {
			if err == nil || !strings.Contains(err.Error(), "DeepseekV32Indexer") {
				t.Errorf("%s: got %v, want a refusal that names the indexer cache", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		layers := 0
		for _, l := range p.Layers {
			switch l.Primitive {
			case plan.AttentionExtend, plan.MLAExtend, plan.RecurrentExtend:
				layers += l.Repeat
			}
		}
		if want := m.Graph.LayerCount(); layers != want && !hasNone(m) {
			t.Errorf("%s: got %d mixers, want %d", name, layers, want)
		}
	}
}

func hasNone(m *catalog.Model) bool {
	for b, n := range m.Graph.BlockCounts() {
		if n > 0 && b.Attention.Kind == catalog.NoMixer {
			return true
		}
	}
	return false
}
