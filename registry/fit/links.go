package fit

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// message_size counts elements of two bytes, not bytes: read as bytes, eight
// H200s would reach half their links' rate.
const elementBytes = 2

var linkLayout = layout{{{"ranks", []float64{4}}, {"bytes", []float64{1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 27}}}}

var customReduces = family{
	set: "collective", table: "custom_allreduce_perf", coords: form.Collective{}.Coords(), apart: []int{0}, layout: linkLayout,
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
