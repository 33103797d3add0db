package fit

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// heads reads the head shape of an attention row. The tables count heads of one
// rank, and give a window of 0 to full attention.
func (r *row) heads(f form.Format) form.Heads {
	return form.Heads{Query: r.num("num_heads"), KV: r.num("num_key_value_heads"), Dim: r.num("head_dim"), Window: r.num("window_size"), Operands: f.Operands()}
}

var (
	groups   = []float64{2, 4, 8, 16}
	headDims = []float64{64, 128, 192, 256, 512}
)

var decodes = family{
	set: "attention", table: "generation_attention_perf", coords: form.Decode{}.Coords(), apart: []int{0, 1},
	layout: layout{
		{{"rows", octaves(4, 4096, 4)}, {"context", octaves(16, 1<<16, 4)}, {"head_dim", headDims}},
		{{"bytes", octaves(1<<20, 1<<30, 2)}},
		{{"rows", octaves(4, 4096, 4)}, {"context", octaves(16, 1<<16, 4)}, {"group", groups}},
		{{"kv_heads", []float64{2, 4}}, {"rows", octaves(2, 4096, 2)}},
		{{"kv_heads", []float64{2, 4}}, {"reach", octaves(16, 1<<16, 2)}},
		{{"rows", octaves(4, 4096, 4)}, {"reach", octaves(16, 1<<16, 4)}},
	},
	// The context of a row is its step and the token being made.
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.cache("attn_dtype")
		d := form.Decode{Seqs: r.num("batch_size"), Context: r.num("step") + 1, Heads: r.heads(f)}
		k := r.kernel(plan.AttentionDecode, f)
		k.Windowed = d.Window > 0
		return reading{key: k, point: d.Point(c), shape: []float64{d.Seqs, d.Context, d.Query, d.KV, d.Dim, d.Window}}, nil
	},
}

var prefills = family{
	set: "attention", table: "context_attention_perf", coords: form.Prefill{}.Coords(), apart: []int{0, 1},
	layout: layout{
		{{"tiles", octaves(2, 1<<16, 4)}, {"length", octaves(32, 16384, 4)}, {"head_dim", headDims}},
		{{"tiles", octaves(8, 4096, 1.25)}, {"length", octaves(128, 8192, 4)}},
		{{"length", octaves(32, 16384, 2)}, {"group", groups}},
		{{"tiles", octaves(2, 1<<16, 4)}, {"group", groups}},
		{{"kv_heads", octaves(2, 32, 2)}, {"length", octaves(32, 16384, 4)}},
		{{"head_dim", headDims}, {"length", octaves(32, 16384, 2)}, {"group", []float64{4, 8}}},
		{{"tiles", octaves(8, 4096, 1.25)}, {"head_dim", headDims}},
	},
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.cache("attn_dtype")
		q := form.Prefill{Seqs: r.num("batch_size"), Tokens: r.num("isl"), Length: r.num("isl") + r.num("step"), Heads: r.heads(f)}
		k := r.kernel(plan.AttentionExtend, f)
		k.Windowed = q.Window > 0
		return reading{key: k, point: q.Point(c), shape: []float64{q.Seqs, q.Tokens, q.Length, q.Query, q.KV, q.Dim, q.Window}}, nil
	},
}
