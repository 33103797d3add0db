package config

import (
	"slices"
	"strings"
)

// backend is what one attention backend class supports; a nil function means yes,
// a nil list means any. Files are under v1/attention/backends.
type backend struct {
	mla, sparse bool
	heads       func(d Demand) bool
	dtypes      []string
	caches      func(d Demand) bool
	blocks      []int // kernel block sizes; multiple marks the single "multiple of" entry
	multiple    bool
	capability  func(major, minor int) bool
	sinks       func(d Demand) bool
	noSliding   bool
	causalOnly  bool
	decoderOnly bool
	attnTypes   []string
	invariant   bool                  // supports batch invariance
	refuse      func(d Demand) string // supports_combination
}

var (
	half     = []string{"float16", "bfloat16"}
	allTypes = []string{"float16", "bfloat16", "float32"}
)

func cacheIn(names ...string) func(Demand) bool {
	return func(d Demand) bool { return slices.Contains(names, d.CacheDtype) }
}

func headIn(sizes ...int) func(Demand) bool {
	return func(d Demand) bool { return slices.Contains(sizes, d.HeadSize) }
}

func major(majors ...int) func(int, int) bool {
	return func(m, _ int) bool { return slices.Contains(majors, m) }
}

// flashFP8 is whether FlashAttention takes the FP8 cache: FA3 on SM90, FA4 on SM100.
func flashFP8(d Demand) bool {
	return slices.Contains([]string{"fp8", "fp8_e4m3"}, d.CacheDtype) && (d.Capability[0] == 9 || d.Capability[0] == 10)
}

func newFlash(d Demand) bool { return d.Capability[0] == 9 || d.Capability[0] == 10 }

