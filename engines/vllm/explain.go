package vllm

// This file is the project's own: upstream explains no setting.

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Explain resolves spec without building an engine: every setting with its source,
// the choices lowering made, the terms of the KV budget, and the plan.
func (k *Kind) Explain(spec engines.Spec, env engines.Environment) ([]engines.Resolved, *plan.PoolPlan, error) {
	s, err := k.prepare(spec, env)
	if err != nil {
		return nil, nil, err
	}
	out := s.settings(spec)
	for _, c := range s.lowered.Choices {
		out = append(out, engines.Resolved{Name: c.Name, Value: c.Value, Source: "rule", Why: c.Why})
	}
	return append(out, s.terms()...), s.plan, nil
}

// settings lists the resolved arguments, and the stated ones that are inert.
func (s *setup) settings(spec engines.Spec) []engines.Resolved {
	c := s.config
	values := c.Settings()
	stated, _ := config.Normal(spec.Args)
	names := sortedKeys(values)
	for _, n := range sortedKeys(stated) {
		if _, ok := values[n]; !ok {
			values[n] = fmt.Sprint(stated[n])
			c.Sources[n] = config.Source{Kind: config.Stated, Why: "inert here, see `blis fields`"}
			names = append(names, n)
		}
	}
	var out []engines.Resolved
	for _, n := range names {
		src := c.Sources[n]
		if src.Kind == "" {
			src.Kind = config.Default
		}
		out = append(out, engines.Resolved{Name: argument(n), Value: values[n], Source: src.Kind, Why: src.Why})
	}
	for _, n := range sortedKeys(spec.Env) {
		out = append(out, engines.Resolved{Name: n, Value: spec.Env[n], Source: config.Stated})
	}
	return out
}

// argument writes a Python name as its option: dashes, but for the keys of a JSON
// value.
func argument(name string) string {
	top, keys, nested := strings.Cut(name, ".")
	top = strings.ReplaceAll(top, "_", "-")
	if nested {
		return top + "." + keys
	}
	return top
}

// terms are the KV budget's parts, per rank of each stage.
func (s *setup) terms() []engines.Resolved {
	var out []engines.Resolved
	add := func(stage int, name string, b quantity.Bytes, why string) {
		if len(s.budget.memory.Stages) > 1 {
			name = fmt.Sprintf("stage %d %s", stage, name)
		}
		out = append(out, engines.Resolved{Name: name, Value: fmt.Sprintf("%.0f bytes (%v)", float64(b), b), Source: "rule", Why: why})
	}
	for i, m := range s.budget.memory.Stages {
		why := "memory plan, " + m.Method.String()
		add(i, "memory.device", m.Device, why)
		add(i, "memory.requested", s.budget.request[i], "gpu-memory-utilization of it")
		add(i, "memory.weights", m.Weights, "resident tensors after post-processing")
		add(i, "memory.activations", m.Activations, "peak of the profiling step")
		add(i, "memory.buffers", m.Buffers, "workspaces")
		add(i, "memory.context", m.Context, why)
		add(i, "memory.graphs", m.Graphs, why)
		add(i, "kv-budget", s.plan.KVBudget[i], "what is left")
	}
	return append(out, engines.Resolved{Name: "num-gpu-blocks", Value: fmt.Sprint(s.budget.blocks), Source: "rule",
		Why: fmt.Sprintf("budget over %.0f bytes a block; %d hold KV, one is the null block", float64(s.budget.page), s.budget.blocks-1)})
}
