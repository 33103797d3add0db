package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var moeBackends = []string{"auto", "triton", "batched_triton", "deep_gemm", "deep_gemm_mega_moe", "cutlass", "flashinfer_trtllm", "flashinfer_cutlass",
	"flashinfer_cutedsl", "flashinfer_b12x", "marlin", "humming", "triton_unfused", "aiter", "flydsl", "hpc", "emulation"}

var linearBackends = []string{"auto", "cutlass", "flashinfer_cutlass", "flashinfer_cutedsl", "flashinfer_trtllm", "flashinfer_cudnn", "flashinfer_b12x", "b12x",
	"marlin", "humming", "triton", "deep_gemm", "torch", "aiter", "machete", "fbgemm", "conch", "exllama", "emulation", "xpu", "xpu_woq"}

func kernelConfig(r *reader, env environment) error {
	k := &r.c.Kernels
	k.MoE, k.Linear, k.CustomAllReduce = "auto", "auto", true
	r.literal("moe_backend", &k.MoE, moeBackends...)
	r.literal("linear_backend", &k.Linear, linearBackends...)
	r.text("attention_backend", &k.Attention)
	nestedKernels(r)
	plain := false
	r.boolean("disable_custom_all_reduce", &plain)
	k.CustomAllReduce = !plain
	if err := r.done(); err != nil {
		return err
	}
	if k.Attention != "" && !slices.Contains(attentionBackends, k.Attention) {
		return valueError("Unknown attention backend: '%s'. Valid options are: %s", k.Attention, strings.Join(attentionBackends, ", "))
	}
	for _, v := range []struct {
		name  string
		unset bool
		dst   *bool
	}{
		{"VLLM_USE_DEEP_GEMM", true, &k.DeepGEMM},
		{"VLLM_USE_FLASHINFER_MOE_INT4", false, &k.MoEInt4FlashInfer},
		{"VLLM_BATCH_INVARIANT", false, &k.BatchInvariant},
		{"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", true, &k.EstimateGraphs},
	} {
		on, err := env.on(v.name, v.unset)
		if err != nil {
			return err
		}
		*v.dst = on
	}
	return nil
}

// nestedKernels reads the JSON forms of the same choices; the plain argument wins.
func nestedKernels(r *reader) {
	for object, names := range map[string]map[string]*string{ //determinism:any-order each name is read once
		"attention_config": {"backend": &r.c.Kernels.Attention},
		"kernel_config":    {"moe_backend": &r.c.Kernels.MoE, "linear_backend": &r.c.Kernels.Linear},
	} {
		nested := r.object(object)
		for name, dst := range names { //determinism:any-order each name is read once
			plain := name
			if name == "backend" {
				plain = "attention_backend"
			}
			if v, ok := nested[name].(string); ok && r.args[plain] == nil {
				*dst = v
			}
		}
	}
}

var (
	compileModes = []string{"NONE", "STOCK_TORCH_COMPILE", "DYNAMO_TRACE_ONCE", "VLLM_COMPILE"}
	graphModes   = []string{"NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"}
)

func compilationConfig(r *reader, env environment) error {
	c := r.c
	async := r.optionalBool("async_scheduling")
	level := "2"
	if v, ok := r.take("optimization_level"); ok {
		level = strings.TrimPrefix(fmt.Sprint(v), "O")
		if !slices.Contains([]string{"0", "1", "2", "3"}, level) {
			r.fault("optimization_level", &Item{Type: "enum", Message: "Input should be 0, 1, 2 or 3"})
		}
	}
	stated := r.object("compilation_config")
	if err := r.done(); err != nil {
		return err
	}
	c.Level, _ = strconv.Atoi(level)
	if c.TP > 0 && c.Model.Heads%c.TP != 0 {
		return reject("Total number of attention heads (%d) must be divisible by tensor parallel size (%d).", c.Model.Heads, c.TP)
	}
	if err := c.async(async, env); err != nil {
		return err
	}
	if err := c.compile(r, stated); err != nil {
		return err
	}
	return nil
}

func (c *Config) compile(r *reader, stated map[string]any) error {
	k := &c.Compile
	k.Mode, k.Graphs = "VLLM_COMPILE", "FULL_AND_PIECEWISE"
	switch c.Level {
	case 0:
		k.Mode, k.Graphs = "NONE", "NONE"
	case 1:
		k.Graphs = "PIECEWISE"
	}
	read := &reader{c: c, args: stated}
	if v, ok := stated["mode"]; ok && v != nil {
		n, bad := integer(v)
		if name := slices.Index(compileModes, strings.ToUpper(fmt.Sprint(v))); bad != nil && name >= 0 {
			n, bad = name, nil
		}
		if bad != nil || n < 0 || n >= len(compileModes) {
			return reject("Invalid compilation mode: %v", v)
		}
		k.Mode = compileModes[n]
	}
	if c.EnforceEager {
		k.Mode, k.Graphs = "NONE", "NONE"
	}
	if v, ok := stated["cudagraph_mode"].(string); ok && !c.EnforceEager {
		if k.Graphs = strings.ToUpper(v); !slices.Contains(graphModes, k.Graphs) {
			return reject("Invalid cudagraph_mode: %s. Valid options: %s", v, strings.Join(graphModes, ", "))
		}
	} else if c.Runner == "pooling" && k.Graphs == "FULL_AND_PIECEWISE" {
		k.Graphs = "PIECEWISE"
	}
	k.Pass.EliminateNoops = true
	passes, _ := stated["pass_config"].(map[string]any)
	pass := &reader{c: &Config{Sources: map[string]Source{}}, args: passes}
	pass.boolean("fuse_allreduce_rms", &k.Pass.FuseAllReduceRMS)
	pass.boolean("fuse_attn_quant", &k.Pass.FuseAttnQuant)
	pass.boolean("eliminate_noops", &k.Pass.EliminateNoops)
	if err := pass.done(); err != nil {
		return err
	}
	if ops, ok := stated["splitting_ops"].([]any); ok {
		k.NoSplitting = len(ops) == 0
	}
	if ops, ok := stated["custom_ops"].([]any); ok {
		for _, o := range ops {
			k.CustomOps = append(k.CustomOps, fmt.Sprint(o))
		}
	}
	return c.captures(r, read)
}

