package composite

import (
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// TestRegistryHoldsThePublishedFit: the calibrated scalars in use are the record's.
func TestRegistryHoldsThePublishedFit(t *testing.T) {
	r, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := reg.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parameters {
		chips := p.Chips
		if chips == nil {
			chips = []string{"h200_sxm", "mi300x"}
		}
		for _, chip := range chips {
			var got []float64
			for _, e := range entries {
				if string(e.Primitive) == p.Name && e.Kernel == p.Kernel && e.Chip == chip && e.Method != "assumed" {
					got = append(got, *e.Value)
				}
			}
			if !slices.Equal(got, []float64{p.Value}) {
				t.Errorf("%s %s on %s: registry holds %v, the record says %v", p.Name, p.Kernel, chip, got, p.Value)
			}
		}
	}
}

// TestFitReadOnlyFitUnits: no unit of another role stands in the record (D1).
func TestFitReadOnlyFitUnits(t *testing.T) {
	r, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		u, ok := l.Unit(run.Unit)
		if !ok || l.Role(u) != ledger.Fit {
			t.Errorf("unit %s: role is not fit", run.Unit)
		}
	}
	if len(r.Runs) < 400 {
		t.Errorf("got %d figures, want two of each of some 220 units", len(r.Runs))
	}
}
