package lower

import (
	"math"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/config"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func lowered(t testing.TB, model, checkpoint, chip string, args map[string]any) (*Lowered, *config.Config, error) {
	t.Helper()
	cat, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cat.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cat.Chip(chip)
	if err != nil {
		t.Fatal(err)
	}
	ck := &m.Checkpoints[0]
	if checkpoint != "" {
		ck, _ = m.Checkpoint(checkpoint)
	}
	conf, err := config.Resolve(config.Input{Args: args, Graph: m.Graph, Checkpoint: ck, Chip: c})
	if err != nil {
		t.Fatal(err)
	}
	low, err := Lower(conf, 1)
	return low, conf, err
}

// On one rank nothing is split: the resident weights are the checkpoint's own bytes,
// and the latent models' absorbed copies.
func TestWeightsOfOneRankAreTheCheckpoints(t *testing.T) {
	for _, name := range []string{"llama-3.1-8b", "llama-3.1-70b", "deepseek-r1", "glm-5", "qwen3.5-397b-a17b"} {
		low, c, err := lowered(t, name, "", "b300_sxm", map[string]any{"disable-radix-cache": true})
		if err != nil {
			t.Fatal(err)
		}
		var got, want float64
		for _, w := range low.Plan.Weights {
			if w.Name != "kv_b_absorbed" {
				got += float64(w.Bytes)
			}
		}
		for _, b := range c.Graph.WeightBytes(c.Storage, false) { // order: a sum of whole numbers
			want += float64(b)
		}
		if math.Abs(got/want-1) > 0.002 {
			t.Errorf("%s: got %.4g bytes, want %.4g", name, got, want)
		}
	}
}