var backends = map[string]backend{
	"FLASH_ATTN": { // flash_attn.py:79
		dtypes: half, blocks: []int{16}, multiple: true, invariant: true,
		heads: func(d Demand) bool {
			return d.HeadSize%8 == 0 && (d.HeadSize <= 256 || d.HeadSize <= 512 && newFlash(d))
		},
		caches:     func(d Demand) bool { return cacheIn("auto", "float16", "bfloat16")(d) || flashFP8(d) },
		capability: func(m, _ int) bool { return m >= 8 },
		sinks:      newFlash,
		attnTypes:  []string{"", "decoder", "encoder", "encoder_only", "encoder_decoder"},
		refuse: func(d Demand) string {
			if strings.HasPrefix(d.CacheDtype, "fp8") && !flashFP8(d) {
				return "FP8 KV cache requires FA3 on SM90 or FA4 on SM100"
			}
			return ""
		},
	},
	"FLASHINFER": { // flashinfer.py:393
		dtypes: half, heads: headIn(64, 128, 256, 512), blocks: []int{16, 32, 64}, attnTypes: []string{"", "decoder"},
		caches: func(d Demand) bool {
			return cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2")(d) || cacheIn("nvfp4", "nvfp4_4over6")(d) && d.Capability[0] == 10
		},
		capability: func(m, n int) bool { return m >= 8 && (m < 12 || m == 12 && n <= 1) },
		sinks:      func(d Demand) bool { return d.Capability[0] == 10 },
	},
	"TRITON_ATTN": { // triton_attn.py:276
		dtypes: allTypes, blocks: []int{16}, multiple: true, invariant: true,
		heads: func(d Demand) bool { return d.HeadSize >= 32 },
		caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2",
			"int4_per_token_head", "int8_per_token_head", "fp8_per_token_head"),
		attnTypes: []string{"", "decoder", "encoder", "encoder_only", "encoder_decoder"},
		sinks:     func(Demand) bool { return true },
	},
	"FLEX_ATTENTION": { // flex_attention.py:86
		dtypes: allTypes, blocks: []int{16}, multiple: true, invariant: true,
		caches: cacheIn("auto", "float16", "bfloat16"), attnTypes: []string{"", "decoder", "encoder_only"},
	},
	"TURBOQUANT": { // turboquant_attn.py:123
		dtypes: half, blocks: []int{16, 32, 64, 128}, noSliding: true, causalOnly: true,
		caches:    cacheIn("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc"),
		attnTypes: []string{"", "decoder"},
	},
	"FLASHINFER_MLA":        {mla: true, dtypes: half, blocks: []int{32, 64}, caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3"), capability: major(10)},
	"TOKENSPEED_MLA":        {mla: true, dtypes: half, blocks: []int{32, 64}, caches: cacheIn("fp8", "fp8_e4m3"), capability: major(10)},
	"CUTLASS_MLA":           {mla: true, dtypes: half, blocks: []int{128}, caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3"), capability: major(10), causalOnly: true},
	"FLASH_ATTN_MLA":        {mla: true, dtypes: half, blocks: []int{16}, multiple: true, caches: cacheIn("auto", "float16", "bfloat16"), capability: major(9), causalOnly: true, invariant: true},
	"FLASHMLA":              {mla: true, dtypes: half, blocks: []int{64}, caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3"), capability: major(9, 10), causalOnly: true},
	"TRITON_MLA":            {mla: true, dtypes: half, blocks: []int{16}, multiple: true, caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3"), invariant: true},
	"FLASH_ATTN_MLA_SPARSE": {mla: true, sparse: true, dtypes: half, blocks: []int{64}, caches: cacheIn("auto", "float16", "bfloat16"), capability: major(9), causalOnly: true},
	"FLASHMLA_SPARSE":       {mla: true, sparse: true, dtypes: []string{"bfloat16"}, heads: headIn(576), blocks: []int{64}, caches: cacheIn("auto", "bfloat16", "fp8_ds_mla", "fp8"), capability: major(9, 10), causalOnly: true},
	"FLASHINFER_MLA_SPARSE": {mla: true, sparse: true, dtypes: half, blocks: []int{32, 64}, caches: cacheIn("auto", "float16", "bfloat16", "fp8", "fp8_e4m3"), capability: major(10), causalOnly: true},
}

// Invalid lists why a backend cannot serve d, in upstream's order and words
// (v1/attention/backend.py, validate_configuration); nil means it can.
func Invalid(name string, d Demand) []string {
	b, ok := backends[name]
	if !ok {
		return []string{"not modelled"}
	}
	var why []string
	add := func(bad bool, text string) {
		if bad {
			why = append(why, text)
		}
	}
	add(b.heads != nil && !b.heads(d), "head_size not supported")
	add(!slices.Contains(b.dtypes, d.Dtype), "dtype not supported")
	add(!b.caches(d), "kv_cache_dtype not supported")
	add(d.BlockSize > 0 && !slices.ContainsFunc(b.blocks, func(n int) bool { return d.BlockSize%n == 0 }), "block_size not supported")
	add(d.MLA != b.mla, "MLA not supported")
	add(d.Sparse != b.sparse, "sparse not supported")
	add(d.Sinks && (b.sinks == nil || !b.sinks(d)), "sink setting not supported")
	add(b.capability != nil && !b.capability(d.Capability[0], d.Capability[1]), "compute capability not supported")
	add(d.Sliding && b.noSliding, "sliding window not supported")
	add(d.NonCausal && b.causalOnly, "non-causal attention not supported")
	add(d.BatchInvariant && !b.invariant, "batch invariance not supported")
	add(b.attnTypes != nil && !slices.Contains(b.attnTypes, d.AttnType), "attention type "+d.AttnType+" not supported")
	if b.refuse != nil {
		if text := b.refuse(d); text != "" {
			why = append(why, text)
		}
	}
	return why
}

// Choose is the first valid backend in order, or the stated one if it is valid;
// "" when none is, with every backend's reasons.
func Choose(stated string, d Demand) (name string, reasons map[string][]string) {
	order := Order(d)
	if stated != "" {
		order = []string{stated}
	}
	reasons = map[string][]string{}
	for _, n := range order {
		why := Invalid(n, d)
		if why == nil && name == "" {
			name = n
		}
		if why != nil {
			reasons[n] = why
		}
	}
	return name, reasons
}

// KernelBlocks are a backend's kernel block sizes; multiple says the one entry
// stands for its multiples.
func KernelBlocks(name string) (sizes []int, multiple bool) {
	b := backends[name]
	return b.blocks, b.multiple
}

// PreferredBlock is get_preferred_block_size: the default where the backend takes
// it, else its smallest.
func PreferredBlock(name string, unset int) int {
	b, ok := backends[name]
	if !ok || len(b.blocks) == 0 || slices.ContainsFunc(b.blocks, func(n int) bool { return unset%n == 0 }) {
		return unset
	}
	return slices.Min(b.blocks)
}
