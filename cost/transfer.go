package cost

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// HostMemory is the one tier below GPU memory the model knows a rate for.
const HostMemory = "host_dram"

// Transfer is what a KV move asks of each link it crosses (SUB-17). Every rank of
// a node moves its own pages at once, so a node's link carries their sum and may
// take the sum of their rates.
func (m *Model) Transfer(p *plan.PoolPlan, mv plan.Move) (plan.Demand, error) {
	chip, err := m.chip(p)
	if err != nil {
		return plan.Demand{}, err
	}
	latency, err := m.scalar(p.Hardware, registry.LinkLatency)
	if err != nil {
		return plan.Demand{}, err
	}
	ranks := max(1, p.Layout.Ranks())
	if p.Layout.RanksPerNode > 0 {
		ranks = min(ranks, p.Layout.RanksPerNode)
	}
	bytes := quantity.Bytes(moveBytes(p, mv.Tokens) * float64(ranks))
	d := plan.Demand{Latency: quantity.Seconds(latency.value), Method: max(plan.VendorSpec, latency.found.Method)}
	add := func(link string, rate float64) {
		d.Links = append(d.Links, plan.LinkDemand{Link: link, Bytes: bytes, Rate: quantity.PerSecond(rate * float64(ranks))})
	}
	if mv.Device != "" {
		err := m.tier(p, mv, &d, add)
		return d, err
	}
	peers(chip, p.Layout, mv, add)
	return d, nil
}

// tier adds the host bus of the node whose GPUs read or write a lower tier.
func (m *Model) tier(p *plan.PoolPlan, mv plan.Move, d *plan.Demand, add func(string, float64)) error {
	if mv.Device != HostMemory {
		return &diag.Refusal{Field: "move.device", Value: mv.Device, Problem: "is no tier with a known rate", Accept: HostMemory, Rule: "SUB-7"}
	}
	bus, err := m.scalar(p.Hardware, registry.HostBus)
	if err != nil {
		return err
	}
	d.Method = max(d.Method, bus.found.Method)
	node, way := mv.FromNode, "out"
	if mv.ToGPU {
		node, way = mv.ToNode, "in"
	}
	add(fmt.Sprintf("host_bus/node%d/%s", node, way), bus.value)
	return nil
}

// peers adds the links between two GPUs: the scale-up domain when it holds both,
// else the NICs of both nodes.
func peers(c form.Chip, l plan.Layout, mv plan.Move, add func(string, float64)) {
	switch {
	case mv.FromNode == mv.ToNode:
		add(fmt.Sprintf("scale_up/node%d", mv.FromNode), c.Link)
	case mv.FromRack == mv.ToRack && l.RanksPerNode > 0 && c.World > l.RanksPerNode:
		add(fmt.Sprintf("scale_up/rack%d", mv.FromRack), c.Link)
	default:
		add(fmt.Sprintf("nic/node%d/out", mv.FromNode), c.NIC)
		add(fmt.Sprintf("nic/node%d/in", mv.ToNode), c.NIC)
	}
}

// moveBytes is the whole pages of every KV group that hold a sequence's tokens on
// one rank; a window keeps its last tokens alone.
func moveBytes(p *plan.PoolPlan, tokens int) float64 {
	sum := 0.0
	for _, g := range p.KV {
		n := tokens
		if g.Window > 0 {
			n = min(n, g.Window)
		}
		pages := 1 // a recurrent state is one page
		if g.PageTokens > 0 {
			pages = (n + g.PageTokens - 1) / g.PageTokens
		}
		sum += float64(float64(pages) * float64(g.BytesPerPage))
	}
	return sum
}
