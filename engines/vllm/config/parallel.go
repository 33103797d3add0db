package config

import (
	"strconv"
	"strings"
)

// launchChecks are create_engine_config's own checks of the data-parallel options.
func launchChecks(r *reader, _ environment) error {
	c := r.c
	dp, external, hybrid := 1, false, false
	c.Nodes = 1
	node := 0
	tp, pp := 1, 1
	read := &reader{c: c, args: r.args} // type faults are reported by parallelConfig
	read.integer("data_parallel_size", &dp)
	read.integer("tensor_parallel_size", &tp)
	read.integer("pipeline_parallel_size", &pp)
	read.integer("nnodes", &c.Nodes)
	read.integer("node_rank", &node)
	read.boolean("data_parallel_external_lb", &external)
	read.boolean("data_parallel_hybrid_lb", &hybrid)
	if len(read.bad) > 0 {
		return nil
	}
	if external && hybrid {
		return valueError("Invalid data-parallel launch options: `--data-parallel-hybrid-lb` and `--data-parallel-external-lb` cannot be enabled together. Enable only one load-balancing mode.")
	}
	if world := tp * pp; c.Nodes > 1 {
		switch {
		case world*dp%c.Nodes != 0:
			return valueError("Invalid data-parallel launch options: `--nnodes %d` must evenly divide the total world size (%d). Adjust `--nnodes`, `--data-parallel-size`, `--pipeline-parallel-size`, or `--tensor-parallel-size`.", c.Nodes, world*dp)
		case node >= c.Nodes:
			return valueError("Invalid data-parallel launch options: `--node-rank` must be between 0 and %d; got `--node-rank %d`. Set it to this node's zero-based index.", c.Nodes-1, node)
		}
	}
	if r.args["data_parallel_rank"] != nil {
		external = true
	}
	if external && c.Model.Experts == 0 {
		return valueError("Non-MoE models do not support external data parallel mode. For external load balancing, launch independent vLLM instances without --data-parallel-* arguments.")
	}
	if hybrid && r.args["data_parallel_size_local"] == nil {
		return valueError("Invalid data-parallel launch options: `--data-parallel-hybrid-lb` requires `--data-parallel-size-local`. Set it to the number of data-parallel ranks on this node.")
	}
	c.ExternalLB, c.HybridLB = external, hybrid
	return nil
}

var all2alls = []string{"naive", "pplx", "deepep_high_throughput", "deepep_low_latency", "deepep_v2", "mori_high_throughput",
	"mori_low_latency", "nixl_ep", "allgather_reducescatter", "flashinfer_all2allv", "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"}

func parallelConfig(r *reader, env environment) error {
	c := r.c
	c.TP, c.PP, c.DP, c.PCP, c.DCP, c.All2All = 1, 1, 1, 1, 1, "allgather_reducescatter"
	local := 0
	one := bound{"ge", 1}
	r.integer("pipeline_parallel_size", &c.PP, one)
	r.integer("tensor_parallel_size", &c.TP, one)
	r.integer("prefill_context_parallel_size", &c.PCP, one)
	r.integer("data_parallel_size", &c.DP, one)
	r.integer("data_parallel_size_local", &local, bound{"ge", 0})
	r.boolean("enable_expert_parallel", &c.EP)
	r.literal("all2all_backend", &c.All2All, all2alls...)
	r.boolean("enable_dbo", &c.DBO)
	r.integer("decode_context_parallel_size", &c.DCP, one)
	backend := ""
	r.literal("distributed_executor_backend", &backend, "ray", "mp", "uni", "external_launcher")
	if err := r.done(); err != nil {
		return err
	}
	if local > c.DP {
		return reject("data_parallel_size_local (%d) must be <= data_parallel_size (%d)", local, c.DP)
	}
	switch {
	case c.ExternalLB:
		c.DPLocal = 1
	case local > 0:
		c.DPLocal = local
	default:
		c.DPLocal = c.DP
	}
	if err := c.executor(backend); err != nil {
		return err
	}
	return c.partition(env)
}

// partition reads a pipeline split by hand, which the model's loading checks
// (distributed/utils.py, get_pp_indices).
func (c *Config) partition(env environment) error {
	text, ok := env.vars["VLLM_PP_LAYER_PARTITION"]
	if !ok {
		return nil
	}
	sum := 0
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return valueError("Invalid partition string: %s", text)
		}
		c.Partition = append(c.Partition, n)
		sum += n
	}
	switch {
	case len(c.Partition) != c.PP:
		return valueError("len(partitions)=%d does not match pp_size=%d.", len(c.Partition), c.PP)
	case sum != c.Model.Layers:
		return valueError("sum(partitions)=%d does not match num_hidden_layers=%d.", sum, c.Model.Layers)
	}
	return nil
}

// executor picks the executor and checks the world size against the node
// (parallel.py, __post_init__).
func (c *Config) executor(stated string) error {
	c.Executor = stated
	if stated == "" {
		c.Executor = "uni"
		if c.WorldSize() > 1 || c.DP > 1 {
			c.Executor = "mp"
		}
		if c.WorldSize() > c.GPUsPerNode*c.Nodes {
			return reject("World size (%d) is larger than the number of available GPUs (%d) in this node. If this is intentional and you are using:\n"+
				"- ray, set '--distributed-executor-backend ray'.\n- multiprocessing, set '--nnodes' appropriately.", c.WorldSize(), c.GPUsPerNode)
		}
		c.note("distributed_executor_backend", Rule, "more than one rank runs in processes")
	}
	if c.TP%c.DCP != 0 {
		return reject("tp_size=%d must be divisible by dcp_size=%d.", c.TP, c.DCP)
	}
	return nil
}
