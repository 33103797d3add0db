package registry

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

func entries(t *testing.T, r *Registry) []*Entry {
	t.Helper()
	all, err := r.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A registry of some methods has their entries alone, and answers with them where a
// better entry stood before.
func TestOnlySomeMethods(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	some, err := all.Only(plan.Roofline, plan.Assumed)
	if err != nil {
		t.Fatal(err)
	}
	whole, part := entries(t, all), entries(t, some)
	want := 0
	for _, e := range whole {
		if e.method == plan.Roofline || e.method == plan.Assumed {
			want++
		}
	}
	if got := len(part); got != want || got == 0 || got == len(whole) {
		t.Errorf("got %d of %d entries, want %d", got, len(whole), want)
	}
	key := Key{Primitive: HostStep, Chip: "h200_sxm", Boundary: Host}
	before, err := all.Lookup(key)
	if err != nil || before.Entry.method != plan.Calibrated {
		t.Fatalf("the whole registry answers %v with %v, %v; want a calibrated entry", key, before.Method, err)
	}
	if after, err := some.Lookup(key); err != nil || after.Entry.method != plan.Assumed {
		t.Errorf("the part answers with %v, %v; want the assumed entry", after.Method, err)
	}
	if some.Hashes().Combined == all.Hashes().Combined {
		t.Error("a part has the hash of the whole")
	}
}
