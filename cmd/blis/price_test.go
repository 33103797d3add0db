package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
)

// priceRun runs `blis price` over an overlay that prices every primitive, so that
// the test does not depend on what the registry holds.
func priceRun(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("schema: blis.registry/v1\nset: test\nentries:\n")
	for _, p := range plan.Primitives() {
		b.WriteString("  - {primitive: " + string(p) + ", chip: h200_sxm, boundary: device, method: roofline, rule: test, unit: s, curve: {launch_us: 3, terms: [{axes: [], values: '0.6'}]}}\n")
	}
	if err := os.MkdirAll(filepath.Join(dir, "h200_sxm"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "h200_sxm", "test.yaml"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	code = exit.Run(context.Background(), root(), append([]string{"price", "--registry-overlay", dir}, args...), &o, &e)
	return code, o.String(), e.String()
}

func TestPriceDrawsAndPrintsOneAnswer(t *testing.T) {
	keep.Rule(t, "T-M3")
	args := []string{"--model", "gpt-oss-120b", "--chip", "h200_sxm", "--tp", "2", "--decode", "64x8192", "--extend", "512@1024"}
	code, out, errs := priceRun(t, append(args, "--json")...)
	if code != exit.Done {
		t.Fatalf("got code %d: %s", code, errs)
	}
	var a priceAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, p := range a.Parts {
		sum += float64(p.Seconds)
	}
	if math.Abs(float64(a.Device+a.Exposed-a.Seconds)) > 1e-12 {
		t.Errorf("got device %v s and host %v s, want %v s together", a.Device, a.Exposed, a.Seconds)
	}
	if math.Abs(sum-float64(a.Seconds)) > 1e-9 || a.Tokens != 64+512 || a.Ranks != 2 {
		t.Errorf("got %v s in parts of %v, %d tokens on %d ranks, want equal times, 576 on 2", sum, a.Seconds, a.Tokens, a.Ranks)
	}
	code, out, _ = priceRun(t, args...)
	var total, device, host float64
	_, after, _ := strings.Cut(out, "\n")
	if n, err := fmt.Sscanf(after, "%f ms a step = device %f ms + host %f ms", &total, &device, &host); n != 3 || math.Abs(device+host-total) > 1e-9 {
		t.Errorf("got %v ms as %v and %v, %v, want a sum", total, device, host, err)
	}
	for _, want := range []string{"moe.grouped_gemm", "attention.extend", "|AAAA", "% memory", "vllm_flash_attn_fa3"} {
		if code != exit.Done || !strings.Contains(out, want) {
			t.Errorf("code %d, drawing has no %q:\n%s", code, want, out)
		}
	}
}

// A step that the engine would not form is priced, and each limit in its way is named.
func TestPriceNamesTheLimitsAStepIsBeyond(t *testing.T) {
	base := []string{"--model", "gpt-oss-120b", "--chip", "h200_sxm", "--json"}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"at every limit": {[]string{"--tp", "2", "--decode", "8x4096", "--arg", "max-num-seqs=8", "--arg", "max-model-len=4096"}, nil},
		"sequences":      {[]string{"--decode", "9x4096", "--arg", "max-num-seqs=8"}, []string{"max-num-seqs is 8, and it has 9 sequences"}},
		"tokens":         {[]string{"--extend", "2048@0", "--arg", "max-num-batched-tokens=512"}, []string{"max-num-batched-tokens is 512, and it has 2048 tokens in the step"}},
		"length":         {[]string{"--decode", "1x4097", "--arg", "max-model-len=4096"}, []string{"max-model-len is 4096, and it has 4097 tokens of one sequence"}},
		// 129 tokens are 9 blocks of 16 of full attention and, in a window of 128, 8 more
		"all of its blocks": {[]string{"--decode", "2x129", "--arg", "max-model-len=200", "--arg", "num-gpu-blocks-override=35"}, nil},
		"more than those":   {[]string{"--decode", "2x129", "--arg", "max-model-len=200", "--arg", "num-gpu-blocks-override=34"}, []string{"num-gpu-blocks is 34, and it has 35 KV blocks with the null block"}},
		"sglang": {[]string{"--engine", "sglang", "--model", "llama-3.1-8b", "--decode", "1x64", "--extend", "9000@0", "--arg", "max-running-requests=1"}, []string{
			"chunked-prefill-size is 8192, and it has 9000 prompt tokens in the step", "enable-mixed-chunk is false, and it has prompt chunks beside decoding sequences", "resolved max-running-requests is 1, and it has 2 sequences"}},
	} {
		code, out, errs := priceRun(t, append(base, c.args...)...)
		var a priceAnswer
		if code != exit.Done || json.Unmarshal([]byte(out), &a) != nil || !slices.Equal(a.Beyond, c.want) || a.Seconds <= 0 {
			t.Errorf("%s: got code %d, %q in %v, want %q (%s)", name, code, a.Beyond, a.Seconds, c.want, errs)
		}
	}
	if _, out, _ := priceRun(t, "--model", "gpt-oss-120b", "--chip", "h200_sxm", "--decode", "2x8", "--arg", "max-num-seqs=1"); !strings.Contains(out, "\nthe engine would not form this step: max-num-seqs is 1") {
		t.Errorf("the drawing does not name it:\n%s", out)
	}
}

func TestPriceRefuses(t *testing.T) {
	keep.Rule(t, "SIM-6", "SIM-9")
	base := []string{"--model", "gpt-oss-120b", "--chip", "h200_sxm"}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"accepted":          {append(base, "--decode", "1x1"), exit.Done, ""},
		"its last position": {append(base, "--decode", "1x131072", "--extend", "72@131000"), exit.Done, ""},
		"beyond it":         {append(base, "--decode", "1x131073"), exit.Usage, "0 to 131072 tokens of context"},
		"a chunk beyond it": {append(base, "--extend", "73@131000"), exit.Usage, "131072 together"},
		"absurd sequences":  {append(base, "--decode", "999999999999x9"), exit.Usage, "1 to 65536 sequences"},
		"no node":           {append(base, "--decode", "1x1", "--nodes", "0"), exit.Usage, "--nodes: 0: is out of range"},
		"negative nodes":    {append(base, "--decode", "1x1", "--nodes", "-1"), exit.Usage, "1 to 4096"},
		"no rank":           {append(base, "--decode", "1x1", "--tp", "0"), exit.Usage, "--tp: 0"},
		"NaN":               {append(base, "--decode", "1x1", "--arg", "gpu-memory-utilization=NaN"), exit.Usage, "is not finite"},
		"infinity":          {append(base, "--decode", "1x1", "--arg", "gpu-memory-utilization=inf"), exit.Usage, "is not finite"},
		"words":             {append(base, "--decode", "abc"), exit.Usage, "SEQSxCONTEXT"},
		"an empty step":     {base, exit.Usage, "the step is empty"},
		"no sequences":      {append(base, "--decode", "0x1"), exit.Usage, "SEQSxCONTEXT"},
		"no separator":      {append(base, "--extend", "64"), exit.Usage, "TOKENS@CACHED"},
		"no such stage":     {append(base, "--decode", "1x1", "--stage", "1"), exit.Usage, "a stage of the plan"},
		"a bare setting":    {append(base, "--decode", "1x1", "--arg", "x"), exit.Usage, "has no value"},
		"an unknown chip":   {[]string{"--model", "gpt-oss-120b", "--chip", "h2000_sxm", "--decode", "1x1"}, exit.Refused, "h200_sxm"},
		"an unknown engine": {append(base, "--decode", "1x1", "--engine", "vlm"), exit.Refused, "vllm"},
		"no model":          {[]string{"--chip", "h200_sxm"}, exit.Usage, "model"},
	} {
		code, _, errs := priceRun(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: got code %d, %q, want %d, %q", name, code, errs, c.code, c.want)
		}
	}
}

