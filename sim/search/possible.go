package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// possible refuses, before anything runs, arms whose scenario cannot have a figure that is
// asked for; one that no arm can have is a mistake of the specification.
func (s *Study) possible() error {
	for i, q := range s.Spec.quantities() {
		at := fmt.Sprintf("rank[%d]", i)
		if c := i - len(s.Spec.Rank); c >= 0 {
			at = fmt.Sprintf("constraints[%d]", c)
		}
		why, has := "", false
		for k := range s.Arms {
			a := &s.Arms[k]
			if a.Refused != nil {
				continue
			}
			missing := q.lacking(a.Scenario)
			if missing == "" {
				has = true
				continue
			}
			why = missing
			a.Refused = &diag.Refusal{Field: q.metric, Value: q.scope, Problem: "has no figure: " + missing, Rule: "DEV-8"}
		}
		if why != "" && !has {
			return refuse(at, q.metric+" of "+q.scope, "has no figure in any arm: "+why, "a figure that the base gives")
		}
	}
	return nil
}

// lacking is why a scenario gives no figure of q, by what it states; "" where it may.
func (q quantity) lacking(s *spec.Scenario) string {
	kind, name, named := strings.Cut(q.scope, ":")
	clients := slices.Clone(s.Workload.Clients)
	label := func(c *spec.Client) string { return map[string]string{"class": c.Class, "tenant": c.Tenant}[kind] }
	switch kind {
	case "pool", "instance":
		n := 1
		if kind == "instance" {
			n = s.Cluster.Instances
		}
		if i, err := strconv.Atoi(name); named && (err != nil || i < 0 || i >= n) {
			return fmt.Sprintf("the last %s is %s:%d", kind, kind, n-1)
		}
	case "class", "tenant":
		if s.Workload.Trace != nil {
			break
		}
		clients = slices.DeleteFunc(clients, func(c spec.Client) bool { return label(&c) == "" || named && label(&c) != name })
		if len(clients) == 0 {
			return strings.TrimSpace("no client states the " + kind + " " + name)
		}
	}
	return q.uncounted(kind, s, clients)
}

// uncounted is why a metric has no figure over a kind of scope with these clients.
func (q quantity) uncounted(kind string, s *spec.Scenario, clients []spec.Client) string {
	labels, traced := kind == "class" || kind == "tenant", s.Workload.Trace != nil
	tenants := map[string]bool{}
	for i := range clients {
		if t := clients[i].Tenant; t != "" {
			tenants[t] = true
		}
	}
	switch q.metric {
	case "fairness_jain", "concurrency", "preemptions":
		switch {
		case kind != "cluster" && kind != "pool":
			return "it is counted for the cluster alone"
		case q.metric == "fairness_jain" && !traced && len(tenants) < 2:
			return "fewer than two clients state a tenant of their own"
		}
	case "goodput", "attainment":
		if !traced && !slices.ContainsFunc(clients, func(c spec.Client) bool { return c.Goal != spec.Objectives{} }) {
			return "no client states objectives"
		}
	case "prefix_hit_rate", "input_throughput_per_accelerator", "output_throughput_per_accelerator", "total_throughput_per_accelerator":
		if labels {
			return "it is counted for the cluster, pools and instances alone"
		}
	}
	return ""
}
