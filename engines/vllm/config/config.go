package config

// Follows vllm/config: model.py, cache.py, parallel.py, scheduler.py, compilation.py.

// Config is one engine's settings as start-up leaves them. Sources says where each
// argument's value came from, keyed by the argument's upstream name.
type Config struct {
	Model Model
	Chip  Chip
	Usage Usage

	// ModelConfig
	Dtype         string // "bfloat16", "float16", "float32"
	Runner        string // "generate", "pooling", "draft"
	MaxModelLen   int
	EnforceEager  bool
	SlidingWindow int // of a model that is windowed throughout and not disabled; 0 is None
	WindowOff     bool
	Quantization  string // as stated; "" leaves it to the checkpoint
	MoEActivation string // quantization_config.moe.activation; "" is the kernel's own choice

	// CacheConfig
	BlockSize           int
	UserBlockSize       bool
	CacheDtype          string
	GPUMemory           float64
	KVCacheMemoryBytes  *int
	BlocksOverride      *int
	PrefixCaching       bool
	HashAlgo            string
	Retention           *int // prefix_cache_retention_interval; nil caches every boundary
	MambaCacheMode      string
	MambaDtype          string // of convolution tails: "auto" is the model's
	MambaStateDtype     string // of recurrent states: "auto" is the checkpoint's
	KVOffloadingGiB     float64
	KVOffloadingBackend string

	// ParallelConfig
	TP, PP, DP, DPLocal, PCP, DCP int
	EP                            bool
	ExternalLB, HybridLB          bool
	Nodes                         int
	GPUsPerNode                   int
	Executor                      string
	All2All                       string
	DBO                           bool
	Partition                     []int // VLLM_PP_LAYER_PARTITION; nil is the even split

	// SchedulerConfig
	MaxBatchedTokens   int
	MaxScheduledTokens *int
	MaxSeqs            int
	LongPrefill        int
	Watermark          float64
	ReserveFullISL     bool
	ChunkedPrefill     bool
	Policy             string
	Async              bool
	StreamInterval     int
	PrefillInterval    int
	DisableHMA         bool

	Spec      *Speculative
	LoRA      *LoRA
	Connector string // kv_transfer_config.kv_connector; "" is none
	KVEvents  bool
	Level     int
	Mode      string // performance_mode
	Compile   Compilation
	Kernels   Kernels
	V2Runner  bool
	InFlight  int // max_concurrent_batches
	Sources   map[string]Source
}

// WorldSize is the ranks of one data-parallel replica.
func (c *Config) WorldSize() int { return c.TP * c.PP * c.PCP }

// Drafts is the fixed number of speculative tokens; 0 is none.
func (c *Config) Drafts() int {
	if c.Spec == nil {
		return 0
	}
	return c.Spec.Tokens
}

// Speculative is speculative_config.
type Speculative struct {
	Method           string
	Model            string
	Tokens           int
	LookupMin        int
	LookupMax        int
	UnpaddedDrafts   bool // disable_padded_drafter_batch
	ParallelDrafting bool
}

// LoRA is the admission side of LoRAConfig.
type LoRA struct{ MaxLoRAs, MaxRank int }

// Compilation is the part of CompilationConfig that reaches decisions or prices.
type Compilation struct {
	Mode        string // "NONE", "STOCK_TORCH_COMPILE", "DYNAMO_TRACE_ONCE", "VLLM_COMPILE"
	Graphs      string // cudagraph_mode
	Sizes       []int  // capture sizes, ascending
	MaxSize     int
	CustomOps   []string
	NoSplitting bool // splitting_ops given as []: attention inside the compiled graph
	Pass        Passes
}

// Passes are the fusion passes that change which kernels run.
type Passes struct {
	FuseAllReduceRMS bool
	FuseAttnQuant    bool
	EliminateNoops   bool
}

// Kernels are the settings kernel selection reads.
type Kernels struct {
	Attention         string // --attention-backend; "" is automatic
	MoE               string // --moe-backend
	Linear            string // --linear-backend
	DeepGEMM          bool   // VLLM_USE_DEEP_GEMM
	MoEInt4FlashInfer bool   // VLLM_USE_FLASHINFER_MOE_INT4
	CustomAllReduce   bool   // not --disable-custom-all-reduce
	BatchInvariant    bool   // VLLM_BATCH_INVARIANT
	EstimateGraphs    bool   // VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS
}
