package sglang

// This file is the project's own: it registers the port.

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Version is what a scenario's engine.version must say.
const Version = "main-0bda0b16"

//go:embed fields.json
var fieldsJSON []byte

//go:embed surface.json
var surfaceJSON []byte

var (
	fieldList = sync.OnceValues(func() (*fields.List, error) {
		l, err := fields.Parse("engines/sglang/fields.json", fieldsJSON)
		if err == nil {
			l.Aliases = aliases
		}
		return l, err
	})
	surfaceList = sync.OnceValues(func() (*fields.Surface, error) {
		return fields.ParseSurface("engines/sglang/surface.json", surfaceJSON)
	})
)

// Kind is the port as the simulator registers it.
type Kind struct{ fields *fields.List }

// New returns the port; its only error is a broken embedded field list.
func New() (*Kind, error) {
	l, err := fieldList()
	if err != nil {
		return nil, err
	}
	return &Kind{l}, nil
}

// Name is the engine kind.
func (*Kind) Name() string { return "sglang" }

// Upstream is the modelled release.
func (*Kind) Upstream() engines.Upstream {
	return engines.Upstream{
		Repository: "sgl-project/sglang", Commit: "0bda0b168ad5bf7311ae639904489a4698a05546", Date: "2026-08-20", Version: Version,
		Note: "the design asks for v0.5.23; this commit, after v0.5.15.post1, is the latest whose own code could be run and recorded",
	}
}

// Fields is the field list (SGL-3); Surface the surface list.
func (k *Kind) Fields() *fields.List            { return k.fields }
func (*Kind) Surface() (*fields.Surface, error) { return surfaceList() }

// New resolves spec, sizes the KV cache and returns an engine, or refuses.
func (k *Kind) New(spec engines.Spec, env engines.Environment) (engines.Engine, error) {
	s, err := k.prepare(spec, env)
	if err != nil {
		return nil, err
	}
	config, err := s.schedule()
	if err != nil {
		return nil, err
	}
	pricer, err := env.Pricer(s.plan)
	if err != nil {
		return nil, err
	}
	parts := s.parts(config, pricer)
	parts.EveryToken = spec.EveryToken
	return Assemble(parts), nil
}

// Explain resolves spec without building an engine: every setting with its source,
// the terms of the KV budget, and the plan.
func (k *Kind) Explain(spec engines.Spec, env engines.Environment) ([]engines.Resolved, *plan.PoolPlan, error) {
	s, err := k.prepare(spec, env)
	if err != nil {
		return nil, nil, err
	}
	var out []engines.Resolved
	for _, name := range slices.Sorted(maps.Keys(s.config.Values)) {
		src := s.config.Sources[name]
		out = append(out, engines.Resolved{Name: name, Value: s.config.Values[name], Source: src.Kind, Why: src.Why})
	}
	for _, c := range s.lowered.Choices {
		out = append(out, engines.Resolved{Name: c.Name, Value: c.Value, Source: "rule", Why: c.Why})
	}
	return append(out, s.terms()...), s.plan, nil
}

// terms are the KV budget's parts, of one rank.
func (s *setup) terms() []engines.Resolved {
	b := s.budget
	term := func(name string, v quantity.Bytes, why string) engines.Resolved {
		return engines.Resolved{Name: name, Value: fmt.Sprintf("%.0f bytes (%v)", float64(v), v), Source: "rule", Why: why}
	}
	return []engines.Resolved{
		term("memory.device", b.memory.Device, "memory plan, "+b.memory.Method.String()),
		term("memory.context", b.memory.Context, "memory plan, "+b.memory.Method.String()),
		term("memory.weights", b.memory.Weights, "resident tensors"),
		term("memory.states", b.states, "recurrent states of the running requests"),
		term("kv-budget", s.plan.KVBudget[0], "mem-fraction-static of what was free before loading, less weights and states"),
		{Name: "max-total-num-tokens", Value: fmt.Sprint(b.tokens), Source: "rule", Why: fmt.Sprintf("budget over %.0f bytes a token, in whole pages", float64(s.lowered.TokenBytes))},
		{Name: "resolved max-running-requests", Value: fmt.Sprint(b.maxRunning), Source: "rule", Why: "stated or by pool and context length, at most half the tokens"},
	}
}
