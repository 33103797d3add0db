package lower

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Choice is one thing lowering decided, for people.
type Choice struct{ Name, Value, Why string }

// Lowered is the result.
type Lowered struct {
	Plan    *plan.PoolPlan
	Layers  []kv.Layer // of the first pipeline stage that has the most, for the scheduler
	Block   int        // tokens a KV block, after the attention backend's wish
	Padding Padding
	Choices []Choice
}

// lowering is the state of one Lower call.
type lowering struct {
	c       *config.Config
	g       *catalog.Graph
	store   catalog.Storage
	k       kernels
	out     []plan.LoweredLayer
	layer   int // model layer being lowered
	repeat  int
	stage   int
	perNode int // ranks of the pool on one node
	group   func(catalog.Attention) int
	// statePage is what recurrent states are padded to.
	statePage int64
	choices   []Choice
}

// Lower makes the partial plan of one pool of nodes nodes.
func Lower(c *config.Config, m *catalog.Model, ck *catalog.Checkpoint, nodes int) (*Lowered, error) {
	l := &lowering{c: c, g: m.Graph, store: ck.Storage}
	l.perNode = ceilDiv(c.WorldSize()*c.DP, max(1, nodes))
	if err := l.supported(); err != nil {
		return nil, err
	}
	if err := l.chooseKernels(); err != nil {
		return nil, err
	}
	block := c.BlockSize
	if !c.UserBlockSize {
		block = config.PreferredBlock(l.k.attention, c.BlockSize)
		if block != c.BlockSize {
			l.choose("block-size", fmt.Sprint(block), "smallest block "+l.k.attention+" takes")
		}
	}
	block = l.stateBlock(block)
	stages := l.stages()
	kvLayers, groups, err := l.cache(l.withHead(stages), block)
	if err != nil {
		return nil, err
	}
	for s, layers := range stages {
		l.stage = s
		l.lowerStage(layers, s == 0, s == len(stages)-1)
	}
	head, err := l.predictor()
	if err != nil {
		return nil, err
	}
	padding := l.graphs()
	p := &plan.PoolPlan{
		Hardware: c.Chip.Name,
		Layout:   l.layout(),
		Layers:   l.out,
		KV:       groups,
		Graphs:   padding.graphs,
		Host:     plan.HostPlan{Overlapped: c.Async, StreamInterval: c.StreamInterval},
		Weights:  l.weights(stages),
		Profile:  l.profile(),
		InFlight: c.InFlight,
	}
	if c.Spec != nil {
		p.Drafts = plan.DraftPolicy{Tokens: c.Spec.Tokens, TopK: 1}
	}
	if head != nil {
		p.DraftLayers = head.drafts()
		p.Weights = append(p.Weights, head.headWeights()...)
	}
	return &Lowered{p, kvLayers, block, padding, l.choices}, nil
}

func (l *lowering) choose(name, value, why string) {
	l.choices = append(l.choices, Choice{name, value, why})
}

// supported refuses layer kinds without a ported manager or lowering (VLM-7).
func (l *lowering) supported() error {
	for b, n := range l.g.BlockCounts() {
		if n > 0 && b.Attention.Kind == catalog.SparseMLA {
			return &diag.Refusal{Field: "model", Value: l.g.Model, Rule: "VLM-7", Accept: "a model without a sparse-attention indexer",
				Problem: "needs the indexer cache of sparse MLA (DeepseekV32IndexerBackend), which is not modelled"}
		}
	}
	if s := l.c.Spec; s != nil && s.Method != "ngram" && l.modules() == 0 {
		return &diag.Refusal{Field: "engine.args.speculative-config.method", Value: s.Method, Rule: "VLM-7",
			Problem: "the layers that make its drafts are in no catalog entry of " + l.g.Model, Accept: "ngram, or mtp with a model whose graph has a multi-token-prediction head"}
	}
	if l.c.DCP > 1 || l.c.PCP > 1 {
		return &diag.Refusal{Field: "decode-context-parallel-size", Value: fmt.Sprint(max(l.c.DCP, l.c.PCP)), Problem: "context parallelism is not modelled", Accept: "1", Rule: "X1"}
	}
	return nil
}

func (l *lowering) layout() plan.Layout {
	c := l.c
	y := plan.Layout{Tensor: c.TP, Pipeline: c.PP, Data: c.DP, Expert: 1, Context: 1}
	if c.EP && l.c.Model.Experts > 0 {
		y.Expert = c.TP * c.DP
	}
	y.RanksPerNode = l.perNode
	return y
}

