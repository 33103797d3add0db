package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func opened(t *testing.T) *World {
	t.Helper()
	w, err := Open(Paths{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestAnotherReleaseIsRefusedWithDirections keeps LIF-6 and SIM-1 for every engine of the
// build: the message says what was asked, what this build runs, and that none runs it.
func TestAnotherReleaseIsRefusedWithDirections(t *testing.T) {
	keep.Rule(t, "LIF-6", "SIM-1", "T-E6")
	w := opened(t)
	for _, k := range w.Kinds {
		text := "schema: blis.scenario/1\nengine: {kind: %s, version: %s}\nmodel: llama-3.1-8b\nhardware: h100_sxm\nworkload: {clients: [{name: a, requests: 2, arrivals: {constant: {rate: 1}}, prompt: {fixed: 10}, output: {fixed: 3}}]}\n"
		for version, want := range map[string][]string{k.Upstream().Version: nil, "v0.9.1": {"v0.9.1", "is not the " + k.Name() + " release of this build", "no released build runs it", k.Upstream().Version}} {
			s, err := spec.Parse("s.yaml", fmt.Appendf(nil, text, k.Name(), version))
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Run(s)
			if (err == nil) != (want == nil) {
				t.Errorf("%s %s: got %v", k.Name(), version, err)
			}
			for _, part := range want {
				if !strings.Contains(fmt.Sprintf("%v %#v", err, err), part) {
					t.Errorf("%s %s: got %v, want it to say %q", k.Name(), version, err, part)
				}
			}
		}
	}
	if len(w.Kinds) < 2 {
		t.Errorf("the build runs %d engines", len(w.Kinds))
	}
}

// chosen are the decode kernels of each engine on each chip of the catalog, for a dense
// model on one rank and for one of latent attention on eight; a refusal is of its field.
var chosen = map[string]string{
	"sglang a100_sxm_80gb deepseek-r1":  "refused: engine.args.mem-fraction-static",
	"sglang a100_sxm_80gb llama-3.1-8b": "sglang/flashinfer",
	"sglang b200_sxm deepseek-r1":       "sglang/trtllm_mla",
	"sglang b200_sxm llama-3.1-8b":      "sglang/trtllm_mha",
	"sglang b300_sxm deepseek-r1":       "sglang/trtllm_mla",
	"sglang b300_sxm llama-3.1-8b":      "sglang/trtllm_mha",
	"sglang gb200_nvl72 deepseek-r1":    "sglang/trtllm_mla",
	"sglang gb200_nvl72 llama-3.1-8b":   "sglang/trtllm_mha",
	"sglang gb300_nvl72 deepseek-r1":    "sglang/trtllm_mla",
	"sglang gb300_nvl72 llama-3.1-8b":   "sglang/trtllm_mha",
	"sglang h100_sxm deepseek-r1":       "refused: engine.args.mem-fraction-static",
	"sglang h100_sxm llama-3.1-8b":      "sglang/fa3",
	"sglang h200_sxm deepseek-r1":       "sglang/flash_attention",
	"sglang h200_sxm llama-3.1-8b":      "sglang/fa3",
	"sglang l40s deepseek-r1":           "refused: engine.args.mem-fraction-static",
	"sglang l40s llama-3.1-8b":          "sglang/flashinfer",
	"sglang mi300x deepseek-r1":         "sglang/aiter",
	"sglang mi300x llama-3.1-8b":        "sglang/aiter",
	"sglang mi325x deepseek-r1":         "sglang/aiter",
	"sglang mi325x llama-3.1-8b":        "sglang/aiter",
	"sglang mi355x deepseek-r1":         "sglang/aiter",
	"sglang mi355x llama-3.1-8b":        "sglang/aiter",
	"vllm a100_sxm_80gb deepseek-r1":    "refused: engine.args.gpu-memory-utilization",
	"vllm a100_sxm_80gb llama-3.1-8b":   "vllm/vllm_flash_attn_fa2",
	"vllm b200_sxm deepseek-r1":         "vllm/FLASHINFER_MLA",
	"vllm b200_sxm llama-3.1-8b":        "vllm/vllm_flashinfer_trtllmdecode",
	"vllm b300_sxm deepseek-r1":         "vllm/FLASHINFER_MLA",
	"vllm b300_sxm llama-3.1-8b":        "vllm/vllm_flashinfer_trtllmdecode",
	"vllm gb200_nvl72 deepseek-r1":      "vllm/FLASHINFER_MLA",
	"vllm gb200_nvl72 llama-3.1-8b":     "vllm/vllm_flashinfer_trtllmdecode",
	"vllm gb300_nvl72 deepseek-r1":      "vllm/FLASHINFER_MLA",
	"vllm gb300_nvl72 llama-3.1-8b":     "vllm/vllm_flashinfer_trtllmdecode",
	"vllm h100_sxm deepseek-r1":         "refused: engine.args.gpu-memory-utilization",
	"vllm h100_sxm llama-3.1-8b":        "vllm/vllm_flash_attn_fa3",
	"vllm h200_sxm deepseek-r1":         "vllm/FLASH_ATTN_MLA",
	"vllm h200_sxm llama-3.1-8b":        "vllm/vllm_flash_attn_fa3",
	"vllm l40s deepseek-r1":             "refused: engine.args.gpu-memory-utilization",
	"vllm l40s llama-3.1-8b":            "vllm/vllm_flash_attn_fa2",
	"vllm mi300x deepseek-r1":           "refused: engine.args",
	"vllm mi300x llama-3.1-8b":          "refused: engine.args",
	"vllm mi325x deepseek-r1":           "refused: engine.args",
	"vllm mi325x llama-3.1-8b":          "refused: engine.args",
	"vllm mi355x deepseek-r1":           "refused: engine.args",
	"vllm mi355x llama-3.1-8b":          "refused: engine.args",
}

// TestEachChipHasTestedChoices keeps T-C1: a chip that comes into the catalog, or a
// choice that changes, is seen here.
func TestEachChipHasTestedChoices(t *testing.T) {
	keep.Rule(t, "T-C1")
	w := opened(t)
	seen := map[string]bool{}
	for _, k := range w.Kinds {
		for _, chip := range w.Catalog.Chips() {
			for _, model := range []string{"llama-3.1-8b", "deepseek-r1"} {
				at := fmt.Sprintf("%s %s %s", k.Name(), chip, model)
				seen[at] = true
				if got := decodeKernels(w, k.Name(), model, chip); got != chosen[at] {
					t.Errorf("%q: %q,", at, got)
				}
			}
		}
	}
	for at := range chosen {
		if !seen[at] {
			t.Errorf("%s: is no longer in the catalog", at)
		}
	}
}

func decodeKernels(w *World, engine, model, chip string) string {
	tensor := map[string]int{"llama-3.1-8b": 1, "deepseek-r1": 8}[model]
	name := map[string]string{"vllm": "tensor-parallel-size", "sglang": "tensor-parallel-size"}[engine]
	p, _, err := w.Compile(engine, engines.Spec{Model: model, Hardware: chip, Nodes: max(1, tensor/8), Args: map[string]any{name: tensor}})
	if err != nil {
		field, _, _ := strings.Cut(err.Error(), ": ")
		return "refused: " + field
	}
	var out []string
	for i := range p.Layers {
		if l := &p.Layers[i]; l.Primitive == plan.AttentionDecode || l.Primitive == plan.MLADecode {
			out = append(out, l.Kernel.Library+"/"+l.Kernel.Variant)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}
