package vllm

import (
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// alike are values of one setting that run as one.
var alike = map[string][][]string{
	"compilation-config.mode": {{"0", "NONE"}, {"3", "VLLM_COMPILE"}}, // by number or by name (vllm/config/compilation.py)
	// half is float16 and float is float32 (vllm/config/model.py). That float16 and bfloat16
	// are one is not upstream's: both take two bytes, and no operator table tells them apart.
	"dtype":              {{"auto", "half", "float16", "bfloat16"}, {"float", "float32"}},
	"kv-cache-dtype":     {{"float16", "bfloat16"}, {"fp8", "fp8_e4m3"}},     // fp8 is E4M3 (vllm/utils/torch_utils.py); the rest as dtype
	"optimization-level": {{"0", "O0"}, {"1", "O1"}, {"2", "O2", "3", "O3"}}, // the third sets what the second does (vllm/config/vllm.py)
}

// TestEachValueRunsItsOwnCode keeps VLM-6: over launches of every family of models, each
// value of an enumerated setting runs somewhere, and two values resolve alike everywhere
// only where that is written down.
func TestEachValueRunsItsOwnCode(t *testing.T) {
	keep.Rule(t, "VLM-6")
	k, w := newKind(t), newWorld(t)
	tp := func(s engines.Spec, n int) engines.Spec { return with(s, map[string]any{"tensor-parallel-size": n}) }
	launches := []engines.Spec{gptoss, gptossB, llama, tp(minimax, 4), tp(deepseek, 8), tp(hybrid, 8),
		tp(engines.Spec{Model: "deepseek-r1", Hardware: "h200_sxm"}, 8), tp(engines.Spec{Model: "deepseek-r1", Checkpoint: "nvidia/DeepSeek-V3.1-NVFP4", Hardware: "b200_sxm"}, 8)}
	settings := 0
	for _, f := range k.Fields().Fields {
		if f.Status != fields.Modelled || f.Kind != "argument" || len(f.Values) < 2 {
			continue
		}
		settings++
		runs := make([][]string, len(f.Values))
		for i, v := range f.Values {
			for _, l := range launches {
				args := map[string]any{f.Name: v}
				if key, ok := strings.CutPrefix(f.Name, "speculative-config."); ok {
					args = map[string]any{"speculative-config": map[string]any{key: v, "num_speculative_tokens": 3}}
				}
				runs[i] = append(runs[i], seen(k, w, with(l, args)))
			}
			if !slices.ContainsFunc(runs[i], func(s string) bool { return strings.HasPrefix(s, "[") }) {
				t.Errorf("%s: %s runs nowhere: %.200s", f.Name, v, runs[i][0])
			}
			for j, other := range f.Values[:i] {
				one := slices.ContainsFunc(alike[f.Name], func(g []string) bool { return slices.Contains(g, v) && slices.Contains(g, other) })
				if slices.Equal(runs[i], runs[j]) != one {
					t.Errorf("%s: %s and %s resolve alike %v, written down %v (VLM-6)", f.Name, other, v, !one, one)
				}
			}
		}
	}
	if settings < 10 {
		t.Errorf("tried %d settings, want every enumerated one", settings)
	}
}

// A value in the other case is upstream's to take or to refuse, and taken it is the same.
func TestSpellingOfAValueIsUpstreams(t *testing.T) {
	keep.Rule(t, "X1")
	k, w := newKind(t), newWorld(t)
	for name, taken := range map[string]bool{"compilation-config.cudagraph_mode": true, "compilation-config.mode": true, "dtype": false, "moe-backend": false, "scheduling-policy": false} {
		f, _ := k.Fields().Lookup(name)
		for _, v := range f.Values {
			other := strings.ToUpper(v)
			if other == v {
				other = strings.ToLower(v)
			}
			if other == v {
				continue // a number
			}
			stated, swapped := seen(k, w, with(gptoss, map[string]any{name: v})), seen(k, w, with(gptoss, map[string]any{name: other}))
			switch runs := strings.HasPrefix(swapped, "["); {
			case runs && swapped != stated:
				t.Errorf("%s: %s runs as something else than %s", name, other, v)
			case strings.HasPrefix(stated, "[") && runs != taken:
				t.Errorf("%s: %s for %s: taken %v, want %v: %.150s", name, other, v, runs, taken, swapped)
			}
		}
	}
}