// captures sets the capture sizes (vllm.py:1917-2090).
func (c *Config) captures(top, nested *reader) error {
	k := &c.Compile
	for _, name := range []string{"cudagraph_capture_sizes", "max_cudagraph_capture_size"} {
		if top.args[name] != nil && nested.args[name] != nil {
			return valueError("%s and compilation_config.%s are mutually exclusive", name, name)
		}
	}
	from := top
	if nested.args["max_cudagraph_capture_size"] != nil {
		from = nested
	}
	largest := from.optional("max_cudagraph_capture_size")
	given, stated := top.args["cudagraph_capture_sizes"].([]any)
	if !stated {
		given, stated = nested.args["cudagraph_capture_sizes"].([]any)
	}
	if err := from.done(); err != nil || k.Graphs == "NONE" {
		return err
	}
	limit := 512
	if c.Chip.Blackwell() {
		limit = 1024
	}
	top1 := min(2*c.MaxSeqs*(1+c.Drafts()), limit)
	if largest != nil {
		top1 = *largest
	}
	top1 = min(top1, c.MaxBatchedTokens)
	if top1 < 1 {
		return failedAssertion("Maximum cudagraph size should be greater than or equal to 1 when using cuda graph.")
	}
	if !stated {
		k.Sizes = captureSizes(top1, c.MaxBatchedTokens, c.Mode == "interactivity")
		k.MaxSize = k.Sizes[len(k.Sizes)-1]
		return nil
	}
	for _, v := range given {
		n, bad := integer(v)
		if bad != nil {
			bad.Loc = "cudagraph_capture_sizes"
			return &Upstream{Class: "ValidationError", Items: []Item{*bad}}
		}
		if n <= c.MaxBatchedTokens {
			k.Sizes = append(k.Sizes, n)
		}
	}
	slices.Sort(k.Sizes)
	k.Sizes = slices.Compact(k.Sizes)
	if n := len(k.Sizes); n > 0 {
		k.MaxSize = k.Sizes[n-1]
	}
	if largest != nil && *largest != k.MaxSize {
		return reject("customized max_cudagraph_capture_size(=%d) should be consistent with the max value of cudagraph_capture_sizes(=%d)", *largest, k.MaxSize)
	}
	return nil
}

// captureSizes is the default list up to largest: 1, 2, 4, steps of 8 to 255,
// steps of 16 above, and the token budget itself when it is within reach.
func captureSizes(largest, budget int, interactive bool) []int {
	var sizes []int
	add := func(n int) {
		if n <= largest && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	if interactive {
		for n := 1; n <= 32; n++ {
			add(n)
		}
	}
	for _, n := range []int{1, 2, 4} {
		add(n)
	}
	for n := 8; n < 256; n += 8 {
		add(n)
	}
	for n := 256; n <= largest; n += 16 {
		add(n)
	}
	add(budget)
	slices.Sort(sizes)
	return sizes
}

// finish settles what depends on everything: the model runner and the batches in
// flight (vllm.py:584-594, 648-726).
func finish(r *reader, env environment) error {
	c := r.c
	c.V2Runner = c.Model.runsV2() && (c.Spec == nil || c.Spec.Method != "ngram")
	if v, ok := env.vars["VLLM_USE_V2_MODEL_RUNNER"]; ok {
		c.V2Runner = v == "1" || strings.EqualFold(v, "true")
	}
	if c.V2Runner && c.PCP > 1 {
		return reject("Model Runner V2 does not yet support: prefill context parallelism")
	}
	routed := false
	r.boolean("enable_return_routed_experts", &routed)
	if err := r.done(); err != nil {
		return err
	}
	if routed && c.PP > 1 {
		return reject("--enable-return-routed-experts is incompatible with pipeline parallelism (PP > 1).")
	}
	if c.DBO && !slices.Contains([]string{"deepep_low_latency", "deepep_high_throughput", "nixl_ep"}, c.All2All) {
		return failedAssertion(fmt.Sprintf("Microbatching currently only supports the deepep_low_latency, deepep_high_throughput, and nixl_ep all2all backends. %s is not supported. "+
			"To fix use --all2all-backend=deepep_low_latency, --all2all-backend=deepep_high_throughput, or --all2all-backend=nixl_ep and install the matching kernels.", c.All2All))
	}
	if c.MaxScheduledTokens == nil && c.Spec != nil {
		n := c.MaxBatchedTokens
		c.MaxScheduledTokens = &n
	}
	switch {
	case !c.Async:
		c.InFlight = c.PP
	case c.V2Runner:
		c.InFlight = c.PP + 1
	case c.PP == 1:
		c.InFlight = 2
	default:
		c.InFlight = c.PP
	}
	return nil
}
