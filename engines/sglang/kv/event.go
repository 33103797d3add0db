package kv

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Event is one entry of SGLang's KV event stream (disaggregation/kv_events.py at
// 0bda0b16). A block is a page.
type Event struct {
	Type   EventType
	Hashes []int64 // of the blocks, in order
	Parent *int64  // hash of the block before the first; nil at the start of a prompt
	Tokens []uint32
	Block  int
	Salt   string
}

// EventType names what happened.
type EventType string

const (
	Stored  EventType = "BlockStored"
	Removed EventType = "BlockRemoved"
	Cleared EventType = "AllBlocksCleared"
)

// saltDomain separates the digest a cache salt starts a chain with (found by trying
// prefixes against a recorded chain; upstream's file is not named by the record).
const saltDomain = "sglang-cache-salt-v1\x00"

// Events queues what the tree did until Take. A nil *Events records nothing.
type Events struct {
	queue []Event
	Token func(stream uint64, at int) uint32 // the token id hashed for a position of a stream
}

// NewEvents starts with the event of the reset every tree begins with.
func NewEvents(token func(uint64, int) uint32) *Events {
	return &Events{queue: []Event{{Type: Cleared}}, Token: token}
}

// Take returns what is queued and empties the queue.
func (e *Events) Take() []Event {
	if e == nil {
		return nil
	}
	q := e.queue
	e.queue = nil
	return q
}

// stored hashes a new leaf's pages, chained from its parent's last page, and joins
// them to the tail of the queue when they continue it.
func (e *Events) stored(n *Node, page int) {
	if e == nil {
		return
	}
	ev := Event{Type: Stored, Block: page, Salt: n.key.Ns.Salt, Tokens: e.tokens(n.key)}
	chain := n.parent.lastDigest()
	if chain != nil {
		h := blockHash(*chain)
		ev.Parent = &h
	} else if ev.Salt != "" {
		seed := sha256.Sum256([]byte(saltDomain + ev.Salt))
		chain = &seed
	}
	for at := 0; at < len(ev.Tokens); at += page {
		d := pageDigest(chain, ev.Tokens[at:at+page])
		n.digests = append(n.digests, d)
		ev.Hashes = append(ev.Hashes, blockHash(d))
		chain = &n.digests[len(n.digests)-1]
	}
	if last := e.tail(Stored); last != nil && ev.Parent != nil && *ev.Parent == last.Hashes[len(last.Hashes)-1] && last.Salt == ev.Salt {
		last.Hashes = append(last.Hashes, ev.Hashes...)
		last.Tokens = append(last.Tokens, ev.Tokens...)
		return
	}
	e.queue = append(e.queue, ev)
}

func (e *Events) removed(n *Node) {
	if e == nil {
		return
	}
	hashes := make([]int64, len(n.digests))
	for i, d := range n.digests {
		hashes[i] = blockHash(d)
	}
	if last := e.tail(Removed); last != nil {
		last.Hashes = append(last.Hashes, hashes...)
		return
	}
	e.queue = append(e.queue, Event{Type: Removed, Hashes: hashes})
}

// tail is the newest event when it is of type t.
func (e *Events) tail(t EventType) *Event {
	if i := len(e.queue) - 1; i >= 0 && e.queue[i].Type == t {
		return &e.queue[i]
	}
	return nil
}

func (e *Events) tokens(k Key) []uint32 {
	out := make([]uint32, 0, k.n)
	for r := range k.Each {
		for i := range r.Count {
			out = append(out, e.Token(r.Stream, r.Start+i))
		}
	}
	return slices.Clip(out)
}

func (n *Node) lastDigest() *[32]byte {
	if i := len(n.digests) - 1; i >= 0 {
		return &n.digests[i]
	}
	return nil
}

// pageDigest is SHA-256 over the digest before it, if any, and the tokens as
// little-endian uint32 (mem_cache/utils.py).
func pageDigest(prior *[32]byte, tokens []uint32) [32]byte {
	h := sha256.New()
	if prior != nil {
		h.Write(prior[:])
	}
	var b [4]byte
	for _, t := range tokens {
		binary.LittleEndian.PutUint32(b[:], t)
		h.Write(b[:])
	}
	return [32]byte(h.Sum(nil))
}

// blockHash is the first 16 hex digits as a signed number.
func blockHash(d [32]byte) int64 { return int64(binary.BigEndian.Uint64(d[:8])) }
