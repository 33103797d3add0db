package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// kernels are the choices that hold for every layer.
type kernels struct {
	attention string // upstream backend name
	extend    string // kernel of prompt tokens
	decode    string
	kv        quantity.Format
	allReduce string
	// blockReduce ends attention and MLP; fusedNorm says it does the norm that follows.
	blockReduce string
	fusedNorm   bool
	moe         string
	moeAct      quantity.Format
	pad         padding
}

func (l *lowering) chooseKernels() error {
	l.k.kv = l.cacheFormat()
	if err := l.chooseAttention(); err != nil {
		return err
	}
	l.chooseAllReduce()
	return l.chooseMoE()
}

// cacheFormat resolves kv-cache-dtype: auto takes what the checkpoint asks for.
func (l *lowering) cacheFormat() quantity.Format {
	switch d := l.c.CacheDtype; {
	case d == "auto" && l.store.KVCache == quantity.FP8:
		l.choose("kv-cache-dtype", "fp8", "auto: the checkpoint asks for an FP8 cache")
		return quantity.FP8
	case strings.HasPrefix(d, "fp8"):
		return quantity.FP8
	case strings.HasPrefix(d, "nvfp4"):
		return quantity.NVFP4
	case l.c.Dtype == "float32":
		return quantity.FP32
	}
	return quantity.BF16
}

func (l *lowering) chooseAttention() error {
	m := l.c.Model
	d := config.Demand{Capability: l.c.Chip.Capability, Dtype: l.c.Dtype, HeadSize: m.HeadDim, CacheDtype: l.c.CacheDtype,
		MLA: m.MLA, Sparse: m.SparseMLA, Heads: m.Heads / l.c.TP, Sinks: m.Sinks, Sliding: m.Window > 0, BatchInvariant: l.c.Kernels.BatchInvariant}
	if l.k.kv == quantity.FP8 && d.CacheDtype == "auto" {
		d.CacheDtype = "fp8"
	}
	if l.c.UserBlockSize {
		d.BlockSize = l.c.BlockSize
	}
	if m.Heads == 0 { // no softmax attention anywhere
		return nil
	}
	name, reasons := config.Choose(l.c.Kernels.Attention, d)
	if name == "" {
		var why []string
		for _, b := range []string{l.c.Kernels.Attention, "FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLASHINFER_MLA", "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA"} {
			if r := reasons[b]; r != nil {
				why = append(why, b+": "+strings.Join(r, ", "))
			}
		}
		field, value := "engine.args.attention-backend", l.c.Kernels.Attention
		if block := d.BlockSize; block > 0 {
			d.BlockSize = 0
			if name, _ := config.Choose(l.c.Kernels.Attention, d); name != "" { // the block size alone is at fault
				field, value = "engine.args.block-size", fmt.Sprint(block)
			}
		}
		return &diag.Refusal{Field: field, Value: value, Rule: "X1",
			Problem: "No valid attention backend found: " + strings.Join(slices.Compact(why), "; ")}
	}
	l.k.attention = name
	l.k.extend, l.k.decode = attentionKernels(name, l.c.Chip, m.HeadDim)
	why := fmt.Sprintf("first valid of %s", strings.Join(config.Order(d), ", "))
	if l.c.Kernels.Attention != "" {
		why = "stated"
	}
	l.choose("attention-backend", name, why)
	return nil
}

// attentionKernels names what a backend runs, as the operator tables do.
func attentionKernels(backend string, chip config.Chip, head int) (extend, decode string) {
	switch backend {
	case "FLASH_ATTN":
		version := "fa2"
		switch {
		case chip.Blackwell() || chip.Hopper() && head > 256:
			version = "fa4"
		case chip.Hopper():
			version = "fa3"
		}
		return "vllm_flash_attn_" + version, "vllm_flash_attn_" + version
	case "FLASHINFER":
		if chip.Blackwell() {
			return "vllm_flashinfer_trtllmprefill", "vllm_flashinfer_trtllmdecode"
		}
		return "vllm_flashinfer_fa2", "vllm_flashinfer_fa2"
	case "TRITON_ATTN":
		return "vllm_triton_attn", "vllm_triton_attn"
	case "FLEX_ATTENTION":
		return "vllm_flex_attention", "vllm_flex_attention"
	}
	// Latent attention expands prompts with a kernel of its own; TRTLLM_RAGGED runs
	// with use_prefill_query_quantization alone, which is off.
	return "FLASH_ATTN", backend
}

