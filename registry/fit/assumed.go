package fit

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// assumption is a coefficient no table holds, with the reason for its value.
type assumption struct {
	primitive plan.Primitive
	value     float64
	unit      string
	rule      string
}

// assumptions are the rank-7 starting points of every chip: the composite fits
// replace them with calibrated entries where whole runs determine them.
var assumptions = []assumption{
	{registry.HostStep, 0, "s", "lower bound: the scheduler prepares the next step while the device runs this one"},
	{registry.HostSequence, 11e-6, "s", "sampler and output handling of one sequence"},
	{registry.HostLaunch, 50e-6, "s", "Python dispatch of one kernel; a layer of 15 to 20 takes 0.8 to 1.3 ms where whole runs show it"},
	{registry.HostSchedule, 300e-6, "s", "one pass of a Python scheduler; hidden where the host runs ahead and the step is longer"},
	{registry.HostPrepare, 10e-6, "s", "a sequence's share of that pass and of building its inputs; hidden likewise"},
	{registry.HostStream, 5e-6, "s", "detokenising and sending one response chunk; hidden likewise"},
	{registry.HostToken, 8e-6, "s", "tokenising and transport of one prompt token"},
	{registry.HostRequest, 5e-3, "s", "front-end work of one request"},
	{registry.HostBurst, 0, "s", "lower bound: requests that arrive together do not wait for each other's front end"},
	{registry.StreamLaunch, 1.5e-6, "s", "order of one captured launch"},
	{registry.HostBus, 55e9, "bytes/s", "PCIe 5.0 x16 carries 63 GB/s before protocol overhead"},
	{registry.LinkLatency, 10e-6, "s", "order of one remote write and its completion"},
	{registry.Visible, 0.991, "ratio", "the driver and page retirement keep about 1%: 139.8 of 141 GiB on H200, 79.2 of 80 on H100"},
	{registry.DriverMemory, 1 << 30, "bytes", "driver context and library code"},
	{registry.GroupMemory, 1 << 29, "bytes", "communication buffers of a group"},
	{registry.GraphMemory, 1 << 18, "bytes", "node parameters of one layer's kernels"},
}

// assumed gives every scalar on one chip.
func assumed(chip string) []*registry.Entry {
	var out []*registry.Entry
	for _, a := range assumptions {
		out = append(out, &registry.Entry{
			Key:    registry.Key{Primitive: a.primitive, Chip: chip, Boundary: registry.Host},
			Method: plan.Assumed.String(), Rule: a.rule, Value: &a.value, Unit: a.unit,
		})
	}
	return out
}
