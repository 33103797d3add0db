package fit

import (
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// message_size counts elements of two bytes, not bytes: read as bytes, eight
// H200s would reach half their links' rate.
const elementBytes = 2

var linkLayout = layout{{{"ranks", []float64{4}}, {"bytes", []float64{1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 27}}}}

// customLayout has a knot on either side of where a one-shot exchange becomes a
// two-shot one, between 2^17 and 2^18 bytes over eight ranks.
var customLayout = layout{{{"ranks", []float64{4}}, {"bytes", []float64{1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22, 1 << 25}}}}

var customReduces = family{
	set: "collective", table: "custom_allreduce_perf", coords: form.Collective{}.Coords(), apart: []int{0}, layout: customLayout,
	clean: envelope,
	read: func(r *row, c *form.Chip) (reading, error) {
		s := form.Collective{Bytes: elementBytes * r.num("message_size"), Ranks: r.num("num_gpus"), Pattern: form.AllReduce}
		k := r.kernel(plan.AllReduce, form.Format{})
		// One kernel, timed two ways: replayed from a graph, or launched by the host.
		if strings.HasSuffix(k.Kernel, "_eager") {
			k.Boundary = registry.Host
		}
		k.Kernel = strings.TrimSuffix(strings.TrimSuffix(k.Kernel, "_eager"), "_graph")
		return reading{key: k, point: s.Point(c), shape: []float64{s.Bytes, s.Ranks}}, nil
	},
}

// envelope lowers each time to the least of any longer message over as many ranks: a
// longer message could be sent in its place. Eight B200s take 25.8 us for 2^17 and
// 2^18 elements, and 17.2 us for 2^19.
func envelope(in []sample) []sample {
	out := slices.Clone(in)
	for i := range out {
		for j := range in {
			if in[j].sizes[1] == out[i].sizes[1] && in[j].sizes[0] >= out[i].sizes[0] {
				out[i].seconds = min(out[i].seconds, in[j].seconds)
			}
		}
	}
	return out
}

var ncclPatterns = map[string]struct {
	primitive plan.Primitive
	pattern   form.Pattern
}{
	"all_reduce": {plan.AllReduce, form.AllReduce}, "all_gather": {plan.AllGather, form.AllGather},
	"reduce_scatter": {plan.ReduceScatter, form.ReduceScatter}, "alltoall": {plan.AllToAll, form.AllToAll},
}

var nccls = family{
	set: "collective", table: "nccl_perf", coords: form.Collective{}.Coords(), apart: []int{0}, layout: linkLayout,
	read: func(r *row, c *form.Chip) (reading, error) {
		op, ok := ncclPatterns[r.text("op_name")]
		switch {
		case !ok:
			return reading{skip: "operation " + r.text("op_name") + " is priced by no form"}, nil
		case r.text("nccl_dtype") != "half":
			return reading{skip: "only two-byte activations are exchanged"}, nil
		}
		s := form.Collective{Bytes: elementBytes * r.num("message_size"), Ranks: r.num("num_gpus"), Pattern: op.pattern}
		k := registry.Key{Primitive: op.primitive, Kernel: "nccl/" + string(op.primitive), Boundary: registry.Device}
		return reading{key: k, point: s.Point(c), shape: []float64{s.Bytes, s.Ranks}}, nil
	},
}
