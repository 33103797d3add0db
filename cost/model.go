package cost

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Model prices against one catalog and one registry.
type Model struct {
	catalog  *catalog.Catalog
	registry *registry.Registry
}

// New returns a model over checked, immutable data.
func New(c *catalog.Catalog, r *registry.Registry) *Model {
	return &Model{catalog: c, registry: r}
}

// Compile looks every coefficient of a plan up and returns what prices its steps.
// It refuses a plan whose layers name a number format, primitive, collective or
// chip it does not know.
func (m *Model) Compile(p *plan.PoolPlan) (*Pricer, error) {
	chip, err := m.chip(p)
	if err != nil {
		return nil, err
	}
	over, err := m.overheads(p)
	if err != nil {
		return nil, err
	}
	pr := &Pricer{plan: p, over: over, hbm: chip.HBM}
	for i := range max(1, p.Layout.Pipeline) {
		st := &stage{}
		if st.target, err = m.program(chip, p.Layers, i, over); err != nil {
			return nil, err
		}
		if st.draft, err = m.program(chip, p.DraftLayers, i, over); err != nil {
			return nil, err
		}
		pr.stages = append(pr.stages, st)
	}
	return pr, nil
}

// mixers counts the model layers of a stage: each has one token mixer, and an
// engine lowers every mixer's prompt form. A stage without mixers counts its most
// repeated entry.
func mixers(layers []plan.LoweredLayer, stage int) int {
	n, most := 0, 0
	for i := range layers {
		if l := &layers[i]; l.Stage == stage {
			switch l.Primitive {
			case plan.AttentionExtend, plan.MLAExtend, plan.RecurrentExtend:
				n += l.Repeat
			}
			most = max(most, l.Repeat)
		}
	}
	if n == 0 {
		return most
	}
	return n
}

// entry is one folded group of identical layers.
type entry struct {
	layer   *plan.LoweredLayer
	op      operator
	times   float64 // repeats and factors
	found   registry.Resolved
	factors []registry.Resolved // of its kernel, from whole runs
	launch  *scalar             // added a launch; nil for kernels timed with theirs
	method  plan.Method         // of all of them, inside their ranges
	decodes []decodePrice       // prices asked lately, by decodeSize.slot
}

// foldKey is what makes two lowered layers one.
type foldKey struct {
	primitive  plan.Primitive
	name       string
	kernel     plan.KernelImpl
	shape      plan.Shape
	collective plan.Collective
}

// program folds and binds the layers of one stage.
func (m *Model) program(chip form.Chip, layers []plan.LoweredLayer, stage int, over *overheads) (*program, error) {
	pg := newProgram()
	at := map[foldKey]*entry{}
	for i := range layers {
		l := &layers[i]
		if l.Stage != stage {
			continue
		}
		k := foldKey{primitive: l.Primitive, name: l.Name, kernel: l.Kernel, shape: l.Shape}
		if l.Collective != nil {
			k.collective = *l.Collective
		}
		if e := at[k]; e != nil {
			e.times += float64(max(1, l.Repeat))
			continue
		}
		e, err := m.entry(chip, l, over)
		if err != nil {
			return nil, err
		}
		at[k] = e
		pg.add(e)
	}
	for _, e := range pg.all {
		pg.host.add(e)
		if e.launch != nil {
			pg.launches += float64(e.times * float64(max(1, e.layer.Shape.Launches)))
		}
		m.correct(e, &chip)
	}
	return pg, nil
}

func (m *Model) entry(chip form.Chip, l *plan.LoweredLayer, over *overheads) (*entry, error) {
	if err := checkLayer(l); err != nil {
		return nil, err
	}
	found, err := m.registry.Lookup(key(chip.Name, l))
	if err != nil {
		return nil, err
	}
	op, err := bind(chip, l, found.Curve)
	if err != nil {
		return nil, fmt.Errorf("layer %s (%s, entry %s): %w", l.Name, l.Primitive, found.Entry.Key, err)
	}
	w := sample
	w.attended = sampleAttended
	if s, _ := op.call(&w, new(form.Point)); !(s > 0) || math.IsInf(s, 0) {
		return nil, &diag.Refusal{Field: "plan.layers." + l.Name, Value: fmt.Sprint(s), Problem: "has no finite positive price",
			Accept: "a shape whose fields the primitive reads are set", Rule: "SUB-10"}
	}
	e := &entry{layer: l, op: op, times: float64(max(1, l.Repeat)), found: found, method: found.Method}
	if l.Primitive == plan.Elementwise || l.Primitive == plan.Quantize {
		e.launch = &over.launch
		e.op = &launched{op, over.launch.value * float64(max(1, l.Shape.Launches))}
		e.method = max(e.method, over.launch.found.Method)
	}
	return e, nil
}

// key is what the registry is asked for a layer.
func key(chip string, l *plan.LoweredLayer) registry.Key {
	return registry.Key{Primitive: l.Primitive, Kernel: registry.ForKernel(l.Kernel), Format: keyFormat(l), Windowed: l.Shape.Window > 0, Chip: chip, Boundary: registry.Device}
}

// checkLayer refuses a layer whose price would rest on an unset field (SUB-10).
func checkLayer(l *plan.LoweredLayer) error {
	if !slices.Contains(plan.Primitives(), l.Primitive) {
		return &diag.Refusal{Field: "plan.layers." + l.Name, Value: string(l.Primitive), Problem: "no such primitive",
			Accept: fmt.Sprint(plan.Primitives()), Rule: "SUB-7"}
	}
	for _, f := range reads(l) {
		if f.value <= 0 {
			return &diag.Refusal{Field: "plan.layers." + l.Name + "." + f.name, Problem: fmt.Sprintf("is not set, and %s reads it", l.Primitive),
				Accept: "a positive number", Rule: "SUB-10"}
		}
	}
	return checkTypes(l)
}

type field struct {
	name  string
	value int
}

// reads lists the fields a primitive cannot do without.
func reads(l *plan.LoweredLayer) []field {
	s := &l.Shape
	switch l.Primitive {
	case plan.GEMM:
		return []field{{"n", s.N}, {"k", s.K}}
	case plan.GroupedGEMM:
		return []field{{"experts", s.Experts}, {"top_k", s.TopK}, {"hidden", s.Hidden}, {"inter", s.Inter}}
	case plan.AttentionExtend, plan.AttentionDecode, plan.SparseIndex:
		return []field{{"heads", s.Heads}, {"kv_heads", s.KVHeads}, {"head_dim", s.HeadDim}}
	case plan.MLAExtend, plan.MLADecode:
		return []field{{"heads", s.Heads}, {"head_dim", s.HeadDim}, {"latent_rank", s.LatentRank}}
	case plan.RecurrentExtend, plan.RecurrentDecode:
		return []field{{"heads", s.Heads}, {"head_dim", s.HeadDim}, {"value_dim", s.ValueDim}}
	case plan.Elementwise, plan.Quantize, plan.Sampling:
		return []field{{"bytes_per_row", int(s.BytesPerRow)}}
	}
	if l.Collective == nil {
		return []field{{"collective", 0}}
	}
	return []field{{"collective.ranks", l.Collective.Ranks - 1}, {"collective.bytes_per_row", int(l.Collective.BytesPerRow)}}
}