// stages splits the model's layers over pipeline ranks: an even share, the rest
// one each from the last but one backwards (distributed/utils.py, get_pp_indices).
func (l *lowering) stages() [][]indexed {
	var all []indexed
	for i, b := range l.g.LayerBlocks() {
		all = append(all, indexed{i, b})
	}
	n := l.c.PP
	share := make([]int, n)
	for i := range share {
		share[i] = len(all) / n
	}
	for i := range len(all) % n {
		share[max(0, n-2-i)]++
	}
	if l.c.Partition != nil {
		share = l.c.Partition
	}
	out := make([][]indexed, n)
	for i, s := range share {
		out[i], all = all[:s], all[s:]
	}
	return out
}

type indexed struct {
	at    int
	block *catalog.Block
}

// folded are the distinct blocks of a stage in order of first appearance.
type folded struct {
	indexed
	count int
}

func fold(layers []indexed) []folded {
	var out []folded
next:
	for _, x := range layers {
		for i := range out {
			if out[i].block == x.block {
				out[i].count++
				continue next
			}
		}
		out = append(out, folded{x, 1})
	}
	return out
}

func (l *lowering) lowerStage(layers []indexed, first, last bool) {
	if first {
		l.outside(func() { l.embedding() })
	}
	for _, f := range fold(layers) {
		l.layer, l.repeat = f.at, f.count
		l.attention(f.block)
		l.mlp(f.block)
	}
	l.outside(func() {
		if !last {
			l.send()
			return
		}
		l.head()
	})
}

func (l *lowering) outside(f func()) {
	l.layer, l.repeat = -1, 1
	f()
}

// add appends a lowered layer; everything but attention and what follows the model
// is inside the piecewise graphs.
func (l *lowering) add(p plan.Primitive, name, kernel string, s plan.Shape, captured bool) *plan.LoweredLayer {
	l.out = append(l.out, plan.LoweredLayer{Layer: l.layer, Repeat: l.repeat, Stage: l.stage, Primitive: p, Name: name,
		Kernel: plan.KernelImpl{Library: kernelLibrary, Variant: kernel}, Shape: s, Captured: captured})
	return &l.out[len(l.out)-1]
}

// kernelLibrary is the library part of kernel names: the operator tables name
// kernels by the engine that dispatches them.
const kernelLibrary = "vllm"

func (l *lowering) elementwise(name string, bytesPerRow int, rows plan.Rows) {
	l.add(plan.Elementwise, name, "csrc_"+name, plan.Shape{Rows: rows, BytesPerRow: quantity.Bytes(bytesPerRow)}, true)
}

// nccl as a kernel is the library's own form of a collective.
const nccl = "nccl"

// peers is a group of ranks: how many, and over how many consecutive ranks they
// lie. Tensor ranks are neighbours, then come pipeline stages, then data ranks
// (distributed/parallel_state.py, initialize_model_parallel).
type peers struct{ ranks, span int }

func (l *lowering) tensorPeers() peers { return peers{l.c.TP, l.c.TP} }
func (l *lowering) stagePeers() peers  { return peers{2, l.c.TP * l.c.PP} }
func (l *lowering) dataPeers() peers   { return peers{l.c.DP, l.c.TP * l.c.PP * l.c.DP} }

// collective adds an exchange; bytesPerRow is what one rank contributes for a row.
func (l *lowering) collective(p plan.Primitive, kernel, name string, g peers, bytesPerRow int, rows plan.Rows) {
	if g.ranks < 2 {
		return
	}
	e := l.add(p, name, kernel, plan.Shape{Rows: rows}, true)
	if kernel == nccl {
		e.Kernel = plan.KernelImpl{Library: nccl, Variant: string(p)}
	}
	e.Collective = &plan.Collective{Ranks: g.ranks, CrossNode: l.crosses(g), BytesPerRow: quantity.Bytes(bytesPerRow)}
}

func (l *lowering) crosses(g peers) bool { return g.span > l.perNode }

// profile is the memory-profiling step: the whole token budget spread over the
// sequence limit, then one sampler pass over as many rows (gpu_model_runner.py,
// profile_run).
func (l *lowering) profile() plan.StepShape {
	tokens, seqs := l.c.MaxBatchedTokens, min(l.c.MaxSeqs, l.c.MaxBatchedTokens)
	rank := plan.RankStep{Sampled: seqs}
	for i := range seqs {
		rank.Extend = append(rank.Extend, plan.Chunk{Query: tokens*(i+1)/seqs - tokens*i/seqs})
	}
	s := plan.StepShape{Mode: plan.ExtendOnly}
	for range l.lockstep() {
		s.Ranks = append(s.Ranks, rank)
		s.Padded = append(s.Padded, plan.PaddedShape{Tokens: tokens, Launch: plan.Eager})
	}
	return s
}

// lockstep is the data-parallel ranks that step together: all of them for an MoE
// model, one otherwise (v1/engine/core.py:1473-1481).
func (l *lowering) lockstep() int {
	if l.c.Model.Experts > 0 {
		return l.c.DP
	}
	return 1
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, to int) int { return ceilDiv(a, to) * to }
