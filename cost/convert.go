package cost

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// stored is a plan's number format as the forms take it; activations and caches
// a plan leaves unset are BF16.
func stored(d plan.DType) quantity.Format {
	switch d {
	case "":
		return quantity.BF16
	case "int4_w4a16":
		return quantity.INT4Group
	}
	return quantity.Format(d)
}

// format is how a kernel of l holds its stored operand and its activations.
func format(l *plan.LoweredLayer) form.Format {
	switch l.Primitive {
	case plan.AttentionExtend, plan.AttentionDecode, plan.SparseIndex:
		return form.Format{Stored: stored(l.Shape.KVType), Act: stored(l.Shape.Act)}
	case plan.MLAExtend, plan.MLADecode:
		f := form.Format{Stored: stored(l.Shape.KVType), Act: stored(l.Shape.Act)}
		if l.Shape.Hidden > 0 { // a whole module, projections included
			f.Projections = stored(l.Shape.Weight)
		}
		return f
	}
	return form.Format{Stored: stored(l.Shape.Weight), Act: stored(l.Shape.Act)}
}

// keyFormat is the format a registry entry of l is kept under; only products and
// attention have one.
func keyFormat(l *plan.LoweredLayer) string {
	switch l.Primitive {
	case plan.GEMM, plan.GroupedGEMM, plan.AttentionExtend, plan.AttentionDecode, plan.MLAExtend, plan.MLADecode, plan.SparseIndex:
		return format(l).String()
	}
	return ""
}

// checkTypes refuses a number format outside the closed set (SUB-16).
func checkTypes(l *plan.LoweredLayer) error {
	for _, d := range []plan.DType{l.Shape.Act, l.Shape.Weight, l.Shape.KVType} {
		if _, err := form.ParseFormat(string(stored(d))); err != nil {
			return fmt.Errorf("plan.layers.%s: %w", l.Name, err)
		}
	}
	return nil
}

// datasheet gathers what the forms read of a chip and its networks.
func datasheet(c *catalog.Catalog, name, fabric string) (form.Chip, error) {
	chip, err := c.Chip(name)
	if err != nil {
		return form.Chip{}, err
	}
	f := form.Chip{Name: name, HBM: float64(chip.Bandwidth()), World: 1}
	peak := func(q quantity.Format) float64 {
		rate, _ := chip.Peak(q) // absent: the forms compute in the next wider type
		return float64(rate)
	}
	f.BF16, f.FP8, f.FP4 = peak(quantity.BF16), peak(quantity.FP8), peak(quantity.NVFP4)
	if chip.ScaleUp != "" {
		n, err := c.Network(chip.ScaleUp)
		if err != nil {
			return f, err
		}
		f.Link, f.World = float64(n.Rate()), n.Domain()
	}
	if fabric == "" {
		fabric = chip.ScaleOut
	}
	if fabric != "" {
		n, err := c.Network(fabric)
		if err != nil {
			return f, err
		}
		f.NIC = float64(n.Rate())
	}
	return f, nil
}

// chip is the datasheet of a plan's chip. A chip without scale-up links reaches
// its peers over the host's bus.
func (m *Model) chip(p *plan.PoolPlan) (form.Chip, error) {
	f, err := datasheet(m.catalog, p.Hardware, p.Fabric)
	if err != nil || f.Link > 0 && f.NIC > 0 {
		return f, err
	}
	bus, err := m.scalar(p.Hardware, registry.HostBus)
	if err != nil {
		return f, err
	}
	if f.Link == 0 {
		f.Link = bus.value
	}
	if f.NIC == 0 {
		f.NIC = bus.value
	}
	return f, nil
}
