package fit

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// The block-scaled FP8 products were timed with the host's launch in them: at
// few rows every shape takes the same 60 to 260 us, ten and more times what the
// per-tensor kernel takes replayed from a graph. Such a table measures the host
// boundary. Its device boundary is transferred: shapes well above the floor keep
// their time; the rest take the per-tensor kernel's, and the block scales' share.
const (
	hostFloor  = 4.0  // a floor this many times the per-tensor kernel's is the host's
	floorReach = 1.6  // shapes below this many floors say nothing of the device
	blockCost  = 3e-6 // seconds more than the per-tensor kernel
)

// floor is the median time of the shapes with the fewest rows the kernel was timed
// at: some kernels take over only above 32.
func (g *group) floor() float64 {
	few := 16.0
	for i, s := range g.samples {
		if i == 0 || s.sizes[0] < few {
			few = max(16, s.sizes[0])
		}
	}
	var t []float64
	for _, s := range g.samples {
		if s.sizes[0] <= few {
			t = append(t, s.seconds)
		}
	}
	if len(t) == 0 {
		return 0
	}
	return quantile(t, 0.5)
}

// perTensor finds the FP8 kernel of the same library, version and chip.
func (g *group) perTensor(all []*group) *group {
	if g.key.Primitive != plan.GEMM || g.key.Format != "fp8_block" {
		return nil
	}
	library, _, _ := strings.Cut(g.key.Kernel, "/")
	for _, o := range all {
		if o.key.Primitive == plan.GEMM && o.key.Format == "fp8" && o.key.Chip == g.key.Chip &&
			o.key.Version == g.key.Version && strings.HasPrefix(o.key.Kernel, library+"/") {
			return o
		}
	}
	return nil
}

// captured returns the device side of a group whose table holds the host's launch,
// and the rule that made it; nil when the table is device time already.
func (g *group) captured(all []*group, chip *form.Chip) (*group, string, error) {
	donor := g.perTensor(all)
	if donor == nil || g.floor() < hostFloor*donor.floor() {
		return nil, "", nil
	}
	curve := donor.fitter().fit(donor.samples, func(*sample) bool { return true })
	b, err := curve.Bind(donor.family.coords)
	if err != nil {
		return nil, "", err
	}
	f, err := form.ParseFormat(donor.key.Format)
	if err != nil {
		return nil, "", err
	}
	out := &group{family: g.family, key: g.key, source: g.source}
	replaced := 0
	for _, s := range g.samples {
		if s.seconds < floorReach*g.floor() {
			p := form.GEMM{M: s.sizes[0], N: s.sizes[1], K: s.sizes[2], Operands: f.Operands()}.Point(chip)
			s.seconds = b.Seconds(&p) + blockCost
			replaced++
		}
		out.samples = append(out.samples, s)
	}
	out.key.Boundary = registry.Device
	rule := fmt.Sprintf("%d of %d shapes lie below %.1f times the host's launch floor of %.0f us; they take the time of %s and %.0f us for the scales",
		replaced, len(g.samples), floorReach, g.floor()*1e6, donor.key.Kernel, blockCost*1e6)
	return out, rule, nil
}
