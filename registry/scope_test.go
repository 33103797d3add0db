package registry_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// scoped is every scope that matches one look-up: kernel, format, window and version
// each stated or left open.
func scoped() (out []string) {
	for bits := range 16 {
		e := with(entry, "\n    windowed: true", "", "method: measured", "method: roofline\n    rule: r", "    source: {table: t, sha256: s, rows: 9}\n    interval: [0.98, 1.02]\n", "")
		for i, part := range []string{"    kernel: lib/mm\n", "    format: bf16\n", "    version: \"1.0\"\n"} {
			if bits>>i&1 == 0 {
				e = with(e, part, "")
			}
		}
		if bits>>3 == 1 {
			e = with(e, "    chip:", "    windowed: true\n    chip:")
		}
		out = append(out, e)
	}
	return out
}

// TestEveryPairOfScopesHasOneOrder keeps VAL-4: whatever two scopes match, one of them
// answers, in both load orders, and over three of them the order has no circle.
func TestEveryPairOfScopesHasOneOrder(t *testing.T) {
	keep.Rule(t, "VAL-4")
	all, k := scoped(), key
	k.Windowed = true
	won := make([]int, len(all))
	for i := range all {
		for j := range i {
			var got [2]string
			for n, order := range [][]string{{all[i], all[j]}, {all[j], all[i]}} {
				res, err := open(t, "h100_sxm/gemm.yaml", set(order...)).Lookup(k)
				if err != nil {
					t.Fatal(err)
				}
				got[n] = fmt.Sprint(res.Entry.Key)
				if len(res.Displaced) != 1 {
					t.Errorf("%s: displaced %d, want the other one", got[n], len(res.Displaced))
				}
			}
			if got[0] != got[1] {
				t.Errorf("load order decides between %s and %s", got[0], got[1])
			}
			if first, err := open(t, "h100_sxm/gemm.yaml", set(all[i])).Lookup(k); err == nil && fmt.Sprint(first.Entry.Key) == got[0] {
				won[i]++
			} else {
				won[j]++
			}
		}
	}
	seen := map[int]bool{}
	for i, n := range won {
		if seen[n] { // in a total order each scope beats another number of the rest
			t.Errorf("two scopes beat %d others: %s", n, all[i])
		}
		seen[n] = true
	}
	_, err := registry.Open(files("h100_sxm/gemm.yaml", set(all[0], all[0])))
	if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Rule != "VAL-4" {
		t.Errorf("an ambiguous pair: got %v, want a refusal under VAL-4", err)
	}
}

// TestALookupReadsItsOwnBoundaryAlone keeps VAL-9: device time never answers for a
// launch from the host, nor the other way round.
func TestALookupReadsItsOwnBoundaryAlone(t *testing.T) {
	keep.Rule(t, "VAL-9")
	host := with(entry, "boundary: device", "boundary: host")
	for _, c := range []struct {
		entry string
		asks  registry.Boundary
		found bool
	}{{entry, registry.Device, true}, {host, registry.Host, true}, {host, registry.Device, false}, {entry, registry.Host, false}} {
		k := key
		k.Boundary = c.asks
		_, err := open(t, "h100_sxm/gemm.yaml", set(c.entry)).Lookup(k)
		if r, ok := errors.AsType[*diag.Refusal](err); (err == nil) != c.found || !c.found && (!ok || r.Rule != "VAL-2") {
			t.Errorf("asked for %s: got %v, want found %v", c.asks, err, c.found)
		}
	}
	_, err := registry.Open(files("h100_sxm/gemm.yaml", set(with(entry, "boundary: device", "boundary: both"))))
	if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Rule != "VAL-9" {
		t.Errorf("a boundary of its own: got %v, want a refusal under VAL-9", err)
	}
}
