package oracle

// This file is the project's own: it makes the recorder's tokens.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

// endOfSequence is the token the recorder samples to end a request.
const endOfSequence = 2

// streamToken is token i of a recorder's stream.
func streamToken(stream, i int) int32 {
	return int32(1000 + (1000003*stream+7919*i+17)%99991)
}

// content is one request's tokens and block hashes, made as they are asked for.
type content struct {
	hasher   *kv.Hasher
	interner *kv.Interner
	unit     int // tokens a hash block
	tokens   []int32
	prompt   int
	stream   int
	stopAt   int
	adapter  []string // extra keys of every block
	extra    []string // extra keys of the first block
	last     kv.Digest
	ids      []kv.BlockHash
}

func newContent(r *request, stopAt int, hasher *kv.Hasher, interner *kv.Interner, unit int) *content {
	c := &content{hasher: hasher, interner: interner, unit: unit, stream: *r.OutStream, stopAt: stopAt, last: hasher.None()}
	c.append(r.Prompt)
	if r.LoRA > 0 {
		c.adapter = []string{fmt.Sprintf("lora-%d", r.LoRA)}
	}
	c.extra = c.adapter
	if r.CacheSalt != "" {
		c.extra = append(slices.Clone(c.adapter), r.CacheSalt)
	}
	return c
}

// append adds prompt segments; what follows them is output.
func (c *content) append(segments []segment) (added int) {
	before := len(c.tokens)
	for _, s := range segments {
		c.tokens = append(c.tokens, s.literal...)
		for i := range s.count - len(s.literal) {
			c.tokens = append(c.tokens, streamToken(s.stream, s.start+i))
		}
	}
	c.prompt = len(c.tokens)
	return c.prompt - before
}

// upTo returns the first n tokens, outputs included.
func (c *content) upTo(n int) []int32 {
	for len(c.tokens) < n {
		j := len(c.tokens) - c.prompt
		token := streamToken(c.stream, j)
		if j+1 == c.stopAt {
			token = endOfSequence
		}
		c.tokens = append(c.tokens, token)
	}
	return c.tokens[:n]
}

// BlockHash is the chained hash of hash block i.
func (c *content) BlockHash(i int) (hash kv.BlockHash, run int) {
	for len(c.ids) <= i {
		k := len(c.ids)
		extra := c.adapter
		if k == 0 {
			extra = c.extra
		}
		c.last = c.hasher.Block(c.last, c.upTo((k + 1) * c.unit)[k*c.unit:], extra)
		c.ids = append(c.ids, c.interner.ID(c.last))
	}
	return c.ids[i], 1
}

// tokenDigest is the recorder's digest of a token list.
func tokenDigest(tokens []int32) string {
	buf := []byte{'['}
	for i, t := range tokens {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = strconv.AppendInt(buf, int64(t), 10)
	}
	return shortDigest(append(buf, ']'), 12)
}

// shortDigest is the first n hexadecimal digits of SHA-256.
func shortDigest(data []byte, n int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:n]
}
