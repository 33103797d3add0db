package fit

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// deepSeek is the latent attention every table was taken on, heads aside
// (deepseek-ai/DeepSeek-V3 config.json).
func deepSeek(heads float64, cache form.Format) form.Latent {
	return form.Latent{Heads: heads, QueryRank: 1536, CacheRank: 512, Nope: 128, Rope: 64, Value: 128, Cache: cache.Operands()}
}

// module is the whole attention layer: projections included.
func (r *row) module() (form.Latent, form.Format) {
	f := r.cache("mla_dtype")
	f.Projections = r.format("gemm_type").Stored
	l := deepSeek(r.num("num_heads"), f)
	l.Hidden, l.Weights = 7168, form.Format{Stored: f.Projections, Act: f.Projections}.Operands()
	return l, f
}

var latentLayouts = struct{ decode, extend layout }{
	layout{{{"seqs", octaves(2, 512, 2)}, {"context", octaves(16, 1<<16, 4)}, {"heads", octaves(2, 64, 2)}}, {{"bytes", octaves(1<<20, 1<<30, 2)}}},
	layout{{{"tokens", octaves(16, 1<<16, 2)}, {"length", octaves(64, 16384, 4)}, {"heads", octaves(2, 64, 2)}}},
}

func latentDecode(r *row, c *form.Chip, l form.Latent, f form.Format) reading {
	d := form.LatentDecode{Seqs: r.num("batch_size"), Context: r.num("step") + 1, Latent: l}
	return reading{key: r.kernel(plan.MLADecode, f), point: d.Point(c), shape: []float64{d.Seqs, d.Context, d.Latent.Heads}}
}

func latentPrefill(r *row, c *form.Chip, l form.Latent, f form.Format) reading {
	q := form.LatentPrefill{Seqs: r.num("batch_size"), Tokens: r.num("isl"), Length: r.num("isl") + r.num("step"), Latent: l}
	return reading{key: r.kernel(plan.MLAExtend, f), point: q.Point(c), shape: []float64{q.Seqs, q.Tokens, q.Length, q.Latent.Heads}}
}

var latentDecodes = family{
	set: "mla", table: "generation_mla_perf", coords: form.LatentDecode{}.Coords(), apart: []int{0, 1}, layout: latentLayouts.decode,
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.cache("mla_dtype")
		return latentDecode(r, c, deepSeek(r.num("num_heads"), f), f), nil
	},
}

var latentPrefills = family{
	set: "mla", table: "context_mla_perf", coords: form.LatentPrefill{}.Coords(), apart: []int{0, 1}, layout: latentLayouts.extend,
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.cache("mla_dtype")
		return latentPrefill(r, c, deepSeek(r.num("num_heads"), f), f), nil
	},
}

var latentDecodeModules = family{
	set: "mla", table: "mla_generation_module_perf", coords: form.LatentDecode{}.Coords(), apart: []int{0, 1}, layout: latentLayouts.decode,
	read: func(r *row, c *form.Chip) (reading, error) {
		l, f := r.module()
		return latentDecode(r, c, l, f), nil
	},
}

var latentPrefillModules = family{
	set: "mla", table: "mla_context_module_perf", coords: form.LatentPrefill{}.Coords(), apart: []int{0, 1}, layout: latentLayouts.extend,
	read: func(r *row, c *form.Chip) (reading, error) {
		l, f := r.module()
		return latentPrefill(r, c, l, f), nil
	},
}
