package kv

import (
	"encoding/hex"
	"strings"
	"testing"
)

// Vectors computed by the upstream functions at the modelled commit.
func TestHasherReproducesUpstreamVectors(t *testing.T) {
	seq := func(lo, n int32) []int32 {
		out := make([]int32, n)
		for i := range out {
			out[i] = lo + int32(i)
		}
		return out
	}
	const none = "066b1e8987e027138e98701c46128929378935f9b6cd1549105ae6b4f0d71198"
	const noneCBOR = "9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0"
	const first = "fe8fa5dda3210d0ca2031e37cbe3b001186773cd1c710beb2d45fcb51d434798"
	for _, c := range []struct {
		name, algorithm, parent, want string
		tokens                        []int32
		extra                         []string
	}{
		{"first block", "sha256", none, first, seq(0, 16), nil},
		{"second block", "sha256", first, "8be7aaa33831156d316f1f463ae57e643deb63f42e633e2d631df88815cc4629", seq(16, 16), nil},
		{"salt", "sha256", none, "ee20ce8d6f42207b965325177d0423db54c5ba6d2d7a74b920d46393d154790f", seq(0, 4), []string{"x"}},
		{"long salt", "sha256", none, "ee9684ca8f95320300e00ee671decd8d4f7c56c72f2c28d3562ac2cdc7fd1956", seq(0, 4), []string{strings.Repeat("x", 300)}},
		{"integer widths", "sha256", none, "4711ab8929c8029c85583629f6e5384f337c447100ec27f8e084f70701c17af4", []int32{0, 255, 256, 65535, 65536, 100000}, nil},
		{"cbor", "sha256_cbor", noneCBOR, "dc918a88b139e5afe60b88eda27508d4aee16c10fdc354791efea06206ac0749", seq(0, 16), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := NewHasher(c.algorithm)
			if err != nil {
				t.Fatal(err)
			}
			var parent Digest
			if _, err := hex.Decode(parent[:], []byte(c.parent)); err != nil {
				t.Fatal(err)
			}
			if got := h.None(); c.name != "second block" && got != parent {
				t.Errorf("none: got %x, want %x", got, parent)
			}
			if got := hex.EncodeToString(h.Block(parent, c.tokens, c.extra).Bytes()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestHasherRefusesRandomSeededAlgorithms(t *testing.T) {
	if _, err := NewHasher("xxhash"); err == nil {
		t.Error("xxhash: got no refusal")
	}
}
