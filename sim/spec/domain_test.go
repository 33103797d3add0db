package spec_test

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

var update = flag.Bool("update", false, "write domain.json")

// TestDomainIsTheLedgers derives the domain from identities of anchor units; no
// measured value is read.
func TestDomainIsTheLedgers(t *testing.T) {
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[[3]string]*spec.DomainCell{}
	for u := range l.ByRole(ledger.Anchor) {
		cfg, _ := u.RecordedConfiguration()
		if cfg == nil || cfg.Checkpoint == nil || u.Serving.ISL == nil || u.Serving.OSL == nil || u.Serving.Disagg {
			continue
		}
		model, ok := c.Resolve(u.Source, *cfg.Checkpoint)
		chip, ok2 := c.Resolve(u.Source, u.Hardware)
		if !ok || !ok2 || model.Kind != "model" {
			continue
		}
		key := [3]string{u.Framework, model.Name, chip.Name}
		cell := cells[key]
		if cell == nil {
			cell = &spec.DomainCell{Engine: key[0], Model: key[1], Hardware: key[2], Concurrency: [2]int{u.Concurrency, u.Concurrency}}
			cells[key] = cell
		}
		cell.Runs++
		if pair := [2]int{*u.Serving.ISL, *u.Serving.OSL}; !slices.Contains(cell.Lengths, pair) {
			cell.Lengths = append(cell.Lengths, pair)
		}
		cell.Concurrency = [2]int{min(cell.Concurrency[0], u.Concurrency), max(cell.Concurrency[1], u.Concurrency)}
	}
	var list []spec.DomainCell
	for _, cell := range cells {
		slices.SortFunc(cell.Lengths, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
		list = append(list, *cell)
	}
	slices.SortFunc(list, func(a, b spec.DomainCell) int {
		return cmp.Or(strings.Compare(a.Engine, b.Engine), strings.Compare(a.Model, b.Model), strings.Compare(a.Hardware, b.Hardware))
	})
	want, err := canon.Indent(list)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("domain.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("domain.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("domain.json is not what the ledger gives (%v); run with -update", err)
	}
}

func TestJudge(t *testing.T) {
	cells, err := spec.Domain()
	if err != nil || len(cells) == 0 {
		t.Fatal(len(cells), err)
	}
	c := cells[0]
	inside := func() *spec.Scenario {
		return &spec.Scenario{Engine: spec.Engine{Kind: c.Engine}, Model: c.Model, Hardware: c.Hardware, Cluster: spec.Cluster{Instances: 1},
			Workload: spec.Workload{InferenceX: &spec.InferenceX{ISL: c.Lengths[0][0], OSL: c.Lengths[0][1], Concurrency: c.Concurrency[1]}}}
	}
	cases := []struct {
		change func(*spec.Scenario)
		want   string
	}{
		{func(*spec.Scenario) {}, "inside"},
		{func(s *spec.Scenario) { s.Model = "none" }, "outside"},
		{func(s *spec.Scenario) { s.Cluster.Instances = 2 }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX.ISL++ }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX.Concurrency++ }, "outside"},
		{func(s *spec.Scenario) { s.Workload.InferenceX = nil }, "outside"},
	}
	for i, k := range cases {
		s := inside()
		k.change(s)
		if got, err := spec.Judge(s); err != nil || got.Inside != k.want || got.Statement == "" {
			t.Errorf("case %d: got %+v, %v, want %s", i, got, err, k.want)
		}
	}
}
