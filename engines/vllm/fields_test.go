package vllm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// perturbation states one modelled field and, where the field acts only beside
// others, what both launches share.
type perturbation struct {
	field string
	value any
	base  map[string]any
	on    engines.Spec // model and chip; gpt-oss-120b on one H100 when empty
}

var (
	llama    = engines.Spec{Model: "llama-3.1-70b", Checkpoint: "nvidia/Llama-3.3-70B-Instruct-FP8", Hardware: "h200_sxm"}
	minimax  = engines.Spec{Model: "minimax-m2.5", Checkpoint: "MiniMaxAI/MiniMax-M2.5", Hardware: "h200_sxm"}
	kimi     = engines.Spec{Model: "kimi-k2.5", Checkpoint: "moonshotai/Kimi-K2.5", Hardware: "b200_sxm"}
	gptoss   = engines.Spec{Model: "gpt-oss-120b", Hardware: "h200_sxm"}
	gptossB  = engines.Spec{Model: "gpt-oss-120b", Hardware: "b200_sxm"}
	ngram    = map[string]any{"tensor-parallel-size": 8, "speculative-config": map[string]any{"method": "ngram", "num_speculative_tokens": 3}}
	deepseek = engines.Spec{Model: "deepseek-r1", Checkpoint: "deepseek-ai/DeepSeek-R1", Hardware: "b200_sxm"}
	hybrid   = engines.Spec{Model: "qwen3.5-397b-a17b", Hardware: "b300_sxm"}
)

var perturbations = []perturbation{
	{field: "tensor-parallel-size", value: 2}, {field: "data-parallel-size", value: 2}, {field: "pipeline-parallel-size", value: 2},
	{field: "enable-expert-parallel", value: true, base: map[string]any{"tensor-parallel-size": 2}},
	{field: "block-size", value: 32}, {field: "enable-prefix-caching", value: false}, {field: "gpu-memory-utilization", value: 0.95},
	{field: "kv-cache-memory-bytes", value: 8 << 30}, {field: "num-gpu-blocks-override", value: 20000},
	{field: "prefix-cache-retention-interval", value: 64}, {field: "max-model-len", value: 9416}, {field: "max-num-batched-tokens", value: 2048},
	{field: "max-num-seqs", value: 64}, {field: "max-num-scheduled-tokens", value: 512}, {field: "long-prefill-token-threshold", value: 256},
	{field: "enable-chunked-prefill", value: false, base: map[string]any{"max-model-len": 8192}},
	{field: "scheduler-reserve-full-isl", value: false}, {field: "watermark", value: 0.1}, {field: "async-scheduling", value: false},
	{field: "stream-interval", value: 20}, {field: "prefill-schedule-interval", value: 4, base: map[string]any{"data-parallel-size": 2}}, {field: "disable-sliding-window", value: true}, {field: "enforce-eager", value: true},
	{field: "cudagraph-capture-sizes", value: []any{1, 8}}, {field: "max-cudagraph-capture-size", value: 2048},
	{field: "disable-custom-all-reduce", value: true, base: map[string]any{"tensor-parallel-size": 2}},
	{field: "disable-hybrid-kv-cache-manager", value: true}, {field: "scheduling-policy", value: "priority"}, {field: "kv-cache-dtype", value: "fp8"},
	{field: "dtype", value: "float32"}, {field: "optimization-level", value: 0}, {field: "performance-mode", value: "throughput"},
	{field: "attention-backend", value: "TRITON_ATTN"}, {field: "moe-backend", value: "marlin"}, {field: "linear-backend", value: "cutlass", on: minimax, base: map[string]any{"tensor-parallel-size": 4}},
	{field: "distributed-executor-backend", value: "mp", base: map[string]any{"pipeline-parallel-size": 1}},
	{field: "mamba-cache-mode", value: "align", on: hybrid, base: map[string]any{"tensor-parallel-size": 8}},
	{field: "mamba-cache-dtype", value: "float32", on: hybrid, base: map[string]any{"tensor-parallel-size": 8}},
	{field: "mamba-ssm-cache-dtype", value: "float16", on: hybrid, base: map[string]any{"tensor-parallel-size": 8}},
	{field: "VLLM_PP_LAYER_PARTITION", value: "20,16", base: map[string]any{"pipeline-parallel-size": 2}},
	{field: "nnodes", value: 2, base: map[string]any{"tensor-parallel-size": 2}},
	{field: "compilation-config.cudagraph_mode", value: "PIECEWISE"}, {field: "compilation-config.mode", value: 0},
	{field: "compilation-config.cudagraph_capture_sizes", value: []any{1, 8}}, {field: "compilation-config.max_cudagraph_capture_size", value: 2048},
	{field: "compilation-config.splitting_ops", value: []any{}},
	{field: "compilation-config.pass_config.fuse_allreduce_rms", value: true, base: map[string]any{"tensor-parallel-size": 2}},
	{field: "compilation-config.pass_config.fuse_attn_quant", value: true},
	{field: "attention-config.backend", value: "TRITON_ATTN"}, {field: "kernel-config.moe_backend", value: "marlin"},
	{field: "kernel-config.linear_backend", value: "cutlass", on: minimax, base: map[string]any{"tensor-parallel-size": 4}},
	{field: "quantization-config.moe.activation", value: "mxfp8", on: gptossB},
	{field: "speculative-config.method", value: "mtp", base: ngram, on: deepseek}, {field: "speculative-config.num_speculative_tokens", value: 5, base: ngram},
	{field: "speculative-config.disable_padded_drafter_batch", value: true, on: deepseek, base: map[string]any{"tensor-parallel-size": 8, "speculative-config": map[string]any{"method": "mtp", "num_speculative_tokens": 3}}},
	{field: "VLLM_ALLOW_LONG_MAX_MODEL_LEN", value: "1", base: map[string]any{"max-model-len": 200000}},
	{field: "VLLM_PREFIX_CACHE_RETENTION_INTERVAL", value: "64"}, {field: "VLLM_USE_V2_MODEL_RUNNER", value: "1"},
	{field: "VLLM_USE_RAY_V2_EXECUTOR_BACKEND", value: "0", base: map[string]any{"distributed-executor-backend": "ray"}},
	{field: "VLLM_BATCH_INVARIANT", value: "1", on: gptossB}, {field: "VLLM_USE_DEEP_GEMM", value: "0", on: minimax, base: map[string]any{"tensor-parallel-size": 4}},
	{field: "VLLM_USE_FLASHINFER_MOE_INT4", value: "1", on: kimi, base: map[string]any{"tensor-parallel-size": 8}},
	{field: "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", value: "0"},
}

