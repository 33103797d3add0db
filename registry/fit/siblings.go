package fit

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// sibling is a kernel no table times and the timed one that does the same work:
// the same library's code under another quantisation method's name, or the same
// algorithm in another format.
type sibling struct {
	primitive      plan.Primitive
	kernel, format string
	donors         []string // kernels, the first one measured on a chip counts
	donorFormat    string
	why            string
}

var siblings = []sibling{
	// Marlin on this format is timed at 896 experts, 16 a token, alone: at 128, 4 a
	// token, that reaches 11% of the peak where runs of role fit show 27%.
	{plan.GroupedGEMM, "vllm/vllm_gptossmxfp4moe_marlin_marlinexperts", "mxfp4/bf16",
		[]string{"vllm/vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic"}, "mxfp4/bf16", "another weight-only kernel, timed at the same experts"},
	{plan.GroupedGEMM, "vllm/vllm_gptossmxfp4moe_flashinfer_trtllm_mxfp4_mxfp8_trtllmmxfp4expertsmonolithic", "mxfp4/mxfp8",
		[]string{"vllm/vllm_mxfp4moe_flashinfer_trtllm_mxfp4_mxfp8_trtllmmxfp4expertsmodular"}, "mxfp4/mxfp8", "the same grouped product, called expert by expert instead of whole"},
	{plan.GroupedGEMM, "vllm/vllm_compressedtensorsw4a4nvfp4moe_marlin_marlinexperts", "nvfp4",
		[]string{"vllm/vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts"}, "int4_w4a16/bf16", "the same weight-only kernel on another 4-bit format"},
	{plan.GroupedGEMM, "vllm/vllm_compressedtensorswna16marlinmoe_flashinfer_trtllm_trtllmint4experts", "int4_w4a16/bf16",
		[]string{"sglang/sglang_flashinfer_trtllm_moe"}, "int4_w4a16/bf16", "the same library's kernel, called by another engine"},
	{plan.GroupedGEMM, "vllm/vllm_modeloptfp8moe_triton_tritonexperts", "fp8",
		[]string{"vllm/vllm_fp8moe_triton_tritonexperts"}, "fp8_block", "the same kernel with one scale instead of one a block"},
	{plan.AllReduce, "vllm/flashinfer_allreduce_fusion", "", []string{"vllm/vLLM_custom"}, "", "the same one- and two-shot exchange; the fused norm is priced apart"},
}

// named gives the siblings their entries on one chip: from its own tables, or
// from those of its donors.
func (r *Result) named(chip string, donors []string) []*registry.Entry {
	var out []*registry.Entry
	for _, s := range siblings {
		donor := r.twin(s, append([]string{chip}, donors...))
		if donor == nil || r.fitted(s, chip) {
			continue
		}
		key := donor.key
		out = append(out, &registry.Entry{
			Key:    registry.Key{Primitive: s.primitive, Kernel: s.kernel, Format: s.format, Chip: chip, Boundary: registry.Device},
			Method: plan.Transferred.String(), Rule: s.why + ": its utilisation at the same shape", Unit: "s", Donor: &key,
		})
	}
	return out
}

func (r *Result) twin(s sibling, chips []string) *Fitted {
	for _, chip := range chips {
		for _, name := range s.donors {
			for _, f := range r.Fits {
				if f.key.Chip == chip && f.key.Kernel == name && f.key.Format == s.donorFormat && f.key.Primitive == s.primitive &&
					f.key.Boundary == registry.Device && !f.old {
					return f
				}
			}
		}
	}
	return nil
}

// fitted reports that a chip has the sibling's own measurement after all.
func (r *Result) fitted(s sibling, chip string) bool {
	for _, f := range r.Fits {
		if f.key.Chip == chip && f.key.Primitive == s.primitive && f.key.Kernel == s.kernel && f.key.Format == s.format {
			return true
		}
	}
	return false
}