// TestShares: tensor ranks divide heads and inner sizes, expert ranks divide experts.
func TestShares(t *testing.T) {
	low, _, err := lowered(t, "deepseek-r1", "", "b200_sxm", map[string]any{"tensor-parallel-size": 8, "expert-parallel-size": 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range low.Plan.Layers {
		switch l.Name {
		case "experts":
			if got := [3]int{l.Shape.ExpertTensor, l.Shape.ExpertRanks, l.Repeat}; got != [3]int{2, 4, 58} {
				t.Errorf("experts: got %v, want 2 tensor shards of 4 groups in 58 layers", got)
			}
		case "mla":
			if l.Shape.Heads != 16 {
				t.Errorf("heads: got %d, want 16 of 128", l.Shape.Heads)
			}
		case "q_b_proj":
			if l.Shape.N != 16*192 || l.Shape.K != 1536 {
				t.Errorf("q_b_proj: got %dx%d, want 3072x1536", l.Shape.N, l.Shape.K)
			}
		case "attention_output":
			if l.Collective == nil || l.Collective.Ranks != 8 {
				t.Errorf("attention output: got %+v, want an all-reduce of 8", l.Collective)
			}
		}
	}
}

func TestFusedReduce(t *testing.T) {
	count := func(args map[string]any) (norms, reduces int) {
		low, _, err := lowered(t, "llama-3.1-8b", "", "h100_sxm", args)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range low.Plan.Layers {
			if strings.HasSuffix(l.Name, "_output.norm") {
				norms++
			}
			if l.Primitive == plan.AllReduce && l.Layer >= 0 {
				reduces++
			}
		}
		return norms, reduces
	}
	for _, c := range []struct {
		args           map[string]any
		norms, reduces int
	}{
		{map[string]any{"tensor-parallel-size": 2}, 2, 2},
		{map[string]any{"tensor-parallel-size": 2, "enable-flashinfer-allreduce-fusion": true}, 0, 2},
		{map[string]any{"enable-flashinfer-allreduce-fusion": true}, 2, 0}, // one rank reduces nothing
	} {
		if n, r := count(c.args); n != c.norms || r != c.reduces {
			t.Errorf("%v: got %d norms and %d reductions, want %d and %d", c.args, n, r, c.norms, c.reduces)
		}
	}
}

// The cache of one token: 576 elements a layer of latent attention; 2 KV heads of 256
// on each of 8 ranks in one layer of four, and states in the others.
func TestCacheBytes(t *testing.T) {
	low, _, err := lowered(t, "deepseek-r1", "", "b200_sxm", map[string]any{"tensor-parallel-size": 8, "kv-cache-dtype": "fp8_e4m3"})
	if err != nil || low.TokenBytes != 61*576 {
		t.Errorf("DeepSeek: got %v bytes, %v; want %d", float64(low.TokenBytes), err, 61*576)
	}
	low, _, err = lowered(t, "glm-5", "", "b200_sxm", map[string]any{"tensor-parallel-size": 8, "kv-cache-dtype": "fp8_e4m3"})
	if err != nil || low.TokenBytes != 78*(576+128+4) || low.Attends[0] != 2048 || low.Attends[1] != 0 {
		t.Errorf("GLM-5: got %v bytes attending %v, %v; want %d attending 2048 and all keys", float64(low.TokenBytes), low.Attends, err, 78*(576+132))
	}
	low, _, err = lowered(t, "qwen3.5-397b-a17b", "", "b200_sxm", map[string]any{"tensor-parallel-size": 8, "disable-radix-cache": true, "mamba-ssm-dtype": "bfloat16"})
	const state = 45 * (8*128*128*2 + (2*2*128+8*128)*3*2)
	if err != nil || low.TokenBytes != 15*1*(256+256)*2 || low.StateBytes != state {
		t.Errorf("Qwen3.5: got %v and a state of %v, %v; want %d and %d", float64(low.TokenBytes), float64(low.StateBytes), err, 15*512*2, state)
	}
}

// DeepSeek's shared expert joins the routed ones where upstream fuses it.
func TestSharedExpertFusion(t *testing.T) {
	for _, c := range []struct {
		chip    string
		args    map[string]any
		experts int
	}{
		{"h200_sxm", map[string]any{"tensor-parallel-size": 8}, 257},
		{"h200_sxm", map[string]any{"tensor-parallel-size": 8, "expert-parallel-size": 8}, 256},
		{"b200_sxm", map[string]any{"tensor-parallel-size": 8}, 256}, // flashinfer_trtllm
	} {
		low, _, err := lowered(t, "deepseek-r1", "", c.chip, c.args)
		if err != nil {
			t.Fatal(err)
		}
		apart := false
		for _, l := range low.Plan.Layers {
			if l.Name == "experts" && l.Shape.Experts != c.experts {
				t.Errorf("%s %v: got %d experts, want %d", c.chip, c.args, l.Shape.Experts, c.experts)
			}
			apart = apart || strings.HasPrefix(l.Name, "shared_expert")
		}
		if apart != (c.experts == 256) {
			t.Errorf("%s %v: a shared expert of its own: got %v", c.chip, c.args, apart)
		}
	}
}

// A backend that no table times on a chip is priced as its nearest there, and says so.
func TestUntimedBackendNamesItsStandIn(t *testing.T) {
	low, _, err := lowered(t, "deepseek-r1", "", "h200_sxm", map[string]any{"attention-backend": "flashinfer"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range low.Plan.Layers {
		if l.Name == "mla" && l.Kernel.Variant != "flash_attention" {
			t.Errorf("got %s, want the chip's latent kernel", l.Kernel.Variant)
		}
	}
	if len(low.Choices) == 0 || low.Choices[0].Name != "attention kernel" {
		t.Errorf("got choices %v, want the stand-in", low.Choices)
	}
}

func TestUnportedAllocatorsAreRefused(t *testing.T) {
	keep.Rule(t, "SGL-6")
	for _, c := range []struct{ model, want string }{
		{"gpt-oss-120b", "SWATokenToKVPoolAllocator"}, {"qwen3.5-397b-a17b", "MambaRadixCache"},
	} {
		if _, _, err := lowered(t, c.model, "", "b200_sxm", nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a refusal that names %s", c.model, err, c.want)
		}
	}
}

func TestPadding(t *testing.T) {
	p := &Padding{decode: []int{1, 2, 4}, extend: []int{4, 8}}
	for _, c := range []struct{ got, want plan.PaddedShape }{
		{p.Decode(3), plan.PaddedShape{Tokens: 4, Seqs: 4, Launch: plan.FullGraph}},
		{p.Decode(4), plan.PaddedShape{Tokens: 4, Seqs: 4, Launch: plan.FullGraph}},
		{p.Decode(5), plan.PaddedShape{Tokens: 5, Seqs: 5, Launch: plan.Eager}},
		{p.Extend(7, 2), plan.PaddedShape{Tokens: 8, Seqs: 2, Launch: plan.PiecewiseGraph}},
		{p.Extend(9, 2), plan.PaddedShape{Tokens: 9, Seqs: 2, Launch: plan.Eager}},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}
