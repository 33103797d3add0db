package fit

import (
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

var experts = family{
	set: "moe", table: "moe_perf", coords: form.MoE{}.Coords(), apart: []int{0},
	layout: layout{
		{{"load", octaves(1.0/256, 1024, 2)}, {"experts", octaves(2, 256, 4)}, {"inter", octaves(64, 8192, 4)}},
		{{"tokens", octaves(2, 8192, 2)}, {"inter", octaves(64, 8192, 4)}},
		{{"hidden", octaves(2048, 8192, 2)}, {"load", octaves(1.0/64, 256, 8)}},
		{{"top_k", []float64{2, 4, 8, 16}}, {"load", octaves(1.0/64, 256, 8)}},
		{{"skew", []float64{2.01}}, {"ranks", octaves(4, 256, 4)}, {"load", octaves(1.0/64, 256, 4)}},
		{{"align", []float64{16, 32, 64}}, {"load", octaves(1.0/64, 256, 8)}},
	},
	// A row's tokens are those of the whole group; its inter_size is that of the
	// whole expert.
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.format("moe_dtype")
		m := form.MoE{Tokens: r.num("num_tokens"), Hidden: r.num("hidden_size"), Inter: r.num("inter_size"), TopK: r.num("topk"),
			Experts: r.num("num_experts"), TP: r.num("moe_tp_size"), EP: r.num("moe_ep_size"), Operands: f.Operands()}
		skew, err := r.skew()
		m.Skew = skew
		m.Ungated = ungated[[4]float64{m.Hidden, m.Inter, m.TopK, m.Experts}]
		return reading{key: r.kernel(plan.GroupedGEMM, f), point: m.Point(c),
			shape: []float64{m.Tokens, m.Hidden, m.Inter, m.TopK, m.Experts, m.TP, m.EP, m.Skew}}, err
	},
}

// skew reads "balanced" or "power_law_<exponent>".
func (r *row) skew() (float64, error) {
	name := r.text("distribution")
	if name == "balanced" || name == "uniform" || name == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(name, "power_law_"), 64)
	if err != nil {
		return 0, &diag.Refusal{File: r.t.Path, Line: r.line, Field: "distribution", Value: name, Problem: "is no routing distribution the writers know", Accept: "balanced or power_law_<exponent>"}
	}
	return v, nil
}

// ungated are the expert shapes (hidden, inter, top-k, experts) with an up and a
// down projection only. The tables do not say so: read as three matrices, their
// evenly routed rows would stream weights at up to 1.38 times the HBM peak.
var ungated = map[[4]float64]bool{
	{2688, 1856, 6, 128}: true, {1024, 2688, 22, 512}: true, {2048, 5120, 22, 512}: true,
	{4096, 2688, 22, 512}: true, {8192, 5120, 22, 512}: true,
}
