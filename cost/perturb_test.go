package cost_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// unpriced lists every field of a plan, a step and a move that moves no price,
// with the reason. It may only shrink (SUB-11).
var unpriced = map[string]string{
	"plan.Layout.Expert":                 "lowered into ExpertTensor and ExpertRanks of the layers",
	"plan.Layers.Layer":                  "for people: position in the model graph",
	"plan.Layers.Name":                   "for people (SUB-20)",
	"plan.Layers.Kernel.CodeHash":        "no registry entry states one yet",
	"plan.Layers.Shape.StateBytes":       "the recurrent form counts the state from its heads",
	"plan.DraftLayers.Layer":             "as plan.Layers.Layer",
	"plan.DraftLayers.Name":              "as plan.Layers.Name",
	"plan.DraftLayers.Kernel.CodeHash":   "as plan.Layers.Kernel.CodeHash",
	"plan.DraftLayers.Shape.StateBytes":  "as plan.Layers.Shape.StateBytes",
	"plan.DraftLayers.Shape.LivePerRow":  "drafting's activations are below the target's",
	"plan.DraftLayers.Captured":          "a drafter's launches are not counted",
	"plan.KV.Kind":                       "what a group attends arrives in the step",
	"plan.KV.Layers":                     "lowered into the layers",
	"plan.KVBudget":                      "the engine's admission limit",
	"plan.Tiers":                         "the engine's admission limit; a move names its tier",
	"plan.Graphs.ByBatch":                "a step states its own padding and launch",
	"plan.Drafts.TopK":                   "only chains are drafted",
	"plan.Weights.Name":                  "for people (SUB-20)",
	"plan.Weights.DType":                 "Bytes holds the result",
	"plan.Buffers.Name":                  "for people (SUB-20)",
	"plan.Profile.Mode":                  "activations follow the tokens",
	"plan.Profile.Stage":                 "activations are those of every stage",
	"plan.Profile.Padded.Seqs":           "activations follow the tokens",
	"plan.Profile.Padded.Launch":         "activations follow the tokens",
	"plan.Profile.Ranks.Decode.Query":    "the fixture's profiling step decodes nothing",
	"plan.Profile.Ranks.Decode.Attended": "activations follow the tokens",
	"plan.Profile.Drafts":                "drafting's activations are below the target's",
	"plan.Profile.Ranks.Extend.Context":  "profiling steps have no cache",
	"plan.InFlight":                      "Host.Overlapped says what it prices",
}

// world is everything the model is asked, so that a difference anywhere shows.
type world struct {
	Plan  plan.PoolPlan
	Steps []plan.StepShape
	Moves []plan.Move
}