// chooseAllReduce: the custom kernel within a node, FlashInfer's where the norm is
// fused into it.
func (l *lowering) chooseAllReduce() {
	if l.c.TP < 2 {
		return
	}
	pass := l.c.Compile.Pass
	l.k.allReduce = "vLLM_custom"
	if !l.c.Kernels.CustomAllReduce || l.c.TP > 8 || l.crosses(l.tensorPeers()) {
		l.k.allReduce = nccl
		l.choose("all-reduce", nccl, "custom all-reduce is off or the group leaves the node")
	}
	l.k.blockReduce = l.k.allReduce
	if !pass.FuseAllReduceRMS {
		l.choose("all-reduce", l.k.allReduce, "inferred: pass_config.fuse_allreduce_rms not stated, taken as off")
		return
	}
	if (l.c.Chip.Hopper() || l.c.Chip.Blackwell()) && l.c.DP == 1 && l.c.PP == 1 && l.c.Compile.Mode == "VLLM_COMPILE" {
		l.k.blockReduce, l.k.fusedNorm = "flashinfer_allreduce_fusion", true
		l.choose("all-reduce", l.k.blockReduce, "pass_config.fuse_allreduce_rms: one kernel reduces and normalises")
	}
}

// linear is the kernel of a dense product of n outputs and k inputs.
func (l *lowering) linear(weight quantity.Format, n, k int) (kernel string, act quantity.Format) {
	chip, stated := l.c.Chip, l.c.Kernels.Linear
	switch weight {
	case quantity.FP8:
		return "CutlassFP8ScaledMMLinearKernel", quantity.FP8
	case quantity.FP8Block:
		deep := l.c.Kernels.DeepGEMM && (chip.Hopper() || chip.Blackwell()) && n%64 == 0 && k%128 == 0
		if deep && stated != "cutlass" {
			return "DeepGemmFp8BlockScaledMMKernel", quantity.FP8Block
		}
		return "CutlassFp8BlockScaledMMKernel", quantity.FP8Block
	case quantity.NVFP4:
		if chip.Blackwell() && stated != "marlin" {
			return "FlashInferCuteDslNvFp4LinearKernel", quantity.NVFP4
		}
		return "MarlinNvFp4LinearKernel", quantity.BF16
	case quantity.MXFP4:
		return "MarlinMxFp4LinearKernel", quantity.BF16
	case quantity.INT4Group:
		return "MarlinLinearKernel", quantity.BF16
	}
	return "torch.nn.functional.linear", quantity.BF16
}

// chooseMoE picks the experts' kernel from format, chip, layout, --moe-backend and
// the environment. The choice upstream makes is on record only as what the
// operator tables ran, so a reason says "inferred" where flags decide.
func (l *lowering) chooseMoE() error {
	if l.c.Model.Experts == 0 {
		return nil
	}
	f := l.store.Tensors[catalog.Expert]
	backend, why := l.moeBackend(f)
	class, act := moeClass(f, l.c.MoEActivation)
	experts, ok := moeExperts[moeCase{f, backend}]
	if !ok {
		return &diag.Refusal{Field: "moe-backend", Value: backend, Problem: fmt.Sprintf("does not run experts stored as %s", f), Accept: "auto", Rule: "X1"}
	}
	l.k.moe, l.k.moeAct = "vllm_"+class+"_"+experts.kernel, act
	l.k.pad = experts.padding
	if f == quantity.MXFP4 && backend == "flashinfer_trtllm" {
		l.k.moe = "vllm_" + class + "_flashinfer_trtllm_mxfp4_" + map[quantity.Format]string{quantity.BF16: "bf16", quantity.MXFP8: "mxfp8"}[act] + "_trtllmmxfp4expertsmonolithic"
	}
	if f == quantity.FP8Block {
		share := l.moeInter()
		if share%128 != 0 {
			return &diag.Refusal{Field: "tensor-parallel-size", Value: fmt.Sprint(l.c.TP), Rule: "X1",
				Problem: fmt.Sprintf("The output_size of gate's and up's weight = %d is not divisible by weight quantization block_n = 128.", share),
				Accept:  "a width that divides the experts into blocks, or --enable-expert-parallel"}
		}
	}
	l.choose("moe-backend", backend, why)
	l.choose("moe kernel", l.k.moe, "")
	return nil
}

func (l *lowering) moeBackend(f quantity.Format) (name, why string) {
	k, chip := l.c.Kernels, l.c.Chip
	if k.MoE != "auto" {
		return k.MoE, "stated"
	}
	switch f {
	case quantity.BF16:
		if chip.Blackwell() {
			return "flashinfer_trtllm", "table: unquantised experts on SM 10.x"
		}
	case quantity.FP8:
		if chip.Blackwell() {
			return "flashinfer_trtllm", "table: per-tensor FP8 experts on SM 10.x"
		}
		return "flashinfer_cutlass", "table: per-tensor FP8 experts on SM 9.0"
	case quantity.FP8Block:
		switch {
		case chip.Blackwell():
			return "flashinfer_trtllm", "table: block FP8 experts on SM 10.x"
		case chip.Hopper() && l.expertRanks() > 1:
			return "flashinfer_cutlass", "table: block FP8 experts spread over ranks on SM 9.0"
		}
	case quantity.NVFP4:
		if chip.Blackwell() {
			return "flashinfer_trtllm", "table: NVFP4 experts on SM 10.x"
		}
		return "marlin", "inferred: no FP4 unit, weight-only kernel"
	case quantity.INT4Group:
		if k.MoEInt4FlashInfer && chip.Blackwell() {
			return "flashinfer_trtllm", "inferred: VLLM_USE_FLASHINFER_MOE_INT4"
		}
		return "marlin", "table: grouped INT4 experts"
	case quantity.MXFP4:
		switch {
		case chip.Blackwell():
			return "flashinfer_trtllm", "table: MXFP4 experts on SM 10.x"
		case !chip.Hopper():
			return "marlin", "inferred: MXFP4 experts below SM 9.0"
		}
		return "triton", "table: MXFP4 experts on SM 9.0"
	}
	return "triton", "table: Triton where no other kernel is preferred"
}

