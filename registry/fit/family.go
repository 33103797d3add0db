package fit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// family is what the writers know of one kind of table.
type family struct {
	set    string // file name of what is written
	table  string // name of the table
	coords []form.Coord
	apart  []int // sizes of a reading whose largest value is the frontier
	layout layout
	// clean gives the samples to fit in place of those measured, which judge the fit;
	// nil is the same ones.
	clean func([]sample) []sample
	// read turns a row into the key its kernel is kept under (chip and version
	// aside), the shape's numbers and its point; skip says why a row is not used.
	read func(r *row, c *form.Chip) (reading, error)
}

// reading is one row understood.
type reading struct {
	key   registry.Key
	shape []float64 // every number that distinguishes two shapes
	point form.Point
	skip  string
}

// families lists every table the writers read.
func families() []family {
	return []family{gemms, prefills, decodes, latentPrefills, latentDecodes, latentPrefillModules, latentDecodeModules,
		experts, customReduces, nccls}
}

// storedAs reads the tables' names of number formats.
var storedAs = map[string]string{
	"bfloat16": "bf16", "float16": "bf16", "half": "bf16", "fp8": "fp8", "fp8_static": "fp8", "fp8_block": "fp8_block",
	"nvfp4": "nvfp4", "int4_wo": "int4_w4a16/bf16", "w4a16_mxfp4": "mxfp4/bf16", "w4a8_mxfp4_mxfp8": "mxfp4/mxfp8",
	"mxfp4": "mxfp4", "w4a8_mxfp4_fp8": "mxfp4/fp8", "w4afp8": "int4_w4a16/fp8",
}

// format reads the number format in a column.
func (r *row) format(col string) form.Format {
	name, ok := storedAs[r.text(col)]
	f, err := form.ParseFormat(cmp.Or(name, r.text(col)))
	if !ok && r.err == nil {
		r.err = &diag.Refusal{File: r.t.Path, Line: r.line, Field: col, Value: r.text(col), Problem: "is no number format the writers know",
			Accept: diag.OneOf(r.text(col), sortedKeys(storedAs))}
	} else if err != nil && r.err == nil {
		r.err = err
	}
	return f
}

// kernel is the registry's name of what a row ran.
func (r *row) kernel(p plan.Primitive, f form.Format) registry.Key {
	k := registry.Key{Primitive: p, Kernel: r.t.Engine + "/" + r.text("kernel_source"), Boundary: registry.Device}
	if f.Stored != "" {
		k.Format = f.String()
	}
	return k
}

// cache is the format of an attention: the cache, and the queries against it.
func (r *row) cache(queries string) form.Format {
	return form.Format{Stored: r.format("kv_cache_dtype").Stored, Act: r.format(queries).Stored}
}

// octaves are knots a power of two apart.
func octaves(lo, hi, step float64) []float64 {
	var out []float64
	for k := lo; k <= hi; k *= step {
		out = append(out, k)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
