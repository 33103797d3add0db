package cost_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// scalars of the fixture registry: every one moves some price.
var scalars = map[plan.Primitive]struct {
	value float64
	unit  string
}{
	registry.HostStep: {200e-6, "s"}, registry.HostSequence: {11e-6, "s"}, registry.HostLaunch: {60e-6, "s"},
	registry.HostSchedule: {500e-6, "s"}, registry.HostPrepare: {20e-6, "s"}, registry.HostStream: {10e-6, "s"},
	registry.HostToken: {8e-6, "s"}, registry.HostRequest: {5e-3, "s"}, registry.HostBurst: {6e-3, "s"},
	registry.StreamLaunch: {1e-6, "s"}, registry.HostBus: {50e9, "bytes/s"}, registry.LinkLatency: {1e-5, "s"},
	registry.Visible: {0.99, "ratio"}, registry.DriverMemory: {1e9, "bytes"}, registry.GroupMemory: {5e8, "bytes"},
	registry.GraphMemory: {3e5, "bytes"},
}

// factored are the kernels the fixture registry holds a factor of.
var factored = []string{"factored/fa3", "flash-attn/fa3x"}

// entries is a registry with one constant utilisation a primitive, so that what a
// test sees is the composition alone.
func entries(chips ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, chip := range chips {
		var b strings.Builder
		b.WriteString("schema: blis.registry/v1\nset: fixture\nentries:\n")
		for _, p := range plan.Primitives() {
			fmt.Fprintf(&b, "  - {primitive: %s, chip: %s, boundary: device, method: assumed, rule: fixture, interval: [0.8, 1.3], unit: s, curve: {launch_us: 2, terms: [{axes: [], values: '0.7'}]}}\n", p, chip)
		}
		for _, p := range registry.Scalars() {
			s, ok := scalars[p]
			if !ok {
				continue // a kernel factor is absent unless a run asks for one
			}
			fmt.Fprintf(&b, "  - {primitive: %s, chip: %s, boundary: host, method: assumed, rule: fixture, interval: [0, 0], unit: %s, value: %g}\n", p, chip, s.unit, s.value)
		}
		for _, k := range factored {
			fmt.Fprintf(&b, "  - {primitive: kernel.memory, kernel: %s, chip: %s, boundary: host, method: assumed, rule: fixture, interval: [0.5, 2], unit: ratio, value: 1.5}\n", k, chip)
		}
		fmt.Fprintf(&b, "  - {primitive: host.step, kernel: %s, chip: %s, boundary: host, method: assumed, rule: fixture, unit: s, value: 0.5}\n", registry.ForHost("factored"), chip)
		fsys[chip+"/fixture.yaml"] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return fsys
}

func model(tb testing.TB, chips ...string) *cost.Model {
	tb.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		tb.Fatal(err)
	}
	r, err := registry.Open(entries(chips...))
	if err != nil {
		tb.Fatal(err)
	}
	return cost.New(c, r)
}

const tp, layers = 2, 36

