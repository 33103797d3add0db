package sglang

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/config"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/lower"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// setup is one server after start-up and before its first step.
type setup struct {
	config  *config.Config
	lowered *lower.Lowered
	plan    *plan.PoolPlan
	budget  budget
}

// budget is the KV budget with every term it came from.
type budget struct {
	memory     plan.StageMemory
	before     quantity.Bytes // free before the weights are loaded
	states     quantity.Bytes // recurrent states of every running request
	tokens     int            // max_total_num_tokens
	maxRunning int
}

// prepare runs start-up: admit the settings, resolve them, lower the model, size the
// KV cache.
func (k *Kind) prepare(spec engines.Spec, env engines.Environment) (*setup, error) {
	var err error
	if spec.Args, err = named(spec.Args); err != nil {
		return nil, err
	}
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
	nodes := max(1, spec.Nodes)
	c, err := config.Resolve(config.Input{Args: spec.Args, Env: spec.Env, Graph: model.Graph, Checkpoint: ck, Chip: chip, Nodes: nodes})
	if err != nil {
		return nil, err
	}
	low, err := lower.Lower(c, nodes)
	if err != nil {
		return nil, err
	}
	low.Plan.Fabric = spec.Fabric
	mem, err := env.Memory(low.Plan)
	if err != nil {
		return nil, err
	}
	s := &setup{config: c, lowered: low, plan: low.Plan, budget: budget{memory: mem.Stages[0]}}
	return s, s.size()
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
		return nil, nil, &diag.Refusal{Field: "checkpoint", Value: spec.Checkpoint, Problem: "is no checkpoint of " + m.Name, Accept: "a checkpoint of its model.yaml", Rule: "SUB-3"}
	}
	return m, ck, nil
}

// size applies SGLang's rule: of what was free before loading, mem_fraction_static
// less the weights holds states and tokens; the rest is left to activations, graphs
// and workspaces, which are not measured first
// (mem_cache/kv_cache_configurator.py:1764, 1873). With the radix cache off and the
// running requests stated, each of those gets a state (inferred, not on record).
func (s *setup) size() error {
	c, b := s.config, &s.budget
	b.before = b.memory.Device - b.memory.Context
	free := quantity.Bytes(float64(b.before)*c.MemFraction) - b.memory.Weights
	if n := c.MaxRunning; s.lowered.StateBytes > 0 {
		if n == 0 {
			n = int(math.Floor(float64(free) * stateShare / float64(s.lowered.StateBytes)))
		}
		b.states = quantity.Bytes(float64(n) * float64(s.lowered.StateBytes))
		free -= b.states
	}
	s.plan.KVBudget = []quantity.Bytes{max(0, free)}
	b.tokens = int(math.Floor(max(0, float64(free)/float64(s.lowered.TokenBytes)))) / c.Page * c.Page
	if c.MaxTotal > 0 {
		b.tokens = min(b.tokens, c.MaxTotal/c.Page*c.Page)
	}
	if b.tokens <= 0 {
		return &diag.Refusal{
			Field: "engine.args.mem-fraction-static", Value: fmt.Sprint(c.MemFraction), Rule: "X1",
			Problem: "Not enough memory. Please try to increase --mem-fraction-static.",
			Accept:  fmt.Sprintf("a share of %v that holds weights of %v besides", b.before, b.memory.Weights),
		}
	}
	b.maxRunning = c.MaxRunning
	if b.maxRunning == 0 {
		b.maxRunning = min(max(int(math.Floor(float64(b.tokens)/float64(c.ContextLen)*512)), 2048), 4096)
	}
	if b.maxRunning = min(b.maxRunning, b.tokens/2); b.maxRunning == 0 {
		return &diag.Refusal{Field: "engine.args.max-running-requests", Problem: "max_running_requests is zero", Accept: "a pool of 2 tokens or more", Rule: "X1"}
	}
	return nil
}

// stateShare is mamba_full_memory_ratio 0.9 as a share of what is free.
const stateShare = 0.9 / 1.9

// schedule is what the scheduler reads of a resolved launch.
func (s *setup) schedule() (sched.Config, error) {
	c := s.config
	tuning := sched.Untuned()
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if _, err := tuning.Set(name, c.Env[name]); err != nil {
			return sched.Config{}, &diag.Refusal{Field: "engine.env." + name, Value: c.Env[name], Problem: "invalid value: " + err.Error(), Accept: "the variable left out", Rule: "X1"}
		}
	}
	return sched.Config{
		TotalTokens: s.budget.tokens, MaxRunning: s.budget.maxRunning, ContextLen: c.ContextLen, ChunkSize: c.Chunk, MaxPrefill: c.MaxPrefill,
		PageSize: c.Page, Policy: sched.Policy(c.Policy), Conservative: c.Conservative, MixedChunk: c.MixedChunk, Overlap: c.Overlap,
		MaxQueued: c.MaxQueued, PrefillMax: c.PrefillMax, DecodeCredits: c.DecodeCredits, Tuning: tuning, Seed: uint32(c.Seed),
		Priorities: c.Priorities, LowFirst: c.LowFirst, NoPreemption: c.NoPreemption, PreemptThreshold: c.PreemptAbove, DecodeLogInterval: c.DecodeLog,
	}, nil
}

func (s *setup) parts(config sched.Config, pricer engines.Pricer) Parts {
	return Parts{
		Sched: config, Eviction: kv.Policy(s.config.Eviction), NoTree: s.config.NoTree, Plan: s.plan, Attends: s.lowered.Attends,
		Padding: s.lowered.Padding, Pricer: pricer, RecvInterval: s.config.RecvInterval,
	}
}
