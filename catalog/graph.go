package catalog

import "github.com/inference-sim/accuracy-dashboard/internal/quantity"

// GraphSchema names the layout of graph.yaml.
const GraphSchema = "blis.graph/v1"

// Graph is one model's structure as its checkpoint states it: layers, shapes and
// stored formats, and nothing of how an engine shards, fuses or pads them
// (SUB-15). It is written by catalog/graph and never edited by hand (SUB-3).
//
// Layers are run-length encoded over named blocks: {repeat: 15, pattern: [a, a, a,
// b]} is 60 layers. Vision and audio towers are not part of a Graph; Omitted names
// those the checkpoint carries.
type Graph struct {
	Schema       string          `yaml:"schema"`
	Model        string          `yaml:"model"`        // directory name under models/
	Architecture string          `yaml:"architecture"` // of the language model, as in config.json
	DerivedFrom  []Derivation    `yaml:"derived_from"`
	Hidden       int             `yaml:"hidden"`
	Vocab        int             `yaml:"vocab"`
	MaxPosition  int             `yaml:"max_position"` // tokens a position can reach with Rope as configured
	Tied         bool            `yaml:"tied_embeddings"`
	Dtype        quantity.Format `yaml:"dtype"` // of unquantised tensors and activations
	Rope         Rope            `yaml:"rope"`
	Blocks       []Block         `yaml:"blocks"`
	Layers       []LayerGroup    `yaml:"layers"`
	MTP          *MTP            `yaml:"mtp,omitempty"`
	Omitted      []string        `yaml:"omitted,omitempty"`
	Checkpoints  []GraphStorage  `yaml:"checkpoints"`
}

// Derivation is one vendor file a graph was read from. The file is not committed.
type Derivation struct {
	Repository string `yaml:"repository"` // that carries the file
	Revision   string `yaml:"revision"`   // its full commit hash
	Path       string `yaml:"path"`
	SHA256     string `yaml:"sha256"` // of the file's bytes
}

// Rope is the rotary position embedding.
type Rope struct {
	Scaling          string  `yaml:"scaling"` // none, llama3, yarn
	Theta            float64 `yaml:"theta"`
	Factor           float64 `yaml:"factor,omitempty"`
	OriginalPosition int     `yaml:"original_position,omitempty"` // tokens before scaling
}

// LayerGroup is Pattern, a list of block names, Repeat times in a row.
type LayerGroup struct {
	Repeat  int      `yaml:"repeat"`
	Pattern []string `yaml:"pattern,flow"`
}

// Block is one kind of decoder layer.
type Block struct {
	Name      string    `yaml:"name"`
	Norms     int       `yaml:"norms"` // RMS norms over hidden, besides QK norms
	Attention Attention `yaml:"attention"`
	MLP       MLP       `yaml:"mlp"`
}

// AttentionKind says what a layer's token mixer keeps for past tokens.
type AttentionKind string

const (
	Full       AttentionKind = "full"        // every past token
	Sliding    AttentionKind = "sliding"     // the last Window tokens
	Chunked    AttentionKind = "chunked"     // past tokens of the same Window-aligned chunk
	MLA        AttentionKind = "mla"         // one latent vector a past token (DeepSeek-V2 §2.1)
	SparseMLA  AttentionKind = "sparse_mla"  // MLA over the TopK tokens the Indexer picks (DeepSeek-V3.2 DSA)
	GatedDelta AttentionKind = "gated_delta" // a fixed-size state (Gated DeltaNet)
	Mamba2     AttentionKind = "mamba2"      // a fixed-size state (Mamba-2 SSD)
	NoMixer    AttentionKind = "none"        // the layer has no token mixer
)

// AttentionKinds lists every kind.
func AttentionKinds() []AttentionKind {
	return []AttentionKind{Full, Sliding, Chunked, MLA, SparseMLA, GatedDelta, Mamba2, NoMixer}
}

// Attention is the token mixer of a layer. Head counts are the model's, before
// any sharding. Latent is set for mla and sparse_mla, Indexer for sparse_mla,
// Recurrent for gated_delta and mamba2, Window for sliding and chunked.
type Attention struct {
	Kind         AttentionKind `yaml:"kind"`
	Heads        int           `yaml:"heads,omitempty"`
	KVHeads      int           `yaml:"kv_heads,omitempty"` // 0 for mla: the latent is shared by all heads
	HeadDim      int           `yaml:"head_dim,omitempty"` // of a query and a key
	ValueHeadDim int           `yaml:"value_head_dim,omitempty"`
	RotaryDim    int           `yaml:"rotary_dim,omitempty"` // elements of a head that rotate
	Window       int           `yaml:"window,omitempty"`     // tokens
	QKNorm       QKNorm        `yaml:"qk_norm,omitempty"`
	Bias         bool          `yaml:"bias,omitempty"`        // on the q, k, v and output projections
	Sinks        bool          `yaml:"sinks,omitempty"`       // one learned logit a head joins the softmax
	OutputGate   bool          `yaml:"output_gate,omitempty"` // q projection doubles; its half gates the output
	Latent       *Latent       `yaml:"latent,omitempty"`
	Indexer      *Indexer      `yaml:"indexer,omitempty"`
	Recurrent    *Recurrent    `yaml:"recurrent,omitempty"`
}

