package config

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

func resolve(t testing.TB, model, checkpoint, chip string, args map[string]any) (*Config, error) {
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
	return Resolve(Input{Args: args, Graph: m.Graph, Checkpoint: ck, Chip: c})
}

func must(t testing.TB, model, checkpoint, chip string, args map[string]any) *Config {
	t.Helper()
	c, err := resolve(t, model, checkpoint, chip, args)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAttentionBackend(t *testing.T) {
	keep.Rule(t, "SGL-3")
	for _, c := range []struct{ model, chip, want string }{
		{"llama-3.1-8b", "h100_sxm", "fa3"},
		{"llama-3.1-8b", "b200_sxm", "trtllm_mha"},
		{"llama-3.1-8b", "mi300x", "aiter"},
		{"llama-3.1-8b", "a100_sxm_80gb", "flashinfer"},
		{"gpt-oss-120b", "l40s", "triton"}, // attention sinks
		{"deepseek-r1", "h200_sxm", "fa3"},
		{"deepseek-r1", "b200_sxm", "flashinfer"},
		{"deepseek-r1", "l40s", "triton"},
		{"glm-5", "b200_sxm", "nsa"},
	} {
		got := must(t, c.model, "", c.chip, nil)
		if got.Attention != c.want {
			t.Errorf("%s on %s: got %s, want %s", c.model, c.chip, got.Attention, c.want)
		}
		if got.Sources["attention-backend"].Kind != "rule" {
			t.Errorf("%s on %s: source %+v, want a rule", c.model, c.chip, got.Sources["attention-backend"])
		}
	}
	for _, c := range []struct{ model, chip, backend string }{
		{"deepseek-r1", "b200_sxm", "trtllm_mha"}, {"llama-3.1-8b", "b200_sxm", "trtllm_mla"}, {"llama-3.1-8b", "b200_sxm", "fa3"}, {"deepseek-r1", "b200_sxm", "nsa"},
	} {
		if _, err := resolve(t, c.model, "", c.chip, map[string]any{"attention-backend": c.backend}); err == nil {
			t.Errorf("%s on %s: %s was taken", c.model, c.chip, c.backend)
		}
	}
}

// TestMemFraction writes the reserve of an H100 out: 512 + 1.5 chunks + parallelism +
// graphs, but never below 10 GiB on a GPU of more than 60 GiB.
func TestMemFraction(t *testing.T) {
	keep.Rule(t, "SGL-3")
	const mib = 80 * 1024.0
	c := must(t, "llama-3.1-8b", "", "h100_sxm", nil)
	reserved := 512 + 1.5*8192 + 1.0/8*1024 + 2*256 + float64(8*len(c.PrefillSizes))
	if got, want := c.MemFraction, float64(int((mib-reserved)/mib*1000+0.5))/1000; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	c = must(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{"chunked-prefill-size": 2048, "disable-cuda-graph": true})
	if got, want := c.MemFraction, 0.875; got != want { // 10240 of 81920 MiB
		t.Errorf("least reserve: got %v, want %v", got, want)
	}
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		backend     string
		stated, got int
	}{
		{"trtllm_mha", 0, 64}, {"trtllm_mha", 16, 16}, {"trtllm_mha", 8, 64}, {"fa4", 0, 128}, {"fa4", 128, 128}, {"triton", 0, 1}, {"triton", 24, 24},
	} {
		args := map[string]any{"attention-backend": c.backend}
		if c.stated > 0 {
			args["page-size"] = c.stated
		}
		if got := must(t, "llama-3.1-8b", "", "b200_sxm", args).Page; got != c.got {
			t.Errorf("%s with %d: got pages of %d, want %d", c.backend, c.stated, got, c.got)
		}
	}
	for _, c := range []struct {
		backend      string
		stated, want int
	}{{"trtllm_mla", 32, 32}, {"trtllm_mla", 16, 64}, {"cutlass_mla", 1, 128}, {"flashmla", 1, 64}, {"fa4", 1, 1}} {
		if got := must(t, "deepseek-r1", "", "b200_sxm", map[string]any{"attention-backend": c.backend, "page-size": c.stated}).Page; got != c.want {
			t.Errorf("latent attention, %s with %d: got pages of %d, want %d", c.backend, c.stated, got, c.want)
		}
	}
}

func TestGraphSizes(t *testing.T) {
	keep.Rule(t, "SGL-3")
	c := must(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{"cuda-graph-max-bs": 20})
	if got, want := c.GraphSizes, []int{1, 2, 4, 8, 12, 16, 20}; !slices.Equal(got, want) {
		t.Errorf("max 20: got %v, want %v", got, want)
	}
	c = must(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{"tensor-parallel-size": 8})
	if got, want := c.GraphSizes[len(c.GraphSizes)-3:], []int{480, 496, 512}; !slices.Equal(got, want) {
		t.Errorf("tp 8 on 80 GiB: got %v at the end, want %v", got, want)
	}
	c = must(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{"cuda-graph-bs": []any{8, 1}})
	if got, want := c.GraphSizes, []int{1, 8}; !slices.Equal(got, want) {
		t.Errorf("stated: got %v, want %v", got, want)
	}
	if c := must(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{"disable-cuda-graph": true}); len(c.GraphSizes)+len(c.PrefillSizes) > 0 {
		t.Errorf("disabled: got %v and %v", c.GraphSizes, c.PrefillSizes)
	}
	if c := must(t, "deepseek-r1", "", "h200_sxm", map[string]any{"tensor-parallel-size": 8}); c.PrefillSizes[len(c.PrefillSizes)-1] != 2048 {
		t.Errorf("latent attention: got prefill graphs to %d, want 2048", c.PrefillSizes[len(c.PrefillSizes)-1])
	}
	if c := must(t, "qwen3.5-397b-a17b", "", "h200_sxm", map[string]any{"tensor-parallel-size": 8, "disable-radix-cache": true}); c.PrefillSizes != nil {
		t.Errorf("recurrent: got prefill graphs %v, want none", c.PrefillSizes)
	}
}

