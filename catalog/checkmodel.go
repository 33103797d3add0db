package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// checkModel joins a model with its graph, resolves each checkpoint's storage and
// holds it to the tensors the graph has.
func (c *Catalog) checkModel(m *Model) error {
	file := fill("models/%/model.yaml", m.Name)
	graphFile := fill("models/%/graph.yaml", m.Name)
	if m.Graph = c.graphs[m.Name]; m.Graph == nil {
		return refuse(file, "", "", "has no graph.yaml beside it", graphFile, "SUB-3")
	}
	if err := m.Graph.check(graphFile); err != nil {
		return err
	}
	if err := c.checkParameters(file, m); err != nil {
		return err
	}
	if err := c.checkCited(file, "derived_from.source", []string{m.DerivedFrom.Source}); err != nil {
		return err
	}
	if err := c.addAliases(file, Ref{Kind: "model", Name: m.Name}, m.Aliases); err != nil {
		return err
	}
	if len(m.Checkpoints) == 0 {
		return refuse(file, "checkpoints", "", "is empty", "at least one checkpoint", "SUB-3")
	}
	for i := range m.Checkpoints {
		if err := c.resolveCheckpoint(file, m, &m.Checkpoints[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkParameters compares the graph's count with the owner's.
func (c *Catalog) checkParameters(file string, m *Model) error {
	p := m.Parameters
	if err := c.checkCited(file, "parameters.sources", p.Sources); err != nil {
		return err
	}
	total, active := m.Graph.Params()
	if err := p.Total.check(file, "parameters.total", total); err != nil || p.Active == nil {
		return err
	}
	return p.Active.check(file, "parameters.active", active)
}

func (n Count) check(file, field string, got int64) error {
	if !(n.Tolerance > 0 && n.Tolerance < 0.1) {
		return refuse(file, field+".tolerance", fmt.Sprint(n.Tolerance), "is not a ratio in (0, 0.1)", "such as 0.01", "SUB-15")
	}
	if off := float64(got)/n.Value - 1; !(off >= -n.Tolerance && off <= n.Tolerance) {
		return refuse(file, field+".value", fmt.Sprintf("%.5g", n.Value), fmt.Sprintf("the graph has %.5g", float64(got)), "a count within the tolerance", "SUB-15")
	}
	return nil
}

func (c *Catalog) resolveCheckpoint(file string, m *Model, cp *Checkpoint) error {
	field := "checkpoints." + cp.Name
	if cp.Name == "" || len(cp.Precisions) == 0 {
		return refuse(file, field, "", "lacks a name or a precision label", "name and precisions", "SUB-12")
	}
	if err := c.addAlias(file, Alias{Name: cp.Name}, Ref{Kind: "model", Name: m.Name, Checkpoint: cp.Name}); err != nil {
		return err
	}
	if cp.Stated != nil {
		if cp.StoredAs != "" {
			return refuse(file, field, "", "gives its storage twice", "stored_as or stated", "SUB-12")
		}
		if err := c.checkCited(file, field+".sources", cp.Sources); err != nil {
			return err
		}
		cp.Storage = *cp.Stated
		return m.Graph.checkStorage(file, field+".stated", cp.Storage)
	}
	as := cp.StoredAs
	if as == "" {
		as = cp.Name
	}
	for _, s := range m.Graph.Checkpoints {
		if s.Checkpoint == as {
			cp.Storage = s.Storage
			return nil
		}
	}
	return refuse(file, field+".stored_as", as, "is not a checkpoint of graph.yaml", m.Graph.stored(), "SUB-15")
}

func (g *Graph) stored() string {
	var out []string
	for _, s := range g.Checkpoints {
		out = append(out, s.Checkpoint)
	}
	return strings.Join(out, ", ")
}

// check holds a graph to its own rules: sizes positive, every named block used and
// defined once, every kind complete, every checkpoint's classes covered.
func (g *Graph) check(file string) error {
	for _, s := range []struct {
		field string
		value int
	}{{"hidden", g.Hidden}, {"vocab", g.Vocab}, {"max_position", g.MaxPosition}, {"layers", g.LayerCount()}, {"derived_from", len(g.DerivedFrom)}} {
		if s.value <= 0 {
			return refuse(file, s.field, fmt.Sprint(s.value), "is not positive", "a size >= 1", "SUB-10")
		}
	}
	defined := map[string]bool{}
	for i := range g.Blocks {
		b := &g.Blocks[i]
		if defined[b.Name] {
			return refuse(file, "blocks", b.Name, "is defined twice", "each block once", "SUB-12")
		}
		defined[b.Name] = true
		if err := b.check(file); err != nil {
			return err
		}
	}
	if err := g.checkUse(file, defined); err != nil {
		return err
	}
	for _, s := range g.Checkpoints {
		if err := g.checkStorage(file, "checkpoints."+s.Checkpoint, s.Storage); err != nil {
			return err
		}
	}
	return nil
}

// checkUse demands that layers and the MTP head name defined blocks, and that no
// block is idle.
func (g *Graph) checkUse(file string, defined map[string]bool) error {
	used := map[string]bool{}
	for i, l := range g.Layers {
		if l.Repeat <= 0 || len(l.Pattern) == 0 {
			return refuse(file, fmt.Sprintf("layers[%d]", i), "", "holds no layer", "repeat >= 1 and a pattern", "SUB-10")
		}
		for _, name := range l.Pattern {
			if used[name] = true; !defined[name] {
				return refuse(file, fmt.Sprintf("layers[%d].pattern", i), name, "is not a block of this graph", "", "SUB-12")
			}
		}
	}
	if m := g.MTP; m != nil {
		if used[m.Block] = true; !defined[m.Block] || m.Modules <= 0 || m.Layers <= 0 {
			return refuse(file, "mtp", m.Block, "is not a counted block of this graph", "", "SUB-12")
		}
	}
	for _, b := range g.Blocks {
		if !used[b.Name] {
			return refuse(file, "blocks", b.Name, "is used by no layer", "", "SUB-12")
		}
	}
	return nil
}

// check holds a block's attention to the fields its kind needs.
func (b *Block) check(file string) error {
	a := b.Attention
	field := "blocks." + b.Name + ".attention"
	needs := map[AttentionKind]bool{
		Full: a.KVHeads > 0, Sliding: a.KVHeads > 0 && a.Window > 0, Chunked: a.KVHeads > 0 && a.Window > 0,
		MLA: a.Latent != nil && a.Indexer == nil, SparseMLA: a.Latent != nil && a.Indexer != nil,
		GatedDelta: a.Recurrent != nil, Mamba2: a.Recurrent != nil, NoMixer: true,
	}
	complete, known := needs[a.Kind]
	if !known {
		return refuse(file, field+".kind", string(a.Kind), "is not a kind of attention", fmt.Sprint(AttentionKinds()), "SUB-12")
	}
	softmax := a.Recurrent == nil && a.Kind != NoMixer
	if !complete || softmax != (a.Heads > 0 && a.HeadDim > 0 && a.ValueHeadDim > 0) {
		return refuse(file, field, string(a.Kind), "lacks a size this kind needs, or has one it does not", "see catalog.Attention", "SUB-10")
	}
	if a.KVHeads > 0 && a.Heads%a.KVHeads != 0 {
		return refuse(file, field+".kv_heads", fmt.Sprint(a.KVHeads), fmt.Sprintf("does not divide %d heads", a.Heads), "", "SUB-10")
	}
	if moe := b.MLP.MoE; (moe == nil) == (b.MLP.Inter == 0) || (moe != nil && (moe.Experts < moe.TopK || moe.TopK <= 0 || moe.Inter <= 0)) {
		return refuse(file, "blocks."+b.Name+".mlp", "", "is neither dense with inter nor moe with experts >= top_k >= 1", "", "SUB-10")
	}
	return nil
}

// checkStorage demands one format for each class of tensors the graph has, and no
// other class.
func (g *Graph) checkStorage(file, field string, s Storage) error {
	if _, ok := s.KVCache.Layout(); !ok {
		return refuse(file, field+".kv_cache", string(s.KVCache), "is missing", fmt.Sprint(quantity.Formats()), "SUB-15")
	}
	has := map[Class]bool{}
	for t := range g.Tensors() {
		has[t.Class] = true
	}
	for _, class := range Classes() {
		if _, stored := s.Tensors[class]; stored != has[class] {
			return refuse(file, field+".tensors", string(class), "must have a format exactly when the graph has such tensors", "", "SUB-15")
		}
	}
	for _, m := range []map[Class]quantity.Format{s.Tensors, s.MTP} {
		for _, class := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(Classes(), class) {
				return refuse(file, field, string(class), "is not a class of tensors", fmt.Sprint(Classes()), "SUB-12")
			}
		}
	}
	return nil
}