func baseWorld() world {
	p := poolPlan()
	p.Layout = plan.Layout{Tensor: tp, Pipeline: 2, Data: 1, Expert: 1, Context: 1, RanksPerNode: 64}
	p.Hardware, p.Fabric = "gb200_nvl72", "connectx7-400g"
	p.Profile = extendStep(64, 0)
	p.Profile.Ranks[0].Sampled = 64
	p.Drafts = plan.DraftPolicy{Tokens: 3, TopK: 1}
	mixer := func(p plan.Primitive, s plan.Shape) plan.LoweredLayer {
		return plan.LoweredLayer{Repeat: 2, Primitive: p, Shape: s}
	}
	mla := plan.Shape{Heads: 16, HeadDim: 192, RopeDim: 64, ValueDim: 128, LatentRank: 512, Hidden: 1024, K: 256, TopTokens: 64}
	p.Layers = append(p.Layers, mixer(plan.MLAExtend, mla), mixer(plan.MLADecode, mla),
		mixer(plan.AttentionExtend, plan.Shape{Heads: 8, KVHeads: 8, HeadDim: 128, Chunk: 200}),
		plan.LoweredLayer{Repeat: 1, Stage: 1, Captured: true, Primitive: plan.GEMM, Shape: plan.Shape{N: 4096, K: 4096}},
		plan.LoweredLayer{Repeat: 1, Primitive: plan.AllToAll, Collective: &plan.Collective{Ranks: 16, CrossNode: true, BytesPerRow: 128}})
	p.Layers[0].Shape.Launches = 2
	p.DraftLayers = append([]plan.LoweredLayer{}, p.Layers...)
	p.Weights = append(p.Weights, plan.ResidentTensor{Stage: 1, Bytes: 5})
	p.Host.StreamInterval = 2
	p.Host.Overlapped = false
	mixed := extendStep(512, 1024)
	mixed.Mode = plan.Mixed
	mixed.Ranks[0].Decode = decodeStep(32, 4000).Ranks[0].Decode
	mixed.Ranks[0].Decode.Query = 4
	mixed.Padded[0] = plan.PaddedShape{Tokens: 1024, Seqs: 64, Launch: plan.PiecewiseGraph}
	mixed.Drafts = plan.DraftShape{Proposed: 96, Verified: 96}
	eager := extendStep(8, 0)
	eager.Stage = 1
	replayed := extendStep(8, 0)
	replayed.Stage, replayed.Padded[0].Launch = 1, plan.PiecewiseGraph
	return world{*p, []plan.StepShape{mixed, eager, replayed}, []plan.Move{
		{Tokens: 1024, FromNode: 0, ToNode: 1, FromRack: 0, ToRack: 1},
		{Tokens: 1024, FromNode: 0, ToNode: 1},
		{Tokens: 48, FromNode: 2, ToNode: 3, Device: cost.HostMemory},
	}}
}

