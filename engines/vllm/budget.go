package vllm

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// budget is the KV budget with every term it came from.
type budget struct {
	memory  plan.MemoryBreakdown
	request []quantity.Bytes // gpu_memory_utilization of each stage's device
	page    quantity.Bytes   // bytes of one block over a group's layers
	blocks  int              // null block included
	groups  []kv.GroupSpec
}

// size applies vLLM's rule: what gpu_memory_utilization allows, less weights, the
// profiling step's peak, workspaces, what the driver and the communicators hold
// and, unless told not to estimate them, the captured graphs; the rest in whole
// blocks, the fewest of any stage. kv_cache_memory_bytes replaces all of it,
// num_gpu_blocks_override the block count.
//
// Source: vllm/v1/worker/gpu_worker.py determine_available_memory,
// vllm/v1/core/kv_cache_utils.py get_num_blocks, may_override_num_blocks.
func (s *setup) size(mem plan.MemoryBreakdown) error {
	c := s.config
	groups, err := kv.Group(s.lowered.Layers, c.DisableHMA)
	if err != nil {
		return err
	}
	s.budget = budget{memory: mem, groups: groups}
	for _, g := range s.plan.KV {
		s.budget.page = max(s.budget.page, g.BytesPerPage)
	}
	blocks := math.MaxInt
	for _, m := range mem.Stages {
		request := quantity.Bytes(float64(m.Device) * c.GPUMemory)
		s.budget.request = append(s.budget.request, request)
		free := request - m.Weights - m.Activations - m.Buffers - m.Context
		if c.Kernels.EstimateGraphs {
			free -= m.Graphs
		}
		if c.KVCacheMemoryBytes != nil {
			free = quantity.Bytes(*c.KVCacheMemoryBytes)
		}
		s.plan.KVBudget = append(s.plan.KVBudget, max(0, free))
		if free <= 0 && c.BlocksOverride == nil {
			return &diag.Refusal{Field: "engine.args.gpu-memory-utilization", Value: fmt.Sprint(c.GPUMemory), Rule: "X1",
				Problem: "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
				Accept:  fmt.Sprintf("a share of %v that holds weights of %v and %v besides", m.Device, m.Weights, m.Activations+m.Buffers+m.Context+m.Graphs)}
		}
		blocks = min(blocks, int(math.Floor(float64(max(0, free))/float64(s.budget.page))))
	}
	if c.BlocksOverride != nil {
		blocks = *c.BlocksOverride
	}
	s.budget.blocks = blocks
	return nil
}
