// Package lower turns a resolved vLLM configuration and a model graph into what
// runs: the layers of one rank in execution order with the kernel of each, the
// resident weights after post-processing, the KV groups, the captured graphs and
// how a step is padded to them.
//
// In: a config.Config, a catalog model and checkpoint. Out: a plan.PoolPlan
// without KV budget, the KV layers the scheduler groups, and each kernel choice
// with its reason. Where the choice upstream makes is not on record the reason
// begins with "inferred". It sizes no activation, prices nothing and refuses a
// model whose layers need what the port does not run, by upstream name.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec
// vllm/model_executor, vllm/v1/worker, vllm/v1/cudagraph_dispatcher.py. Kernel
// names are those of the operator tables (ai-dynamo/aiconfigurator@095f58a5,
// vllm 0.24.0, column kernel_source). Rules kept: SUB-1, SUB-7, SUB-16, VLM-7.
package lower
