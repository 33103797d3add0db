package composite

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"gopkg.in/yaml.v3"
)

// Evidence is what a fit rested on, for its entries.
type Evidence struct {
	Units  int
	SHA256 string   // of the sorted unit ids, a line each
	Chips  []string // chips that some fitted run used
	Error  *registry.Error
}

// Sets are the entries of a fit, one set a chip. Chips no fitted run used get the
// same values as transferred: a host's work does not depend on the accelerator.
func Sets(cat *catalog.Catalog, params []Parameter, f *Fit, e Evidence) []*registry.Set {
	var out []*registry.Set
	for _, chip := range cat.Chips() {
		s := &registry.Set{Schema: registry.Schema, Set: setName(params)}
		for j := range params {
			if q := &params[j]; q.Chips == nil || slices.Contains(q.Chips, chip) {
				s.Entries = append(s.Entries, entry(q, chip, j, f, e))
			}
		}
		if len(s.Entries) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func entry(q *Parameter, chip string, j int, f *Fit, e Evidence) *registry.Entry {
	v := f.Values[j]
	out := &registry.Entry{Key: q.Key, Method: plan.Calibrated.String(), Rule: q.Meaning, Value: &v, Unit: q.Unit, Error: e.Error,
		Source: &registry.Source{Table: "ledger units of role fit", SHA256: e.SHA256, Rows: e.Units}}
	out.Chip, out.Boundary = chip, registry.Host
	if f.Low != nil && v > 0 {
		out.Factor = [2]float64{f.Low[j] / v, f.High[j] / v}
	}
	out.Unidentified = out.Wide()
	if e.Chips != nil && !slices.Contains(e.Chips, chip) {
		out.Method, out.Source, out.Error, out.Unidentified = plan.Transferred.String(), nil, nil, false
		out.Rule = fmt.Sprintf("%s; fitted on runs of %v and carried over: the host's work does not depend on the accelerator", q.Meaning, e.Chips)
	}
	return out
}

// Encode is a set's file.
func Encode(s *registry.Set) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Written by `blis registry fit-composite`; do not edit.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// Standard are the universal costs of a run, seven numbers (the fit decides which
// of them the data can tell apart).
func Standard() []Parameter {
	p := func(name plan.Primitive, start, scale float64, meaning string) Parameter {
		return Parameter{Key: registry.Key{Primitive: name}, Unit: "s", Start: start, Scale: scale, Meaning: meaning}
	}
	out := []Parameter{
		p(registry.HostStep, 0, 5e-4, "time between a step's result and the next launch that the host does not hide"),
		p(registry.HostSequence, 11e-6, 1e-5, "host and sampler work of a running sequence, a step"),
		p(registry.HostLaunch, 5e-5, 2e-5, "launching one kernel without a graph: a step takes at least this for each that no graph replays"),
		p(registry.StreamLaunch, 1.5e-6, 1e-6, "device time of a captured elementwise or quantise launch besides moving its bytes; no table times them"),
		p(registry.HostToken, 8e-6, 5e-6, "tokenising and carrying one prompt token"),
		p(registry.HostRequest, 5e-3, 5e-3, "front-end work of one request"),
		p(registry.HostBurst, 6e-3, 3e-3, "the front end takes requests one after the other"),
	}
	return append(out, factors()...)
}

// factors are of kernels whose curve is another kernel's: what carries over is the
// shape of the utilisation, not its level. Chips share one where they run the same
// machine code at the same peaks, as H100 and H200 do; no other chips share any.
// The MXFP8 expert kernel and the fused all-reduce on B200 have none: the runs do
// not determine them.
func factors() []Parameter {
	hopper := []string{"h100_sxm", "h200_sxm"}
	f := func(name plan.Primitive, kernel string, chips []string, where string) Parameter {
		return Parameter{Key: registry.Key{Primitive: name, Kernel: kernel}, Chips: chips, Unit: "ratio", Start: 1, Scale: 0.2,
			Meaning: "this kernel's time over its donor's where " + where + " bounds it"}
	}
	const marlin = "vllm/vllm_gptossmxfp4moe_marlin_marlinexperts"
	return []Parameter{
		f(registry.KernelMemory, marlin, hopper, "memory"),
		f(registry.KernelCompute, marlin, hopper, "compute"),
	}
}
