// Package lower turns a resolved SGLang launch and a model graph into what runs: the
// layers of one rank in execution order with the kernel of each, the resident
// weights, the KV groups, the captured graphs and how a step is padded to them.
//
// In: a config.Config. Out: a plan.PoolPlan without KV budget and what sizing needs.
// It sizes no activation, prices nothing, and refuses by name a model whose layers
// need an allocator the port does not run. Kernel names are those of the operator
// tables (ai-dynamo/aiconfigurator@095f58a5, sglang 0.5.14, column kernel_source);
// where SGLang's choice is not on record the comment says "inferred".
//
// Source: sgl-project/sglang@0bda0b168ad5bf7311ae639904489a4698a05546
// python/sglang/srt/models, layers, model_executor. Rules kept: SUB-1, SUB-7, SUB-16,
// SGL-3.
package lower

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/config"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Lowered is the result.
type Lowered struct {
	Plan *plan.PoolPlan
	// Attends caps the tokens a decoding sequence attends in each KV group; 0 is none.
	Attends []int
	// TokenBytes is the cache of one token, StateBytes the recurrent states of one
	// request, on one rank.
	TokenBytes, StateBytes quantity.Bytes
	Padding                *Padding
	Choices                []Choice
}

// Choice is one thing lowering decided, for people.
type Choice struct{ Name, Value, Why string }

// lowering is the state of one Lower call.
type lowering struct {
	c      *config.Config
	g      *catalog.Graph
	out    []plan.LoweredLayer
	layer  int
	repeat int

	choices []Choice
}

// choose notes a choice once.
func (l *lowering) choose(name, value, why string) {
	if c := (Choice{name, value, why}); !slices.Contains(l.choices, c) {
		l.choices = append(l.choices, c)
	}
}

// The KV groups: the tokens softmax layers keep, then the keys an indexer keeps or
// the states of recurrent layers; no model has both.
const (
	tokens = iota
	keys
	states = keys
)

// Lower makes the partial plan of a pool of nodes nodes.
func Lower(c *config.Config, nodes int) (*Lowered, error) {
	l := &lowering{c: c, g: c.Graph}
	if err := l.supported(); err != nil {
		return nil, err
	}
	l.layers()
	padding := &Padding{decode: c.GraphSizes, extend: c.PrefillSizes}
	p := &plan.PoolPlan{
		Hardware: c.Chip.Name,
		Layout:   plan.Layout{Tensor: c.Tensor, Pipeline: 1, Data: 1, Expert: c.Expert, Context: 1, RanksPerNode: ceilDiv(c.Tensor, max(1, nodes))},
		Layers:   l.out,
		Graphs:   plan.GraphPolicy{Full: c.GraphSizes, Piecewise: c.PrefillSizes, ByBatch: true},
		Host:     plan.HostPlan{Overlapped: c.Overlap, StreamInterval: c.StreamInterval, Library: library},
		Weights:  l.weights(),
		Profile:  l.profile(),
		InFlight: 1,
	}
	if c.Overlap {
		p.InFlight = 2
	}
	low := &Lowered{Plan: p, Padding: padding, Choices: l.choices}
	l.cache(low)
	return low, nil
}

// supported refuses layers whose cache allocator is not ported.
func (l *lowering) supported() error {
	for b, n := range l.g.BlockCounts() {
		a := b.Attention
		refuse := func(problem, accept string) error {
			return &diag.Refusal{Field: "model", Value: l.g.Model, Problem: problem, Accept: accept, Rule: "SGL-3"}
		}
		switch {
		case n == 0:
		case a.Kind == catalog.Sliding || a.Kind == catalog.Chunked:
			return refuse("needs SWATokenToKVPoolAllocator (hybrid sliding windows), which is not modelled", "a model whose layers attend every token")
		case a.Recurrent != nil && !l.c.NoTree:
			return refuse("needs MambaRadixCache, which is not modelled", "--disable-radix-cache")
		case a.Kind == catalog.NoMixer:
			return refuse("has a layer without a token mixer, which no SGLang model class has", "a model with attention")
		}
	}
	return nil
}

func (l *lowering) layers() {
	l.layer, l.repeat = -1, 1
	l.embedding()
	seen := map[*catalog.Block]bool{}
	counts := map[*catalog.Block]int{}
	for b, n := range l.g.BlockCounts() {
		counts[b] = n
	}
	for i, b := range l.g.LayerBlocks() {
		if !seen[b] {
			seen[b] = true
			l.layer, l.repeat = i, counts[b]
			l.attention(b.Attention)
			l.mlp(b.MLP)
		}
	}
	l.layer, l.repeat = -1, 1
	l.head()
}

// library names who dispatches the kernels, as the operator tables do.
const library = "sglang"

