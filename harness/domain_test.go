package harness_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

var update = flag.Bool("update", false, "write sim/spec/domain.json")

// TestDomainIsTheLedgers derives the validity domain from the scenarios of anchor units
// that an engine takes; no measured value is read.
func TestDomainIsTheLedgers(t *testing.T) {
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	var list []*spec.DomainCell
	add := func(s *spec.Scenario) (*spec.Result, error) {
		k, err := w.Kind(s.Engine.Kind)
		if err != nil {
			return nil, err
		}
		env := w.Environment()
		env.Serve(s.Workload.Acceptance)
		e, err := k.New(sim.EngineSpec(s), env)
		if err != nil {
			return nil, err
		}
		x, layout := s.Workload.InferenceX, sim.LayoutOf(e.Plan(), s.Cluster.Nodes)
		i := slices.IndexFunc(list, func(c *spec.DomainCell) bool {
			return c.Engine == s.Engine.Kind && c.Model == s.Model && c.Hardware == s.Hardware && c.Layout == layout
		})
		if i < 0 {
			i = len(list)
			list = append(list, &spec.DomainCell{Engine: s.Engine.Kind, Model: s.Model, Hardware: s.Hardware, Layout: layout, Concurrency: [2]int{x.Concurrency, x.Concurrency}})
		}
		c := list[i]
		c.Runs++
		if pair := [2]int{x.ISL, x.OSL}; !slices.Contains(c.Lengths, pair) {
			c.Lengths = append(c.Lengths, pair)
		}
		c.Concurrency = [2]int{min(c.Concurrency[0], x.Concurrency), max(c.Concurrency[1], x.Concurrency)}
		return nil, errors.New("only its scenario is wanted")
	}
	h := &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: add}
	for u := range l.ByRole(ledger.Anchor) {
		_, _ = h.Try(u)
	}
	for _, c := range list {
		slices.SortFunc(c.Lengths, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	}
	slices.SortFunc(list, func(a, b *spec.DomainCell) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Hardware, b.Hardware),
			cmp.Compare(a.Layout.Tensor, b.Layout.Tensor), cmp.Compare(a.Layout.String(), b.Layout.String()))
	})
	want, err := canon.Indent(list)
	if err != nil {
		t.Fatal(err)
	}
	const file = "../sim/spec/domain.json"
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("domain.json is not what the ledger gives (%v); run with -update", err)
	}
}