func TestMoERunner(t *testing.T) {
	for _, c := range []struct{ checkpoint, chip, want string }{
		{"deepseek-ai/DeepSeek-R1", "h200_sxm", "triton"},
		{"deepseek-ai/DeepSeek-R1", "b200_sxm", "flashinfer_trtllm"},
		{"nvidia/DeepSeek-V3.1-NVFP4", "b200_sxm", "flashinfer_trtllm"},
	} {
		if got := must(t, "deepseek-r1", c.checkpoint, c.chip, nil).MoERunner; got != c.want {
			t.Errorf("%s on %s: got %s, want %s", c.checkpoint, c.chip, got, c.want)
		}
	}
}

func TestChunkByMemory(t *testing.T) {
	for chip, want := range map[string]int{"l40s": 4096, "h100_sxm": 8192, "h200_sxm": 8192, "b200_sxm": 16384} { // order: cases stand alone
		if got := must(t, "llama-3.1-8b", "", chip, nil).Chunk; got != want {
			t.Errorf("%s: got %d, want %d", chip, got, want)
		}
	}
}

func TestCacheFormat(t *testing.T) {
	for _, c := range []struct {
		checkpoint string
		stated     any
		want       quantity.Format
	}{
		{"deepseek-ai/DeepSeek-R1", nil, quantity.BF16}, {"nvidia/DeepSeek-V3.1-NVFP4", nil, quantity.FP8}, {"deepseek-ai/DeepSeek-R1", "fp8_e4m3", quantity.FP8},
	} {
		args := map[string]any{}
		if c.stated != nil {
			args["kv-cache-dtype"] = c.stated
		}
		if got := must(t, "deepseek-r1", c.checkpoint, "b200_sxm", args).KV; got != c.want {
			t.Errorf("%s with %v: got %s, want %s", c.checkpoint, c.stated, got, c.want)
		}
	}
}

func TestParallelRefusals(t *testing.T) {
	keep.Rule(t, "SIM-9")
	for _, c := range []struct {
		model     string
		bad, good map[string]any
		want      string
	}{
		{"deepseek-r1", map[string]any{"tensor-parallel-size": 8, "expert-parallel-size": 3}, map[string]any{"tensor-parallel-size": 8, "expert-parallel-size": 4}, "must be divisible by ep_size"},
		{"llama-3.1-8b", map[string]any{"tensor-parallel-size": 2, "expert-parallel-size": 2}, map[string]any{"tensor-parallel-size": 2}, "has no experts"},
		{"llama-3.1-8b", map[string]any{"tensor-parallel-size": 64}, map[string]any{"tensor-parallel-size": 32}, "do not divide among the ranks"},
		{"llama-3.1-8b", map[string]any{"enable-priority-scheduling": true, "schedule-policy": "lpm"}, map[string]any{"enable-priority-scheduling": true, "schedule-policy": "lof"}, "schedule_policy must be"},
	} {
		if _, err := resolve(t, c.model, "", "h200_sxm", c.bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want an error with %q", c.bad, err, c.want)
		}
		if _, err := resolve(t, c.model, "", "h200_sxm", c.good); err != nil {
			t.Errorf("%v: %v", c.good, err)
		}
	}
}

// A number out of its range is refused with its name; the nearest one is taken.
func TestNumbersHaveRanges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		bad  []any
		good any
	}{
		{"tensor-parallel-size", []any{0, -1, nan, inf, 1.5}, 1},
		{"expert-parallel-size", []any{0, inf}, 1},
		{"context-length", []any{0, -1, nan, inf, 1e300}, 1},
		{"max-prefill-tokens", []any{0, -1, inf}, 1},
		{"max-running-requests", []any{0, -1, nan}, 1},
		{"max-total-tokens", []any{0, -1, -inf}, 1},
		{"max-queued-requests", []any{0, -1}, 1},
		{"prefill-max-requests", []any{0, -1}, 1},
		{"prefill-decode-interval", []any{-1, inf}, 0},
		{"stream-interval", []any{0, nan}, 1},
		{"scheduler-recv-interval", []any{-1, inf}, 0},
		{"decode-log-interval", []any{0, -40}, 1},
		{"random-seed", []any{-1, inf}, 0},
		{"priority-scheduling-preemption-threshold", []any{-1, nan}, 0},
		{"chunked-prefill-size", []any{-2, inf, nan}, -1},
		{"cuda-graph-max-bs", []any{0, -1, inf}, 1},
		{"cuda-graph-bs", []any{[]any{0}, []any{inf}, []any{nan}, []any{4, -1}}, []any{1}},
		{"page-size", []any{0, -1, inf, nan}, 1},
		{"schedule-conservativeness", []any{-0.1, nan, inf, "NaN", "x"}, 0},
		{"mem-fraction-static", []any{0, 1, -0.5, nan, inf}, 0.5},
	} {
		for _, bad := range c.bad {
			_, err := resolve(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{c.name: bad})
			if err == nil || !strings.Contains(err.Error(), "engine.args."+c.name+": ") {
				t.Errorf("%s %v: got %v, want a refusal that names it", c.name, bad, err)
			}
		}
		if _, err := resolve(t, "llama-3.1-8b", "", "h100_sxm", map[string]any{c.name: c.good}); err != nil {
			t.Errorf("%s %v: %v", c.name, c.good, err)
		}
	}
}
