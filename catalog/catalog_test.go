package catalog

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

func embeddedCatalog(t testing.TB) *Catalog {
	t.Helper()
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// SUB-9: the embedded copy and the directory it was embedded from are one catalog.
func TestEmbeddedEqualsItsDirectory(t *testing.T) {
	keep.Rule(t, "SUB-8", "SUB-9", "X15")
	disk, err := Open(os.DirFS("data"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := embeddedCatalog(t).Hashes(), disk.Hashes(); got.Base != want.Base || got.Combined != want.Combined {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEmbedPatternsEqualLoaders(t *testing.T) {
	keep.Rule(t, "SUB-9")
	src, err := os.ReadFile("embed.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(src), "//go:embed ")
	line, _, _ = strings.Cut(line, "\n")
	want := make([]string, len(Patterns))
	for i, p := range Patterns {
		want[i] = "data/" + p
	}
	if got := strings.Fields(line); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, p := range Patterns {
		if top, _, _ := strings.Cut(p, "/"); !slices.Contains(tops, top) {
			t.Errorf("%s: its directory is not one of %v", p, tops)
		}
	}
}

// §3.3: one line "<sha256> <path>" a file, sorted by path, hashed.
func TestContentHash(t *testing.T) {
	keep.Rule(t, "SUB-9")
	base, over := tiny(), fstest.MapFS{"sources/s.yaml": tiny()["sources/s.yaml"]}
	lines := ""
	for _, p := range []string{chip, graphFile, model, network, "sources/s.yaml"} {
		lines += fmt.Sprintf("%s %s\n", canon.Sum(base[p].Data), p)
	}
	c, err := Open(base, over)
	if err != nil {
		t.Fatal(err)
	}
	h := c.Hashes()
	if want := canon.Sum([]byte(lines)); h.Base != want {
		t.Errorf("base: got %s, want %s", h.Base, want)
	}
	overlay := canon.Sum([]byte(canon.Sum(over["sources/s.yaml"].Data) + " sources/s.yaml\n"))
	if want := canon.Sum([]byte(h.Base + " base\n" + overlay + " overlay\n")); h.Combined != want || !slices.Equal(h.Overlays, []string{overlay}) {
		t.Errorf("combined: got %+v, want %s over %s", h, want, overlay)
	}
	if alone, err := Open(base); err != nil || alone.Hashes().Combined != h.Base {
		t.Errorf("without overlays: got %+v, %v; want the base hash", alone.Hashes(), err)
	}
}

func TestOverlayReplacesWholeEntries(t *testing.T) {
	keep.Rule(t, "SIM-6")
	over := fstest.MapFS{
		chip:              {Data: []byte(strings.Replace(string(tiny()[chip].Data), "value: 80", "value: 96", 1))},
		"sources/t.yaml":  {Data: []byte("schema: blis.source/v1\nid: t\ntitle: T\ndocument: d\nlicence: MIT\n")},
		"models/m/x.yaml": {Data: []byte("x")},
	}
	if _, err := Open(tiny(), over); err == nil || !strings.Contains(err.Error(), "is not a data file") {
		t.Errorf("stray file in an overlay: got %v", err)
	}
	delete(over, "models/m/x.yaml")
	c, err := Open(tiny(), over)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := c.Chip("c"); err != nil || e.MemoryBytes() != 96<<30 {
		t.Errorf("chip: got %v, %v; want 96 GiB", e, err)
	}
	if got, want := c.Sources(), []string{"s", "t"}; !slices.Equal(got, want) {
		t.Errorf("sources: got %v, want %v", got, want)
	}
	// A model directory is one entry: an overlay with model.yaml alone drops the graph.
	if _, err := Open(tiny(), fstest.MapFS{model: tiny()[model]}); err == nil || !strings.Contains(err.Error(), "has no graph.yaml") {
		t.Errorf("half a model: got %v, want a refusal", err)
	}
}

func TestResolve(t *testing.T) {
	keep.Rule(t, "SUB-3")
	c := embeddedCatalog(t)
	for _, r := range []struct {
		source, name string
		want         Ref
	}{
		{"inferencex", "meta-llama/Llama-3.1-70B", Ref{Kind: "model", Name: "llama-3.1-70b"}},
		{"inferencex", "deepseek-ai/DeepSeek-V3", Ref{Kind: "model", Name: "deepseek-r1"}},
		{"elsewhere", "nvidia/MiniMax-M2.5-NVFP4", Ref{Kind: "model", Name: "minimax-m2.5", Checkpoint: "nvidia/MiniMax-M2.5-NVFP4"}},
		{"inferencex", "gb200", Ref{Kind: "chip", Name: "gb200_nvl72"}},
		{"elsewhere", "gb200", Ref{}},
		{"inferencex", "qwen", Ref{}},
	} {
		if got, ok := c.Resolve(r.source, r.name); got != r.want || ok != (r.want != Ref{}) {
			t.Errorf("%s %s: got %v, %v; want %v", r.source, r.name, got, ok, r.want)
		}
	}
	if _, err := c.Model("gpt-oss-20b"); err == nil || !strings.Contains(err.Error(), "models/gpt-oss-20b/model.yaml") {
		t.Errorf("missing model: got %v, want the path its entry belongs at", err)
	}
}

// TestParameterCounts compares with the counts the owners publish, in the digits
// they print.
func TestParameterCounts(t *testing.T) {
	keep.Rule(t, "SUB-15")
	c := embeddedCatalog(t)
	for _, p := range []struct {
		model         string
		total, active float64
		off           float64 // accepted ratio
	}{
		{"gpt-oss-120b", 116.83e9, 5.13e9, 0.001},
		{"llama-3.1-70b", 70.6e9, 0, 0.001},
		{"llama-3.1-8b", 8.03e9, 0, 0.001},
		{"deepseek-r1", 671e9, 37e9, 0.011},
		{"glm-5", 744e9, 40e9, 0.022},
		{"kimi-k2.5", 1.03e12, 32e9, 0.011},
		{"minimax-m2.5", 229e9, 10e9, 0.045},
		{"qwen3.5-397b-a17b", 397e9, 17e9, 0.045},
	} {
		m, err := c.Model(p.model)
		if err != nil {
			t.Fatal(err)
		}
		total, active := m.Graph.Params()
		if got := float64(total); math.Abs(got/p.total-1) > min(p.off, 0.005) {
			t.Errorf("%s: got %.5g parameters, want %.5g", p.model, got, p.total)
		}
		if got := float64(active); p.active > 0 && math.Abs(got/p.active-1) > p.off {
			t.Errorf("%s: got %.4g active, want %.4g within %g", p.model, got, p.active, p.off)
		}
	}
}

// The gpt-oss model card gives the checkpoint's size as 60.8 GiB.
func TestWeightBytesOfGptOss(t *testing.T) {
	keep.Rule(t, "FID-7", "SUB-15")
	m, err := embeddedCatalog(t).Model("gpt-oss-120b")
	if err != nil {
		t.Fatal(err)
	}
	var sum quantity.GroupBytes
	for _, b := range m.Graph.WeightBytes(m.Checkpoints[0].Storage, true) { // order: a sum of whole numbers
		sum += b
	}
	if got := float64(sum) / (1 << 30); math.Abs(got-60.8) > 0.05 {
		t.Errorf("got %.2f GiB, want 60.8", got)
	}
}

func TestLayersExpandInForwardOrder(t *testing.T) {
	m, err := embeddedCatalog(t).Model("qwen3.5-397b-a17b")
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for i, b := range m.Graph.LayerBlocks() {
		if isFull := b.Attention.Kind == Full; isFull != (i%4 == 3) {
			t.Errorf("layer %d: got %s, want full attention in every fourth layer alone", i, b.Attention.Kind)
		} else if isFull {
			full++
		}
	}
	if full != 15 || m.Graph.LayerCount() != 60 {
		t.Errorf("got %d full of %d layers, want 15 of 60", full, m.Graph.LayerCount())
	}
	for b, n := range m.Graph.BlockCounts() {
		if want := map[string]int{"full_moe": 15, "linear_moe": 45}[b.Name]; n != want {
			t.Errorf("%s: got %d layers, want %d", b.Name, n, want)
		}
	}
}

func TestStorageOfTheMTPHead(t *testing.T) {
	keep.Rule(t, "SUB-15")
	m, err := embeddedCatalog(t).Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	cp, ok := m.Checkpoint("nvidia/DeepSeek-V3.1-NVFP4")
	if !ok {
		t.Fatal("the checkpoint is missing")
	}
	if got := [...]quantity.Format{cp.Storage.Format(Expert, false), cp.Storage.Format(Expert, true), cp.Storage.KVCache}; got != [...]quantity.Format{quantity.NVFP4, quantity.BF16, quantity.FP8} {
		t.Errorf("expert, expert of the MTP head, cache: got %v, want nvfp4, bf16, fp8", got)
	}
}

func TestChipPeaks(t *testing.T) {
	keep.Rule(t, "SUB-5")
	c := embeddedCatalog(t)
	h200, err := c.Chip("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	if rate, ok := h200.Peak(quantity.FP8Block); !ok || rate != 1979e12 {
		t.Errorf("fp8: got %v, %v; want 1979 TFLOP/s", rate, ok)
	}
	if _, ok := h200.Peak(quantity.NVFP4); ok {
		t.Error("H200 has no FP4 rate; got one")
	}
	net, err := c.Network(h200.ScaleUp)
	if err != nil || net.Rate() != 450e9 || net.Domain() != 8 {
		t.Errorf("scale-up: got %v, %v; want 450 GB/s among 8", net, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	fsys := EmbeddedFS()
	for b.Loop() {
		if _, err := Open(fsys); err != nil {
			b.Fatal(err)
		}
	}
}
