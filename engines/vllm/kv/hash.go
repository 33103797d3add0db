package kv

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Digest is a block hash as upstream computes it.
type Digest [sha256.Size]byte

// Hasher computes upstream's chained block hashes:
// H(parent or none, (tokens), extra keys or None).
//
// Source: vllm/v1/core/kv_cache_utils.py:98-157, 580-770; vllm/utils/hashing.py.
type Hasher struct {
	none   Digest
	encode func(dst []byte, parent []byte, tokens []int32, extra []string) []byte
	buf    []byte
	sum    hash.Hash
}

// NewHasher returns the hasher of a prefix_caching_hash_algo.
func NewHasher(algorithm string) (*Hasher, error) {
	h := &Hasher{sum: sha256.New()}
	const seed = "vllm-none-hash"
	switch algorithm {
	case "sha256":
		h.encode = pickleBlock
		h.none = sha256.Sum256(pickleFrame(pickleString(nil, seed)))
	case "sha256_cbor":
		h.encode = cborBlock
		h.none = sha256.Sum256(cborText(nil, seed))
	default:
		return nil, &diag.Refusal{Field: "prefix_caching_hash_algo", Value: algorithm, Problem: "this hash is not modelled",
			Accept: diag.OneOf(algorithm, []string{"sha256", "sha256_cbor"}), Rule: "VLM-4"}
	}
	return h, nil
}

// None is the parent of a first block.
func (h *Hasher) None() Digest { return h.none }

// Block hashes one block behind parent.
func (h *Hasher) Block(parent Digest, tokens []int32, extra []string) Digest {
	h.buf = h.encode(h.buf[:0], parent[:], tokens, extra)
	h.sum.Reset()
	h.sum.Write(h.buf)
	var d Digest
	h.sum.Sum(d[:0])
	return d
}

// pickleFrame wraps a pickled body: protocol 5 and one frame.
func pickleFrame(body []byte) []byte {
	body = append(body, '.')
	out := []byte{0x80, 5, 0x95}
	out = binary.LittleEndian.AppendUint64(out, uint64(len(body)))
	return append(out, body...)
}

// pickleBlock is the pickle of (parent, (tokens...), None or (extra...)).
func pickleBlock(dst, parent []byte, tokens []int32, extra []string) []byte {
	dst = append(dst, 0x80, 5, 0x95, 0, 0, 0, 0, 0, 0, 0, 0)
	head := len(dst)
	dst = append(dst, 'C', byte(len(parent)))
	dst = append(dst, parent...)
	dst = append(dst, 0x94)
	dst = pickleTuple(dst, len(tokens), func(dst []byte, i int) []byte { return pickleInt(dst, tokens[i]) })
	if len(extra) == 0 {
		dst = append(dst, 'N')
	} else {
		dst = pickleTuple(dst, len(extra), func(dst []byte, i int) []byte { return pickleString(dst, extra[i]) })
	}
	dst = append(dst, 0x87, 0x94, '.')
	binary.LittleEndian.PutUint64(dst[head-8:], uint64(len(dst)-head))
	return dst
}

func pickleTuple(dst []byte, n int, item func([]byte, int) []byte) []byte {
	if n > 3 {
		dst = append(dst, '(')
	}
	for i := range n {
		dst = item(dst, i)
	}
	switch {
	case n > 3:
		dst = append(dst, 't')
	case n > 0:
		dst = append(dst, 0x84+byte(n))
	default:
		return append(dst, ')')
	}
	return append(dst, 0x94)
}

func pickleInt(dst []byte, v int32) []byte {
	switch {
	case v >= 0 && v < 1<<8:
		return append(dst, 'K', byte(v))
	case v >= 0 && v < 1<<16:
		return binary.LittleEndian.AppendUint16(append(dst, 'M'), uint16(v))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 'J'), uint32(v))
}

func pickleString(dst []byte, s string) []byte {
	if len(s) < 256 {
		dst = append(dst, 0x8c, byte(len(s)))
	} else {
		dst = binary.LittleEndian.AppendUint32(append(dst, 'X'), uint32(len(s)))
	}
	return append(append(dst, s...), 0x94)
}

// cborBlock is the canonical CBOR of [parent, [tokens...], null or [extra...]].
func cborBlock(dst, parent []byte, tokens []int32, extra []string) []byte {
	dst = cborHead(dst, 4, 3)
	dst = append(cborHead(dst, 2, uint64(len(parent))), parent...)
	dst = cborHead(dst, 4, uint64(len(tokens)))
	for _, t := range tokens {
		dst = cborHead(dst, 0, uint64(t))
	}
	if len(extra) == 0 {
		return append(dst, 0xf6)
	}
	dst = cborHead(dst, 4, uint64(len(extra)))
	for _, e := range extra {
		dst = cborText(dst, e)
	}
	return dst
}

func cborText(dst []byte, s string) []byte {
	return append(cborHead(dst, 3, uint64(len(s))), s...)
}

// cborHead writes a major type and its argument in the shortest form (RFC 8949 §4.2).
func cborHead(dst []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

// Interner gives each digest a BlockHash, in order of first sight, and back.
type Interner struct {
	ids     map[Digest]BlockHash
	digests []Digest
}

// ID is the identity of d.
func (in *Interner) ID(d Digest) BlockHash {
	if id, ok := in.ids[d]; ok {
		return id
	}
	if in.ids == nil {
		in.ids = make(map[Digest]BlockHash)
	}
	in.digests = append(in.digests, d)
	id := BlockHash(len(in.digests))
	in.ids[d] = id
	return id
}

// Digest is the inverse of ID.
func (in *Interner) Digest(id BlockHash) Digest { return in.digests[id-1] }

// Bytes is the digest's own slice.
func (d Digest) Bytes() []byte { return slices.Clone(d[:]) }
