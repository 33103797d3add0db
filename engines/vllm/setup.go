package vllm

// This file is the project's own: it puts the parts of the port together.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/lower"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// setup is one engine after start-up and before its first step.
type setup struct {
	config  *config.Config
	lowered *lower.Lowered
	plan    *plan.PoolPlan
	budget  budget
}

// prepare runs start-up: admit the settings, resolve them, lower the model, size
// the KV cache.
func (k *Kind) prepare(spec engines.Spec, env engines.Environment) (*setup, error) {
	if err := k.admit(spec); err != nil {
		return nil, err
	}
	model, ck, err := checkpoint(spec, env)
	if err != nil {
		return nil, err
	}
	chip, err := env.Chip(spec.Hardware)
	if err != nil {
		return nil, err
	}
	facts, err := config.ChipOf(chip)
	if err != nil {
		return nil, refusal(err, spec.Args)
	}
	nodes := max(1, spec.Nodes)
	args := spec.Args
	if nodes > 1 && args["nnodes"] == nil { // a pool of several nodes is launched as one
		args = withNodes(args, nodes)
	}
	c, err := config.Resolve(config.Input{Args: args, Env: spec.Env, Model: config.FromCatalog(model, ck.Name), Chip: facts, Usage: config.APIServer})
	if err != nil {
		return nil, refusal(err, args)
	}
	if c.DP > 1 && c.Model.Experts == 0 {
		return nil, &diag.Refusal{Field: "engine.args.data-parallel-size", Value: fmt.Sprint(c.DP), Rule: "X1",
			Problem: "a dense model's data-parallel ranks are engines of their own, which do not step together", Accept: "cluster.instances and a router"}
	}
	low, err := lower.Lower(c, model, ck, max(nodes, c.Nodes))
	if err != nil {
		return nil, err
	}
	low.Plan.Fabric = spec.Fabric
	s := &setup{config: c, lowered: low, plan: low.Plan}
	mem, err := env.Memory(low.Plan)
	if err != nil {
		return nil, err
	}
	return s, s.size(mem)
}

func withNodes(args map[string]any, nodes int) map[string]any {
	out := map[string]any{"nnodes": nodes}
	for k, v := range args { //determinism:any-order a copy of a map
		out[k] = v
	}
	return out
}

func checkpoint(spec engines.Spec, env engines.Environment) (*catalog.Model, *catalog.Checkpoint, error) {
	m, err := env.Model(spec.Model)
	if err != nil {
		return nil, nil, err
	}
	if spec.Checkpoint == "" {
		return m, &m.Checkpoints[0], nil
	}
	ck, ok := m.Checkpoint(spec.Checkpoint)
	if !ok {
		var names []string
		for i := range m.Checkpoints {
			names = append(names, m.Checkpoints[i].Name)
		}
		return nil, nil, &diag.Refusal{Field: "checkpoint", Value: spec.Checkpoint, Problem: "is no checkpoint of " + m.Name, Accept: diag.OneOf(spec.Checkpoint, names), Rule: "SUB-3"}
	}
	return m, ck, nil
}

// refusal puts vLLM's own words into the shape every refusal has. Of several faults
// the field is the first that args state: a value derived from it fails as well.
func refusal(err error, args map[string]any) error {
	if e, ok := errors.AsType[*sched.StartupError](err); ok {
		return &diag.Refusal{Field: "engine.args", Problem: e.Text, Rule: "X1"}
	}
	u, ok := errors.AsType[*config.Upstream](err)
	if !ok {
		return err
	}
	named := func(i config.Item) string { return strings.ReplaceAll(i.Loc, "_", "-") }
	at := max(0, slices.IndexFunc(u.Items, func(i config.Item) bool { return args[named(i)] != nil }))
	r := &diag.Refusal{Field: "engine.args", Problem: u.Error(), Rule: "X1"}
	if at < len(u.Items) && u.Items[at].Loc != "" {
		name := named(u.Items[at])
		r.Field += "." + name
		if v := args[name]; v != nil {
			r.Value = fmt.Sprint(v)
		}
		if accept, ok := strings.CutPrefix(u.Items[at].Message, "Input should be "); ok {
			r.Accept = accepted(accept)
			if n, err := humanInt(r.Value); err == nil && u.Items[at].Type == "int_parsing" {
				r.Accept += fmt.Sprintf(": %d, as the command line alone reads %s", n, r.Value)
			}
		}
	}
	return r
}

// accepted is what pydantic's "Input should be" goes on to name.
func accepted(text string) string {
	switch {
	case strings.HasPrefix(text, "a "): // what was got instead follows
		text, _, _ = strings.Cut(text, ",")
	case strings.HasPrefix(text, "greater") || strings.HasPrefix(text, "less"):
		text = "a value " + text
	}
	return text
}