// throughParents hold further fields, each with a row of its own.
var throughParents = []string{"compilation-config", "compilation-config.pass_config", "quantization-config", "quantization-config.moe", "speculative-config", "attention-config", "kernel-config"}

func (p perturbation) spec(with bool) engines.Spec {
	s := p.on
	if s.Model == "" {
		s = gptoss
	}
	s.Args, s.Env = maps.Clone(p.base), map[string]string{}
	if s.Args == nil {
		s.Args = map[string]any{}
	}
	switch {
	case !with:
	case strings.HasPrefix(p.field, "VLLM_"):
		s.Env[p.field] = fmt.Sprint(p.value)
	default:
		s.Args[p.field] = p.value
	}
	return s
}

// seen is all a launch resolves to: the scheduler's configuration, the plan and
// the way steps are padded, or the refusal.
func seen(k *Kind, w world, s engines.Spec) string {
	x, err := k.prepare(s, w)
	if err != nil {
		return err.Error()
	}
	b, err := json.Marshal([]any{x.schedule(), x.plan, x.config.Executor, fmt.Sprintf("%+v", x.lowered.Padding)})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestModelledFieldsReachThePlan(t *testing.T) {
	keep.Rule(t, "VLM-3")
	k, w := newKind(t), newWorld(t)
	covered := map[string]bool{}
	for _, p := range perturbations {
		covered[p.field] = true
		before, after := seen(k, w, p.spec(false)), seen(k, w, p.spec(true))
		if before == after {
			t.Errorf("%s = %v changes nothing", p.field, p.value)
		}
		if !strings.HasPrefix(after, "[") {
			t.Errorf("%s = %v: refused: %s", p.field, p.value, after)
		}
	}
	for _, f := range k.Fields().Fields {
		if f.Status == fields.Modelled && f.Kind != "config" && !covered[f.Name] && !slices.Contains(throughParents, f.Name) {
			t.Errorf("%s is modelled and no launch here states it", f.Name)
		}
	}
}

func TestFieldListIsWhole(t *testing.T) {
	keep.Rule(t, "T-E3", "VLM-3", "X1", "X9")
	k := newKind(t)
	l := k.Fields()
	want := map[fields.Status]int{fields.Modelled: 118, fields.Inert: 730, fields.NotModelled: 524, fields.Removed: 9}
	if got := l.Counts(); !maps.Equal(got, want) {
		t.Errorf("counts: got %v, want %v", got, want)
	}
	for _, f := range l.Fields {
		if f.Status == fields.Removed && f.Rule == nil {
			t.Errorf("%s: removed without an estimation rule", f.Name)
		}
		if f.Rule == nil || f.Rule.Field == "" {
			continue
		}
		to := k.find(f.Rule.Field, false)
		if to == nil || to.Status != fields.Modelled && to.Status != fields.Inert {
			t.Errorf("%s: its stand-in %s is not modelled", f.Name, f.Rule.Field)
		}
	}
}

func TestSurfaceListIsWhole(t *testing.T) {
	keep.Rule(t, "T-B1", "T-E3", "T-G1", "T-N2", "VLM-4", "VLM-6", "X9")
	s, err := newKind(t).Surface()
	if err != nil {
		t.Fatal(err)
	}
	want := map[fields.Support]int{fields.Ported: 134, fields.Refused: 212, fields.OutOfScope: 133}
	if got := s.Counts(); !maps.Equal(got, want) {
		t.Errorf("counts: got %v, want %v", got, want)
	}
}
