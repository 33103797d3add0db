package vllm

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

// Version is what a scenario's engine.version must say.
const Version = "main-2f41c894"

//go:embed fields.json
var fieldsJSON []byte

var fieldList = sync.OnceValues(func() (*fields.List, error) { return fields.Parse("engines/vllm/fields.json", fieldsJSON) })

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
func (*Kind) Name() string { return "vllm" }

// Upstream is the modelled release.
func (*Kind) Upstream() engines.Upstream {
	return engines.Upstream{
		Repository: "vllm-project/vllm", Commit: "2f41c894e320a07a46a360ee72149dd84d6f4bec", Date: "2026-08-20", Version: Version,
		Note: "the design asks for v0.32.0; this commit, after v0.28.0, is the latest whose own code could be run and recorded",
	}
}

// Fields is the field list (VLM-3).
func (k *Kind) Fields() *fields.List { return k.fields }

// New resolves spec, sizes the KV cache and returns an engine, or refuses in
// vLLM's words.
func (k *Kind) New(spec engines.Spec, env engines.Environment) (engines.Engine, error) {
	s, err := k.prepare(spec, env)
	if err != nil {
		return nil, err
	}
	parts := Parts{Sched: s.schedule(), Plan: s.plan, Padding: &s.lowered.Padding, EveryToken: spec.EveryToken}
	if parts.Pricer, err = env.Pricer(s.plan); err != nil {
		return nil, err
	}
	if d := s.config.Spec; d != nil {
		if parts.Acceptance, err = env.Acceptance(spec.Model, d.Method, d.Tokens); err != nil {
			return nil, err
		}
	}
	if n := s.config.DP; n > 1 {
		r, err := AssembleRanks(parts, n)
		if err != nil {
			return nil, refusal(err, spec.Args)
		}
		return r, nil
	}
	e, err := Assemble(parts)
	if err != nil {
		return nil, refusal(err, spec.Args)
	}
	return e, nil
}

// schedule is what the scheduler reads of a resolved configuration.
func (s *setup) schedule() sched.Config {
	c := s.config
	out := sched.Config{
		MaxNumSeqs: c.MaxSeqs, MaxNumBatchedTokens: c.MaxBatchedTokens, MaxModelLen: c.MaxModelLen, ChunkedPrefill: c.ChunkedPrefill,
		LongPrefillTokenThreshold: c.LongPrefill, Async: c.Async, PipelineParallel: c.PP, Watermark: c.Watermark, ReserveFullISL: c.ReserveFullISL,
		Layers: s.lowered.Layers, BlockSize: s.lowered.Block, NumBlocks: s.budget.blocks, PrefixCaching: c.PrefixCaching,
		Retention: kv.Dense, DisableHybrid: c.DisableHMA, AlignedMamba: c.MambaCacheMode == "align",
	}
	if c.Policy == "priority" {
		out.Policy = sched.Priority
	}
	if !c.V2Runner {
		out.Runner = sched.RunnerV1
	}
	if c.MaxScheduledTokens != nil {
		out.MaxNumScheduledTokens = *c.MaxScheduledTokens
	}
	if c.Retention != nil {
		out.Retention = *c.Retention
	}
	if c.DP > 1 { // ranks that step alone have no throttle (vllm/v1/engine/core.py:2160-2168)
		out.PrefillInterval = c.PrefillInterval
	}
	if d := c.Spec; d != nil {
		out.Speculative = &sched.Speculative{Method: d.Method, Tokens: d.Tokens, Parallel: d.ParallelDrafting}
		if d.Method == "mtp" {
			out.Speculative.Modules = c.Model.Predictors
		}
	}
	return out
}

//go:embed surface.json
var surfaceJSON []byte

var surfaceList = sync.OnceValues(func() (*fields.Surface, error) { return fields.ParseSurface("engines/vllm/surface.json", surfaceJSON) })

// Surface is the surface list (VLM-4).
func (*Kind) Surface() (*fields.Surface, error) { return surfaceList() }
