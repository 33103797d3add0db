// Package substream gives every random draw its own named stream, so that a draw
// depends on the scenario's seed and its name alone: component, purpose, entity.
//
// The seed of a stream is the SHA-256 of the scenario's seed and the name; the
// generator is PCG-DXSM (M. O'Neill, HMC-CS-2014-0905; math/rand/v2's PCG). Both
// are named in the experimental frame (sim/spec.Generator). There is no global
// state. Rules kept: DEV-6, X6 (Target Design §8.4).
package substream

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Family is every stream of one component and purpose; entities tell them apart.
type Family struct{ root [sha256.Size]byte }

// New names a family, e.g. New(seed, "client chat", "prompt length").
func New(seed uint64, component, purpose string) Family {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	b = appendName(b, component)
	b = appendName(b, purpose)
	return Family{sha256.Sum256(b)}
}

// appendName writes the length first, so that no two names run together alike.
func appendName(b []byte, name string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(name))), name...)
}

// At is the stream of one entity, such as a request's index.
func (f *Family) At(entity uint64) Stream {
	var b [sha256.Size + 8]byte
	copy(b[:], f.root[:])
	binary.LittleEndian.PutUint64(b[sha256.Size:], entity)
	h := sha256.Sum256(b[:])
	var s Stream
	s.pcg.Seed(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(h[8:16]))
	return s
}

// Stream is one sequence of draws. The zero value is not seeded.
type Stream struct{ pcg rand.PCG }

// Uint64 is the next 64 bits.
func (s *Stream) Uint64() uint64 { return s.pcg.Uint64() }

// Float64 is uniform on [0, 1) with 53 bits.
func (s *Stream) Float64() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// Below is uniform on 0..n-1, n positive, without bias (D. Lemire, Fast Random
// Integer Generation in an Interval, ACM TOMACS 2019).
func (s *Stream) Below(n uint64) uint64 {
	hi, lo := bits.Mul64(s.pcg.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(s.pcg.Uint64(), n)
		}
	}
	return hi
}