// poolPlan is a mixture-of-experts model over two ranks: half its layers keep a
// window of 128 tokens, as gpt-oss-120b's do.
func poolPlan() *plan.PoolPlan {
	cublas := plan.KernelImpl{Library: "cublas", Variant: "gemm"}
	attn := func(p plan.Primitive, name string, window, group int) plan.LoweredLayer {
		return plan.LoweredLayer{Repeat: layers / 2, Primitive: p, Name: name, Kernel: plan.KernelImpl{Library: "flash-attn", Variant: "fa3"},
			Shape: plan.Shape{Heads: 64 / tp, KVHeads: 8 / tp, HeadDim: 64, KVType: "bf16", Window: window, KVGroup: group}}
	}
	gemm := func(name string, n, k, repeat int, rows plan.Rows) plan.LoweredLayer {
		return plan.LoweredLayer{Repeat: repeat, Primitive: plan.GEMM, Name: name, Kernel: cublas, Captured: true,
			Shape: plan.Shape{Rows: rows, N: n, K: k, Act: "bf16", Weight: "bf16"}}
	}
	reduce := plan.LoweredLayer{Repeat: layers, Primitive: plan.AllReduce, Name: "attn_reduce", Kernel: plan.KernelImpl{Library: "vllm-csrc", Variant: "custom_all_reduce"},
		Collective: &plan.Collective{Ranks: tp, BytesPerRow: 2 * 2880}}
	stream := func(name string, p plan.Primitive, rows plan.Rows, bytes, repeat int) plan.LoweredLayer {
		l := plan.LoweredLayer{Repeat: repeat, Primitive: p, Name: name}
		l.Shape.Rows, l.Shape.BytesPerRow = rows, quantity.Bytes(bytes)
		return l
	}
	return &plan.PoolPlan{
		Hardware: "h200_sxm", Layout: plan.Layout{Tensor: tp, RanksPerNode: 8},
		Layers: []plan.LoweredLayer{
			stream("norm", plan.Elementwise, plan.RowsTokens, 4*2*2880, 2*layers),
			gemm("qkv_proj", (64+16)*64/tp, 2880, layers, plan.RowsTokens),
			attn(plan.AttentionExtend, "attn_window", 128, 1), attn(plan.AttentionDecode, "attn_window", 128, 1),
			attn(plan.AttentionExtend, "attn", 0, 0), attn(plan.AttentionDecode, "attn", 0, 0),
			gemm("o_proj", 2880, 4096/tp, layers, plan.RowsTokens), reduce,
			gemm("router", 128, 2880, layers, plan.RowsTokens),
			{Repeat: layers, Primitive: plan.GroupedGEMM, Name: "experts", Kernel: plan.KernelImpl{Library: "vllm-csrc", Variant: "marlin_moe"},
				Shape: plan.Shape{Rows: plan.RowsExpert, Act: "bf16", Weight: "mxfp4", Experts: 128, TopK: 4, Hidden: 2880, Inter: 2880, ExpertTensor: tp, ExpertRanks: 1}},
			gemm("lm_head", 201088/tp, 2880, 1, plan.RowsSampled),
			stream("sampling", plan.Sampling, plan.RowsSampled, 16*201088, 1),
		},
		KV: []plan.KVGroup{
			{Kind: "full", Layers: layers / 2, PageTokens: 16, BytesPerPage: 16 * 2 * 2 * 64 * 8 / tp * layers / 2},
			{Kind: "sliding_window", Window: 128, Layers: layers / 2, PageTokens: 16, BytesPerPage: 16 * 2 * 2 * 64 * 8 / tp * layers / 2},
		},
		Graphs:   plan.GraphPolicy{Full: []int{1, 2, 4, 8}, Piecewise: []int{1, 2, 4, 8, 16}},
		Host:     plan.HostPlan{Overlapped: true},
		Weights:  []plan.ResidentTensor{{Name: "all", Bytes: 33e9}},
		Buffers:  []plan.Buffer{{Name: "workspace", Bytes: 1e8}},
		Profile:  extendStep(8192, 0),
		InFlight: 2,
	}
}

func decodeStep(seqs, context int) plan.StepShape {
	windowed := min(context, 128)
	return plan.StepShape{
		Mode: plan.DecodeOnly,
		Ranks: []plan.RankStep{{Sampled: seqs, Decode: plan.DecodeBatch{Seqs: seqs, Query: 1,
			Attended: []int64{int64(seqs * context), int64(seqs * windowed)}}}},
		Padded: []plan.PaddedShape{{Tokens: seqs, Seqs: seqs, Launch: plan.FullGraph}},
	}
}

func extendStep(query, context int) plan.StepShape {
	return plan.StepShape{
		Mode:   plan.ExtendOnly,
		Ranks:  []plan.RankStep{{Sampled: 1, Extend: []plan.Chunk{{Query: query, Context: context}}}},
		Padded: []plan.PaddedShape{{Tokens: query, Launch: plan.Eager}},
	}
}

func compile(tb testing.TB, m *cost.Model, p *plan.PoolPlan) *cost.Pricer {
	tb.Helper()
	pr, err := m.Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return pr
}
