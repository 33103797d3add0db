package fit

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Chip reads from the catalog what a form needs of a chip.
func Chip(cat *catalog.Catalog, name string) (form.Chip, error) {
	c, err := cat.Chip(name)
	if err != nil {
		return form.Chip{}, err
	}
	out := form.Chip{Name: name, HBM: float64(c.Bandwidth()), World: 1}
	for _, p := range []struct {
		f  quantity.Format
		to *float64
	}{{quantity.BF16, &out.BF16}, {quantity.FP8, &out.FP8}, {quantity.NVFP4, &out.FP4}} {
		if rate, ok := c.Peak(p.f); ok {
			*p.to = float64(rate)
		}
	}
	if c.ScaleUp != "" {
		n, err := cat.Network(c.ScaleUp)
		if err != nil {
			return out, err
		}
		out.Link, out.World = float64(n.Rate()), n.Domain()
	}
	if c.ScaleOut != "" {
		n, err := cat.Network(c.ScaleOut)
		if err != nil {
			return out, err
		}
		out.NIC = float64(n.Rate())
	}
	return out, nil
}

// chipOf is the catalog chip a table directory was measured on: the entry whose
// name starts with the same product; ok is false when the catalog has none.
func chipOf(cat *catalog.Catalog, dir string) (string, bool) {
	product, _, _ := strings.Cut(dir, "_")
	for _, name := range cat.Chips() {
		if p, _, _ := strings.Cut(name, "_"); p == product {
			return name, true
		}
	}
	return "", false
}