// BenchmarkPriceStep prices decode steps of real plans whose contexts grow.
func BenchmarkPriceStep(b *testing.B) {
	w, err := world.Open(world.Paths{})
	if err != nil {
		b.Fatal(err)
	}
	kind, err := w.Kind("vllm")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		model, chip string
		tensor      int
	}{{"gpt-oss-120b", "h200_sxm", 2}, {"llama-3.1-70b", "h100_sxm", 4}, {"kimi-k2.5", "b200_sxm", 8}, {"minimax-m2.5", "b200_sxm", 2}} {
		b.Run(c.model, func(b *testing.B) {
			q := priceQuery{model: c.model, chip: c.chip, tensor: c.tensor, nodes: 1, decode: []string{"64x8192"}}
			spec, err := q.spec()
			if err != nil {
				b.Fatal(err)
			}
			_, p, err := kind.Explain(spec, w.Environment())
			if err != nil {
				b.Fatal(err)
			}
			pricer, err := cost.New(w.Catalog, w.Registry).Compile(p)
			if err != nil {
				b.Fatal(err)
			}
			batch, err := q.batch(p, 1<<17)
			if err != nil {
				b.Fatal(err)
			}
			step := world.Step(p, batch, 0)
			b.ReportAllocs()
			for b.Loop() {
				for g := range p.KV {
					if p.KV[g].Window == 0 { // a window of 128 is full at this context
						step.Ranks[0].Decode.Attended[g]++
					}
				}
				pricer.Price(step)
			}
		})
	}
}
