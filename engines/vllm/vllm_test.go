package vllm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// world answers from the embedded catalog and sizes memory by simple fixed terms.
type world struct{ catalog *catalog.Catalog }

func newWorld(t testing.TB) world {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return world{c}
}

func (w world) Model(name string) (*catalog.Model, error)                       { return w.catalog.Model(name) }
func (w world) Chip(name string) (*catalog.Chip, error)                         { return w.catalog.Chip(name) }
func (w world) Pricer(*plan.PoolPlan) (engines.Pricer, error)                   { return flat{}, nil }
func (w world) Transfer(*plan.PoolPlan, plan.Move) (d plan.Demand, err error)   { return d, nil }
func (w world) Acceptance(_, _ string, _ int) (a engines.Acceptance, err error) { return a, nil }

type flat struct{}

func (flat) Price(*plan.StepShape) plan.StepEstimate { return plan.StepEstimate{Total: 0.01} }

func (w world) Memory(p *plan.PoolPlan) (plan.MemoryBreakdown, error) {
	chip, err := w.catalog.Chip(p.Hardware)
	if err != nil {
		return plan.MemoryBreakdown{}, err
	}
	var b plan.MemoryBreakdown
	for i := range max(1, p.Layout.Pipeline) {
		s := plan.StageMemory{Device: chip.MemoryBytes(), Activations: 2 << 30, Graphs: 1 << 30, Context: 1 << 30}
		for _, t := range p.Weights {
			if t.Stage == i {
				s.Weights += t.Bytes
			}
		}
		b.Stages = append(b.Stages, s)
	}
	return b, nil
}

func newKind(t testing.TB) *Kind {
	t.Helper()
	k, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// launch is one distinct recorded launch.
type launch struct {
	Model, Checkpoint, Chip string
	Args                    map[string]any
	Env                     map[string]string
}

// stated applies the list's estimation rules, as a measured run's scenario does.
func (l launch) stated(k *Kind) engines.Spec {
	s := engines.Spec{Model: l.Model, Checkpoint: l.Checkpoint, Hardware: l.Chip, Args: map[string]any{}, Env: map[string]string{}}
	put := func(name string, v any, variable bool) {
		for {
			f := k.find(name, variable)
			if f == nil || f.Status == fields.Modelled || f.Status == fields.Inert || f.Rule == nil {
				break
			}
			switch f.Rule.Do {
			case "rename":
				name, variable = f.Rule.Field, false
			case "set":
				name, variable, v = f.Rule.Field, false, f.Rule.Value
			default:
				return
			}
		}
		if variable {
			s.Env[name] = fmt.Sprint(v)
		} else {
			s.Args[name] = v
		}
	}
	for _, x := range leaves("", l.Args) {
		put(x.path, x.value, false)
	}
	for _, name := range sortedKeys(l.Env) {
		put(name, l.Env[name], true)
	}
	return s
}

func launches(t testing.TB) []launch {
	t.Helper()
	f, err := os.Open("testdata/launches.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []launch
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		var l launch
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func TestEveryRecordedLaunchResolves(t *testing.T) {
	keep.Rule(t, "X1")
	k, w := newKind(t), newWorld(t)
	for i, l := range launches(t) {
		settings, p, err := k.Explain(l.stated(k), w)
		if err != nil {
			t.Errorf("launch %d (%s on %s): %v", i+1, l.Checkpoint, l.Chip, err)
			continue
		}
		if len(settings) == 0 || len(p.Layers) == 0 || p.KVBudget[0] <= 0 {
			t.Errorf("launch %d: empty plan", i+1)
		}
		var weights quantity.Bytes
		for _, r := range p.Weights {
			weights += r.Bytes
		}
		if chip, _ := w.Chip(l.Chip); weights > chip.MemoryBytes() {
			t.Errorf("launch %d: weights %v on a chip of %v", i+1, weights, chip.MemoryBytes())
		}
		for _, x := range p.Layers {
			if strings.TrimSpace(x.Kernel.Variant) == "" {
				t.Errorf("launch %d: %s has no kernel", i+1, x.Name)
			}
		}
	}
}
