package kv

// Sink receives cache events in the order upstream publishes them. A nil Sink
// costs nothing.
//
// Source: vllm/distributed/kv_events.py:36-120, block_pool.py:300-545.
type Sink interface {
	// Stored reports newly hashed blocks. s is valid during the call only.
	Stored(s *Stored)
	Removed(hash BlockHash, group int)
	Cleared()
}

// Stored says which blocks of a sequence became findable in one caching call.
type Stored struct {
	Sequence  *Sequence
	Group     int
	Spec      *GroupSpec
	Hashes    []BlockHash // of the blocks that are findable; a sparse group leaves some out
	Parent    BlockHash   // hash of the block before From; 0 at the start of a sequence
	From, To  int         // token range covered
	BlockSize int         // tokens a hash stands for
}
