package vllm

import (
	"math/rand/v2"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
)

type token struct {
	stream uint64
	index  int
}

// spell writes tokens as segments, cut at random and with empty ones between.
func spell(rng *rand.Rand, tokens []token) []engines.Segment {
	var out []engines.Segment
	for _, t := range tokens {
		if n := len(out); n > 0 && rng.IntN(4) > 0 {
			if s := &out[n-1]; s.Count > 0 && s.Stream == t.stream && s.Start+s.Count == t.index {
				s.Count++
				continue
			}
		}
		if rng.IntN(8) == 0 {
			out = append(out, engines.Segment{Stream: rng.Uint64()})
		}
		out = append(out, engines.Segment{Stream: t.stream, Start: t.index, Count: 1})
	}
	return out
}

// Two blocks have one identity exactly when they hold equal tokens after equal
// tokens, however the tokens are written down, prompt or output, and in whatever
// order blocks are asked for.
func TestIdentitiesAreEqualExactlyForEqualPrefixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	byTokens, byHash := map[string]kv.BlockHash{}, map[kv.BlockHash]string{}
	var shared [][]token
	equal := 0
	for range 3000 {
		unit := 1 + rng.IntN(2)*3
		var all []token
		if len(shared) > 0 && rng.IntN(2) == 0 {
			p := shared[rng.IntN(len(shared))]
			all = append(all, p[:rng.IntN(len(p)+1)]...)
		}
		for len(all) < 24 {
			next := token{uint64(rng.IntN(3)), rng.IntN(3)}
			if n := len(all); n > 0 && rng.IntN(4) > 0 {
				next = token{all[n-1].stream, all[n-1].index + 1}
			}
			all = append(all, next)
		}
		shared = append(shared, all)
		cut := 1 + rng.IntN(len(all)-1)
		output := engines.Segment{Stream: all[cut].stream, Start: all[cut].index}
		for i := range all[cut:] {
			all[cut+i] = token{output.Stream, output.Start + i}
		}
		var c identity
		c.reset(&engines.Request{Prompt: spell(rng, all[:cut]), Output: output}, unit)
		for _, i := range rng.Perm(len(all) / unit) {
			text := string(rune('0' + unit))
			for _, tok := range all[:(i+1)*unit] {
				text += string(rune(1000*tok.stream + uint64(tok.index)))
			}
			h, _ := c.BlockHash(i)
			if old, ok := byTokens[text]; ok && old != h {
				t.Fatalf("equal prefixes of %d tokens have two identities", (i+1)*unit)
			} else if ok {
				equal++
			}
			if old, ok := byHash[h]; ok && old != text && old[0] == text[0] {
				t.Fatalf("different prefixes share an identity: %q and %q", old, text)
			}
			byTokens[text], byHash[h] = h, text
		}
	}
	if equal < 1000 {
		t.Errorf("only %d equal prefixes were met", equal)
	}
}