// QKNorm is the RMS norm on queries and keys.
type QKNorm string

const (
	NoQKNorm   QKNorm = ""
	PerHead    QKNorm = "per_head"   // one head_dim vector for all heads
	PerLayer   QKNorm = "per_layer"  // over the whole projection
	Unweighted QKNorm = "unweighted" // L2 norm without learned weights
)

// Latent is multi-head latent attention. A past token keeps KVRank + RopeDim
// elements; a head's query and key have NopeDim + RopeDim.
type Latent struct {
	QRank   int `yaml:"q_rank"` // 0: queries are projected in one step
	KVRank  int `yaml:"kv_rank"`
	NopeDim int `yaml:"nope_dim"`
	RopeDim int `yaml:"rope_dim"`
}

// Indexer scores past tokens and keeps the TopK best. A past token keeps HeadDim
// further elements for it.
type Indexer struct {
	Heads   int `yaml:"heads"`
	HeadDim int `yaml:"head_dim"`
	TopK    int `yaml:"top_k"`
}

// Recurrent is a layer whose memory of the past is one state a sequence: a matrix
// of KeyHeadDim x ValueHeadDim for each value head, and the last ConvKernel-1
// inputs of a causal convolution. For mamba2 a "key head" is a B/C group and
// KeyHeadDim the state size.
type Recurrent struct {
	KeyHeads     int             `yaml:"key_heads"`
	KeyHeadDim   int             `yaml:"key_head_dim"`
	ValueHeads   int             `yaml:"value_heads"`
	ValueHeadDim int             `yaml:"value_head_dim"`
	ConvKernel   int             `yaml:"conv_kernel"`
	StateDtype   quantity.Format `yaml:"state_dtype"`
}

// MLP is a layer's feed-forward part: gated (gate, up and down matrices), dense
// when MoE is nil.
type MLP struct {
	Inter int  `yaml:"inter,omitempty"` // dense intermediate size
	Bias  bool `yaml:"bias,omitempty"`
	MoE   *MoE `yaml:"moe,omitempty"`
}

// MoE is a layer of routed experts with optional shared ones.
type MoE struct {
	Experts     int    `yaml:"experts"`
	TopK        int    `yaml:"top_k"`
	Inter       int    `yaml:"inter"` // of one expert
	SharedInter int    `yaml:"shared_inter,omitempty"`
	SharedGate  bool   `yaml:"shared_gate,omitempty"` // a sigmoid gate scales the shared expert
	Groups      int    `yaml:"groups,omitempty"`      // experts are picked from TopKGroups of Groups
	TopKGroups  int    `yaml:"top_k_groups,omitempty"`
	Scoring     string `yaml:"scoring"`               // softmax, sigmoid
	RouterBias  bool   `yaml:"router_bias,omitempty"` // a learned bias or score correction per expert
	ExpertBias  bool   `yaml:"expert_bias,omitempty"` // on every expert matrix
}

// MTP is the multi-token-prediction head the config declares: Modules times
// Layers copies of Block, each module after a 2·hidden → hidden projection, two
// norms and one before the shared lm_head.
type MTP struct {
	Modules       int    `yaml:"modules"`
	Layers        int    `yaml:"layers"` // of one module
	Block         string `yaml:"block"`
	OwnEmbeddings bool   `yaml:"own_embeddings,omitempty"` // carries its own embedding and lm_head
}

// GraphStorage is how one checkpoint stores the graph's tensors.
type GraphStorage struct {
	Checkpoint string `yaml:"checkpoint"` // the vendor repository, e.g. nvidia/GLM-5-NVFP4
	Storage    `yaml:",inline"`
}

// Storage is a format for each class of tensors, and the format the checkpoint
// asks for its KV cache.
type Storage struct {
	KVCache quantity.Format           `yaml:"kv_cache"`
	Tensors map[Class]quantity.Format `yaml:"tensors"`
	MTP     map[Class]quantity.Format `yaml:"mtp_tensors,omitempty"` // where they differ from Tensors
}

// Class groups the tensors a checkpoint stores alike.
type Class string

const (
	Embedding     Class = "embedding"
	LMHead        Class = "lm_head"
	AttentionIn   Class = "attention_in"  // q, k, v; for mla both steps of q and kv
	AttentionOut  Class = "attention_out" // output projection
	IndexerLinear Class = "indexer"       // queries and keys of the indexer
	IndexerHead   Class = "indexer_head"  // its head weights
	RecurrentPart Class = "recurrent"     // every tensor of a gated_delta or mamba2 mixer
	DenseMLP      Class = "dense_mlp"
	SharedExpert  Class = "shared_expert"
	Expert        Class = "expert"
	Router        Class = "router"
	Norm          Class = "norm" // norms, biases, sinks: vectors
	MTPProjection Class = "mtp_projection"
)

// Classes lists every class in the order a reader meets them in a forward pass.
func Classes() []Class {
	return []Class{Embedding, Norm, AttentionIn, IndexerLinear, IndexerHead, RecurrentPart, AttentionOut, Router, DenseMLP, SharedExpert, Expert, LMHead, MTPProjection}
}