func (l *lowering) add(p plan.Primitive, name, kernel string, s plan.Shape) *plan.LoweredLayer {
	l.out = append(l.out, plan.LoweredLayer{
		Layer: l.layer, Repeat: l.repeat, Primitive: p, Name: name, Kernel: plan.KernelImpl{Library: library, Variant: kernel}, Shape: s,
		Captured: s.Rows == plan.RowsTokens || s.Rows == plan.RowsExpert,
	})
	return &l.out[len(l.out)-1]
}

func (l *lowering) elementwise(name string, bytesPerRow int, rows plan.Rows) {
	l.add(plan.Elementwise, name, "sgl_"+name, plan.Shape{Rows: rows, BytesPerRow: quantity.Bytes(bytesPerRow)})
}

// collective adds an exchange among the tensor ranks; bytesPerRow is one rank's part.
func (l *lowering) collective(p plan.Primitive, name string, bytesPerRow int, rows plan.Rows) {
	if l.c.Tensor < 2 {
		return
	}
	crosses := l.crosses()
	kernel, lib := "SGLang_CustomAllReduce", library
	if p != plan.AllReduce || crosses {
		kernel, lib = string(p), "nccl"
	}
	e := l.add(p, name, kernel, plan.Shape{Rows: rows})
	e.Kernel.Library = lib
	e.Collective = &plan.Collective{Ranks: l.c.Tensor, CrossNode: crosses, BytesPerRow: quantity.Bytes(bytesPerRow)}
}

// crosses says whether the tensor ranks leave one NVLink node of eight.
func (l *lowering) crosses() bool { return l.c.Tensor > 8 }

// profile is the largest prefill step: SGLang runs none to size its memory, but its
// activations must fit in what mem_fraction_static leaves.
func (l *lowering) profile() plan.StepShape {
	n := l.c.Chunk
	if n <= 0 {
		n = l.c.MaxPrefill
	}
	return plan.StepShape{
		Mode: plan.ExtendOnly, Ranks: []plan.RankStep{{Extend: []plan.Chunk{{Query: n}}, Sampled: 1}},
		Padded: []plan.PaddedShape{{Tokens: n, Seqs: 1, Launch: plan.Eager}},
	}
}

// cache lists the KV groups and the bytes of one token and one request.
func (l *lowering) cache(low *Lowered) {
	c, page := l.c, l.c.Page
	var token, key, state quantity.Bytes
	layers, recurrent, topK := 0, 0, 0
	kind := "full"
	for b, n := range l.g.BlockCounts() {
		a := b.Attention
		switch {
		case n == 0:
		case a.Recurrent != nil:
			recurrent += n
			state += quantity.Bytes(float64(n) * float64(l.stateBytes(a)))
			continue
		case a.Latent != nil:
			kind = "mla"
			token += quantity.Bytes(float64(n) * float64(c.KV.Stored(1, int64(a.Latent.KVRank+a.Latent.RopeDim))))
		default:
			token += quantity.Bytes(float64(n) * float64(c.KV.Stored(1, int64(max(1, a.KVHeads/c.Tensor)*(a.HeadDim+a.ValueHeadDim)))))
		}
		layers += n
		if x := a.Indexer; x != nil && n > 0 { // FP8 keys and one FP32 scale (layers/attention/nsa/nsa_indexer.py; inferred)
			topK = x.TopK
			key += quantity.Bytes(n * (x.HeadDim + 4))
		}
	}
	// A per-tensor FP8 cache keeps no scale beside the token: its scale is the layer's.
	if c.KV == quantity.FP8 {
		token -= quantity.Bytes(4 * layers)
	}
	low.TokenBytes, low.StateBytes = token+key, state
	groups := []plan.KVGroup{{Kind: kind, Layers: layers, PageTokens: page, BytesPerPage: token * quantity.Bytes(page)}}
	low.Attends = []int{topK}
	if key > 0 {
		groups = append(groups, plan.KVGroup{Kind: "mla", Layers: layers, PageTokens: page, BytesPerPage: key * quantity.Bytes(page)})
		low.Attends = append(low.Attends, 0)
	}
	if recurrent > 0 {
		groups = append(groups, plan.KVGroup{Kind: "recurrent", Layers: recurrent, PageTokens: 1, BytesPerPage: state})
		low.Attends = append(low.Attends, 1)
	}
	low.Plan.KV = groups
}

// stateBytes is one layer's recurrent state and convolution window of one request.
func (l *lowering) stateBytes(a catalog.Attention) quantity.Bytes {
	r := *a.Recurrent
	heads, keyHeads := ceilDiv(r.ValueHeads, l.c.Tensor), ceilDiv(r.KeyHeads, l.c.Tensor)
	width := 2*keyHeads*r.KeyHeadDim + heads*r.ValueHeadDim
	return l.c.StateDtype.Stored(int64(heads*r.KeyHeadDim), int64(r.ValueHeadDim)) + quantity.BF16.Stored(int64(width), int64(r.ConvKernel-1))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
