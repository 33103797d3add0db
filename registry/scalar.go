package registry

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// Scalars are the coefficients that are one number: costs outside the kernels.
const (
	HostStep      plan.Primitive = "host.step"      // seconds a step, between a result and the next launch
	HostSequence  plan.Primitive = "host.sequence"  // seconds a running sequence, between the two
	HostLaunch    plan.Primitive = "host.launch"    // seconds the host takes to launch one kernel without a graph
	HostSchedule  plan.Primitive = "host.schedule"  // seconds a step of work that can run ahead of the device
	HostPrepare   plan.Primitive = "host.prepare"   // seconds a running sequence of such work
	HostStream    plan.Primitive = "host.stream"    // seconds a response chunk of such work
	HostToken     plan.Primitive = "host.token"     // seconds a prompt token, before its first step
	HostRequest   plan.Primitive = "host.request"   // seconds a request, on its way in and out
	HostBurst     plan.Primitive = "host.burst"     // seconds a request waits for each one that arrived with it
	StreamLaunch  plan.Primitive = "launch.stream"  // device seconds an elementwise or quantise launch takes besides moving its bytes
	KernelCompute plan.Primitive = "kernel.compute" // factor whole runs ask on a kernel's time where compute bounds it; absent is 1
	KernelMemory  plan.Primitive = "kernel.memory"  // the same where memory or links bound it
	HostBus       plan.Primitive = "link.host"      // bytes a second of the bus to the host, one way
	LinkLatency   plan.Primitive = "link.latency"   // seconds before a transfer's first byte
	Visible       plan.Primitive = "memory.visible" // share of the catalog's memory the driver reports
	DriverMemory  plan.Primitive = "memory.driver"  // bytes a rank loses to the driver and the libraries
	GroupMemory   plan.Primitive = "memory.group"   // bytes of communication buffers a rank holds for its group
	GraphMemory   plan.Primitive = "memory.graph"   // bytes of one captured graph a layer
)

var scalarUnits = []struct {
	primitive plan.Primitive
	unit      string
}{
	{HostStep, "s"}, {HostSequence, "s"}, {HostLaunch, "s"}, {HostSchedule, "s"}, {HostPrepare, "s"}, {HostStream, "s"},
	{HostToken, "s"}, {HostRequest, "s"}, {HostBurst, "s"}, {StreamLaunch, "s"}, {KernelCompute, "ratio"}, {KernelMemory, "ratio"},
	{HostBus, "bytes/s"}, {LinkLatency, "s"}, {Visible, "ratio"}, {DriverMemory, "bytes"}, {GroupMemory, "bytes"}, {GraphMemory, "bytes"},
}

// Scalars lists them in a fixed order.
func Scalars() []plan.Primitive {
	var out []plan.Primitive
	for _, s := range scalarUnits {
		out = append(out, s.primitive)
	}
	return out
}

// unitOf is the unit the formula that reads a primitive needs (SUB-16).
func unitOf(p plan.Primitive) (string, bool) {
	for _, s := range scalarUnits {
		if s.primitive == p {
			return s.unit, true
		}
	}
	return "s", slices.Contains(plan.Primitives(), p)
}