// observe is every answer of the model about w; a refusal is an answer.
func observe(t *testing.T, m *cost.Model, w *world) string {
	pr, err := m.Compile(&w.Plan)
	if err != nil {
		return err.Error()
	}
	var all []any
	for i := range w.Steps {
		if w.Steps[i].Stage < max(1, w.Plan.Layout.Pipeline) {
			all = append(all, pr.Price(&w.Steps[i]))
		}
	}
	mem, err := m.Memory(&w.Plan)
	all = append(all, mem, err)
	for _, mv := range w.Moves {
		d, err := m.Transfer(&w.Plan, mv)
		all = append(all, d, err)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEveryFieldIsPricedOrListed changes each field alone and looks for a
// different answer.
func TestEveryFieldIsPricedOrListed(t *testing.T) {
	keep.Rule(t, "SUB-6", "SUB-11", "SUB-12", "SUB-20", "X2")
	w := baseWorld()
	m := model(t, "h200_sxm", "h100_sxm", "gb200_nvl72")
	before := observe(t, m, &w)
	moved := map[string]bool{}
	for _, leaf := range leaves(t, reflect.ValueOf(baseWorld()), "") {
		w := baseWorld()
		leaf.change(reflect.ValueOf(&w).Elem())
		moved[leaf.name] = moved[leaf.name] || observe(t, m, &w) != before
	}
	listed := func(name string) bool {
		for p := range unpriced {
			if name == p || strings.HasPrefix(name, p+".") {
				return true
			}
		}
		return false
	}
	for name, m := range moved {
		if m == listed(name) {
			t.Errorf("%s: moves an answer: %v; listed as unpriced: %v", name, m, listed(name))
		}
	}
	if len(moved) < 80 {
		t.Errorf("looked at %d fields, want all of them", len(moved))
	}
}

type leaf struct {
	name   string
	change func(root reflect.Value)
}

// leaves lists every scalar field below v by its path; elements of a slice share
// one name and are changed one at a time.
func leaves(t *testing.T, v reflect.Value, name string) []leaf {
	var out []leaf
	descend := func(sub string, step func(reflect.Value) reflect.Value, child reflect.Value) {
		for _, l := range leaves(t, child, sub) {
			out = append(out, leaf{l.name, func(r reflect.Value) { l.change(step(r)) }})
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i).Name
			sub := name + "." + f
			if name == "" {
				sub = map[string]string{"Plan": "plan", "Steps": "step", "Moves": "move"}[f]
			}
			descend(sub, func(r reflect.Value) reflect.Value { return r.Field(i) }, v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.Int {
			out = append(out, leaf{name, func(r reflect.Value) { r.Set(reflect.Append(r, reflect.Zero(r.Type().Elem()))) }})
		}
		for i := range v.Len() {
			descend(name, func(r reflect.Value) reflect.Value { return r.Index(i) }, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			descend(name, func(r reflect.Value) reflect.Value {
				fresh := reflect.New(r.Type().Elem()) // the pointee is shared between worlds
				fresh.Elem().Set(r.Elem())
				r.Set(fresh)
				return fresh.Elem()
			}, v.Elem())
		}
	default:
		return []leaf{{name, func(r reflect.Value) { bump(t, name, r) }}}
	}
	return out
}

// bump changes a scalar to a neighbouring accepted value.
func bump(t *testing.T, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
		switch { // a count that matters as a limit or by being there
		case strings.HasSuffix(name, "Proposed"):
			v.SetInt(0)
		case strings.HasSuffix(name, "RanksPerNode"):
			v.SetInt(1)
		}
	case reflect.Uint8:
		v.SetUint((v.Uint() + 1) % 3)
		if strings.HasSuffix(name, "Mode") {
			v.SetUint(uint64(plan.Prebuilt))
		}
	case reflect.Float64:
		v.SetFloat(v.Float()*2 + 1)
	case reflect.String:
		s := map[string]string{"plan.Hardware": "h100_sxm", "plan.Fabric": "connectx8-2x400g", "move.Device": "tape"}[name]
		switch {
		case strings.HasSuffix(name, "Rows"):
			s = string(plan.RowsSampled)
		case strings.HasSuffix(name, "Act"), strings.HasSuffix(name, "Weight"), strings.HasSuffix(name, "KVType"):
			s = "fp8"
		case strings.HasSuffix(name, "Library"):
			s = "factored"
		case strings.HasSuffix(name, "Variant"):
			s = v.String() + "x"
		}
		v.SetString(s)
	default:
		t.Fatalf("%s: no change for kind %s", name, v.Kind())
	}
}

// TestMoveNamesItsLinks: where two GPUs share a scale-up domain, a move between
// racks leaves it.
func TestMoveNamesItsLinks(t *testing.T) {
	keep.Rule(t, "SUB-17")
	p := poolPlan()
	p.Hardware, p.Layout.RanksPerNode = "gb200_nvl72", 4
	m := model(t, "gb200_nvl72")
	for _, c := range []struct {
		move plan.Move
		want string
	}{
		{plan.Move{Tokens: 16, FromNode: 1, ToNode: 1}, "scale_up/node1"},
		{plan.Move{Tokens: 16, FromNode: 1, ToNode: 2, FromRack: 3, ToRack: 3}, "scale_up/rack3"},
		{plan.Move{Tokens: 16, FromNode: 1, ToNode: 2, FromRack: 3, ToRack: 4}, "nic/node1/out nic/node2/in"},
		{plan.Move{Tokens: 16, FromNode: 1, ToNode: 2, Device: cost.HostMemory}, "host_bus/node1/out"},
		{plan.Move{Tokens: 16, FromNode: 1, ToNode: 2, Device: cost.HostMemory, ToGPU: true}, "host_bus/node2/in"},
	} {
		d, err := m.Transfer(p, c.move)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range d.Links {
			got = append(got, l.Link)
			if l.Bytes <= 0 || l.Rate <= 0 {
				t.Errorf("%+v: got %+v, want bytes and a rate", c.move, l)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v: got %s, want %s", c.move, s, c.want)
		}
	}
	if _, err := m.Transfer(p, plan.Move{Tokens: 1, Device: "tape"}); err == nil {
		t.Error("a tier without a rate: accepted, want a refusal")
	}
}
