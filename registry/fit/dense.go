package fit

import (
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

var gemms = family{
	set: "gemm", table: "gemm_perf", coords: form.GEMM{}.Coords(), apart: []int{0, 1, 2},
	layout: layout{
		{{"m", []float64{16, 64, 128, 256, 512, 1024, 2048, 4096, 16384}}, {"n", octaves(64, 16384, 4)}, {"k", octaves(64, 16384, 4)}},
		// Tile edges: a kernel changes at a power of two of rows, and one row more
		// can cost a whole tile.
		{{"m", tileEdges}, {"n", []float64{256, 512, 1024, 2048, 4096, 8192, 16384}}},
		// Waves of tiles over the chip.
		{{"mn", octaves(1<<14, 1<<26, 1.25)}, {"k", []float64{512, 4096}}},
	},
	read: func(r *row, c *form.Chip) (reading, error) {
		f := r.format("gemm_dtype")
		g := form.GEMM{M: r.num("m"), N: r.num("n"), K: r.num("k"), Operands: f.Operands()}
		return reading{key: r.kernel(plan.GEMM, f), shape: []float64{g.M, g.N, g.K}, point: g.Point(c)}, nil
	},
}

var tileEdges = []float64{16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 192, 193, 256, 257, 512, 513, 768, 769, 1024, 1025,
	1280, 1281, 1536, 1537, 2048, 2049, 3072, 3073, 4096, 4097, 8192}
