// Package kv is vLLM's KV-cache framework: specs, groups, the coordinator, the
// managers of each attention kind, the block pool and block hashing.
//
// In: the groups of a model, a pool size, and one Sequence a request whose token
// counts the scheduler keeps. Out: block tables, prefix hits, and cache events
// through a Sink. It never looks at tokens: a full block is known by a BlockHash,
// an opaque identity that a HashSource supplies. Whoever has real tokens computes
// it with a Hasher; a simulation hands over synthetic identities, and then no
// digest is ever computed.
//
// Invariants: block 0 is the null block and is never free, used or hashed;
// usable blocks = free + blocks with a reference; a block's hash leaves the
// index before the block is handed out again. Rules kept: VLM-1, VLM-4, SIM-7.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec vllm/v1/core,
// files named per function.
package kv

// This file is the project's own: the nouns that the files of the package share.

// BlockID is a block's number in the pool.
type BlockID int32

// Null is the block that stands where attention no longer reads.
const Null BlockID = 0

// BlockHash identifies a full block's content together with everything before
// it. Zero is no hash.
type BlockHash uint64

// HashSource gives the identity of a sequence's i-th full hash block; those of the
// next run-1 blocks count up from it. It is asked only for blocks whose tokens are all
// known.
type HashSource interface {
	BlockHash(i int) (hash BlockHash, run int)
}

// Sequence is what the cache knows of one request. The scheduler owns the counts.
type Sequence struct {
	Hashes   HashSource
	Prompt   int // prompt tokens
	Tokens   int // prompt and output tokens known
	Computed int // tokens whose KV has been computed or is being computed
	InFlight int // of Computed, tokens of batches whose output has not been processed

	// junction is where another cached sequence parts from this one, in tokens; 0 is
	// unknown. Sparse groups keep the state there.
	junction int
	tables   []table
}

// Reset forgets everything but the tables' storage, so that a pooled request can
// be used again. The sequence must hold no block.
func (s *Sequence) Reset() {
	*s = Sequence{tables: s.tables}
}

// Junction is where another cached sequence parts from this one, in tokens.
func (s *Sequence) Junction() int { return s.junction }

// Blocks is the sequence's table in a group, as long as the sequence holds blocks.
func (s *Sequence) Blocks(group int) []BlockID {
	if group >= len(s.tables) {
		return nil
	}
	return s.tables[group].blocks
}

// table is one sequence's blocks in one group.
type table struct {
	blocks []BlockID
	cached int   // leading blocks already offered to the index
	kept   int   // end of the last block that carries a hash
	near   int32 // where in the index the last of them was put
	held   bool  // counts among the group's holders

	// started and state belong to aligned mamba groups: whether a state block was ever
	// allocated, and the index of the state before the running one, -1 for none.
	started bool
	state   int
}

func (t *table) clear() {
	*t = table{blocks: t.blocks[:0], state: -1}
}
