package cost_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// edited is the fixture's model after edit changed one line of its registry.
func edited(t *testing.T, edit func(line string) string) *cost.Model {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, f := range entries("h200_sxm", "h100_sxm", "gb200_nvl72") {
		lines := strings.Split(string(f.Data), "\n")
		for i := range lines {
			lines[i] = edit(lines[i])
		}
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
	}
	r, err := registry.Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return cost.New(c, r)
}

// answers is what the model says of the perturbation fixture, as one text: its own
// plan, the same without its host's overlap, and its front end.
func answers(t *testing.T, m *cost.Model) string {
	t.Helper()
	w := baseWorld()
	alone := observe(t, m, &w)
	w.Plan.Host.Overlapped = true
	w.Plan.Layers = append(w.Plan.Layers, every()...)
	front, err := m.FrontEnd(&w.Plan)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(front)
	if err != nil {
		t.Fatal(err)
	}
	return alone + observe(t, m, &w) + string(b)
}

// every is a layer of each primitive the fixture's plan lacks.
func every() []plan.LoweredLayer {
	state := plan.Shape{Heads: 32, HeadDim: 128, ValueDim: 128}
	group := &plan.Collective{Ranks: 2, BytesPerRow: 128}
	return []plan.LoweredLayer{
		{Repeat: 1, Primitive: plan.RecurrentExtend, Shape: state}, {Repeat: 1, Primitive: plan.RecurrentDecode, Shape: state},
		{Repeat: 1, Primitive: plan.SparseIndex, Shape: plan.Shape{Heads: 32, KVHeads: 1, HeadDim: 128}},
		{Repeat: 1, Primitive: plan.SendRecv, Collective: group}, {Repeat: 1, Primitive: plan.AllGather, Collective: group}, {Repeat: 1, Primitive: plan.ReduceScatter, Collective: group},
		{Repeat: 1, Primitive: plan.Quantize, Shape: plan.Shape{BytesPerRow: 4096}},
		{Repeat: 1, Primitive: plan.Sampling, Shape: plan.Shape{BytesPerRow: 4096, Rows: plan.RowsSampled}},
	}
}

var stated = regexp.MustCompile(`value: [-+.0-9e]+`)

// TestEveryFamilyMovesSomePrice keeps SUB-11: a family nothing reads would be fitted,
// published and believed without ever having a say.
func TestEveryFamilyMovesSomePrice(t *testing.T) {
	keep.Rule(t, "SUB-11")
	before := answers(t, edited(t, func(line string) string { return line }))
	families := append(plan.Primitives(), registry.Scalars()...)
	for _, p := range families {
		if _, ok := scalars[p]; !ok && strings.HasPrefix(string(p), "kernel.") {
			continue // moved by TestCorrectionFollowsTheBound
		}
		m := edited(t, func(line string) string {
			if !strings.Contains(line, "primitive: "+string(p)+",") || strings.Contains(line, "kernel:") {
				return line
			}
			return stated.ReplaceAllString(strings.Replace(line, "launch_us: 2,", "launch_us: 3,", 1), "value: 0.7")
		})
		if answers(t, m) == before {
			t.Errorf("%s: no price reads it", p)
		}
	}
	if len(families) < 25 {
		t.Errorf("looked at %d families", len(families))
	}
}

// TestTheUnpricedListOnlyShrinks keeps SUB-11's ratchet: lower the number with the list.
func TestTheUnpricedListOnlyShrinks(t *testing.T) {
	keep.Rule(t, "SUB-11")
	const most = 29
	if got := len(unpriced); got != most {
		t.Errorf("%d fields are listed as unpriced, want %d", got, most)
	}
}

