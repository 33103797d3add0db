package registry_test

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

func TestEmbedded(t *testing.T) {
	r, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Lookup(registry.Key{Primitive: registry.HostLayer, Chip: "h200_sxm", Boundary: registry.Host})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *res.Entry.Value, 1e-3; got != want {
		t.Errorf("launch of a layer: got %v, want %v", got, want)
	}
}