// moeClass is the quantisation method's part of the kernel's name and what it
// multiplies the weights with.
func moeClass(f quantity.Format, stated string) (class string, act quantity.Format) {
	switch f {
	case quantity.FP8:
		return "modeloptfp8moe", quantity.FP8
	case quantity.FP8Block:
		return "fp8moe", quantity.FP8Block
	case quantity.NVFP4:
		return "compressedtensorsw4a4nvfp4moe", quantity.NVFP4
	case quantity.INT4Group:
		return "compressedtensorswna16marlinmoe", quantity.BF16
	case quantity.MXFP4:
		if stated == "mxfp8" {
			return "gptossmxfp4moe", quantity.MXFP8
		}
		return "gptossmxfp4moe", quantity.BF16
	}
	return "unquantizedfusedmoe", quantity.BF16
}

type moeCase struct {
	f       quantity.Format
	backend string
}

// padding is what post-processing pads experts to: the rank's share of the inner
// size, the hidden size (mxfp4.py, mxfp4_round_up_hidden_size_and_intermediate_size)
// and, on Hopper's swizzled layout, the inputs of each matrix, 64 packed bytes
// (triton_kernels, HopperMXValueLayout.swizzle_data). 0 leaves a size; inferred.
type padding struct{ inter, hidden, input int }

var moeExperts = map[moeCase]struct {
	kernel string
	padding
}{
	{quantity.BF16, "triton"}:                 {"triton_tritonexperts", padding{}},
	{quantity.BF16, "flashinfer_trtllm"}:      {"flashinfer_trtllm_trtllmbf16experts", padding{}},
	{quantity.BF16, "flashinfer_cutlass"}:     {"flashinfer_cutlass_flashinferexperts", padding{}},
	{quantity.FP8, "triton"}:                  {"triton_tritonexperts", padding{}},
	{quantity.FP8, "flashinfer_cutlass"}:      {"flashinfer_cutlass_flashinferexperts", padding{}},
	{quantity.FP8, "flashinfer_trtllm"}:       {"flashinfer_trtllm_trtllmfp8expertsmonolithic", padding{}},
	{quantity.FP8Block, "triton"}:             {"triton_tritonexperts", padding{}},
	{quantity.FP8Block, "deep_gemm"}:          {"deep_gemm_deepgemmexperts", padding{}},
	{quantity.FP8Block, "flashinfer_cutlass"}: {"flashinfer_cutlass_flashinferexperts", padding{}},
	{quantity.FP8Block, "flashinfer_trtllm"}:  {"flashinfer_trtllm_trtllmfp8expertsmonolithic", padding{}},
	{quantity.NVFP4, "flashinfer_trtllm"}:     {"flashinfer_trtllm_trtllmnvfp4expertsmonolithic", padding{}},
	{quantity.NVFP4, "flashinfer_cutlass"}:    {"flashinfer_cutlass_flashinferexperts", padding{}},
	{quantity.NVFP4, "marlin"}:                {"marlin_marlinexperts", padding{}},
	{quantity.INT4Group, "marlin"}:            {"marlin_marlinexperts", padding{}},
	{quantity.INT4Group, "flashinfer_trtllm"}: {"flashinfer_trtllm_trtllmint4experts", padding{}},
	{quantity.MXFP4, "triton"}:                {"triton_oaitritonmxfp4expertsmonolithic", padding{inter: 64, input: 128}},
	{quantity.MXFP4, "marlin"}:                {"marlin_marlinexperts", padding{inter: 128, hidden: 256}},
	{quantity.MXFP4, "flashinfer_trtllm"}:     {"", padding{inter: 256, hidden: 256}},
	{quantity.MXFP4, "flashinfer_cutlass"}:    {"flashinfer_cutlass_flashinferexperts", padding{inter: 128, hidden: 128}},
}

// expertRanks is over how many ranks experts are spread whole.
func (l *lowering) expertRanks() int {
	if l.c.EP {
		return l.c.TP * l.c.DP
	}
	return 1
}

// expertTensor is over how many ranks one expert is split: without expert
// parallelism the data-parallel ranks split it too (fused_moe/config.py,
// FusedMoEParallelConfig.make).
func (l *lowering) expertTensor() int {
	if l.c.EP {
		return 1
	}
	return l.c.TP * l.c.DP
}

func (l *lowering) moeInter() int {
	for b, n := range l.g.BlockCounts() {
		if n > 0 && b.MLP.MoE != nil {
			return b.MLP.MoE.Inter / l.expertTensor()
		}
	}
	return 0
}