// TestADraftLayerMayStandLast keeps SUB-10 for the drafters' layers, which models list
// after their own.
func TestADraftLayerMayStandLast(t *testing.T) {
	keep.Rule(t, "SUB-10")
	attn := plan.Shape{Heads: 32, KVHeads: 8, HeadDim: 128}
	p := &plan.PoolPlan{Hardware: "h200_sxm", Profile: extendStep(128, 0), Drafts: plan.DraftPolicy{Tokens: 2, TopK: 1},
		Layers:      []plan.LoweredLayer{{Repeat: 1, Primitive: plan.AttentionDecode, Shape: attn}},
		DraftLayers: []plan.LoweredLayer{{Repeat: 1, Layer: 1, Primitive: plan.AttentionDecode, Shape: attn}}}
	step := decodeStep(3, 100)
	pr := compile(t, model(t, "h200_sxm"), p)
	alone := pr.Price(&step).Device
	step.Drafts = plan.DraftShape{Proposed: 6, Verified: 6}
	if got := pr.Price(&step).Device; !(got > alone) {
		t.Errorf("with two drafted tokens: got %v, want more than %v", got, alone)
	}
}

// TestAMoveLoadsThePathBetweenItsEnds keeps SUB-17 over random placements: each link
// lies on the path, takes all the bytes, and no link of another node is touched.
func TestAMoveLoadsThePathBetweenItsEnds(t *testing.T) {
	keep.Rule(t, "SUB-17")
	g := rand.New(rand.NewPCG(1, 2))
	p := poolPlan()
	p.Hardware, p.Layout.RanksPerNode = "gb200_nvl72", 4
	m := model(t, "gb200_nvl72")
	for range 500 {
		mv := plan.Move{Tokens: 1 + g.IntN(5000), FromNode: g.IntN(40), ToNode: g.IntN(40)}
		mv.FromRack, mv.ToRack = mv.FromNode/18, mv.ToNode/18
		d, err := m.Transfer(p, mv)
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{true: 1, false: 2}[mv.FromRack == mv.ToRack]
		if len(d.Links) != want {
			t.Errorf("%+v: crosses %d links, want %d", mv, len(d.Links), want)
		}
		back, err := m.Transfer(p, plan.Move{Tokens: mv.Tokens, FromNode: mv.ToNode, ToNode: mv.FromNode, FromRack: mv.ToRack, ToRack: mv.FromRack})
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range d.Links {
			if l.Bytes != d.Links[0].Bytes || l.Bytes != back.Links[i].Bytes || l.Bytes <= 0 {
				t.Errorf("%+v: %s takes %v bytes of %v", mv, l.Link, l.Bytes, d.Links[0].Bytes)
			}
		}
		more, err := m.Transfer(p, plan.Move{Tokens: 2 * mv.Tokens, FromNode: mv.FromNode, ToNode: mv.ToNode, FromRack: mv.FromRack, ToRack: mv.ToRack})
		if err != nil || more.Links[0].Bytes < d.Links[0].Bytes {
			t.Errorf("%+v: twice the tokens move %v bytes, fewer than %v (%v)", mv, more.Links[0].Bytes, d.Links[0].Bytes, err)
		}
	}
}

// TestAPriceNamesItsLeastTrustedMethod keeps VAL-3 for whole prices: each family alone
// decides when its method is the least trusted one.
func TestAPriceNamesItsLeastTrustedMethod(t *testing.T) {
	keep.Rule(t, "VAL-3")
	step := decodeStep(64, 8192)
	for worst, want := range map[string]plan.Method{"": plan.Roofline, "gemm": plan.Assumed, "attention.decode": plan.Assumed, "host.step": plan.Assumed, "link.host": plan.Roofline} {
		m := edited(t, func(line string) string {
			if worst != "" && strings.Contains(line, "primitive: "+worst+",") {
				return line
			}
			return strings.Replace(line, "method: assumed", "method: roofline", 1)
		})
		if got := compile(t, m, poolPlan()).Price(&step).Method; got != want {
			t.Errorf("%s assumed, all else roofline: got %s, want %s", worst, got, want)
		}
	}
}
