// Package quantity gives the units of the cost model as types, so that a byte
// count cannot be added to a token count, nor a per-rank figure passed for a
// per-group one. Values are plain numbers in base units: bytes, tokens, FLOPs,
// seconds. Rules kept: SUB-16, SIM-12 of the Target Design.
package quantity

import "fmt"

type (
	Bytes      float64 // bytes on one rank unless the name says otherwise
	GroupBytes float64 // bytes summed over every rank of a parallel group
	Flops      float64 // floating-point operations, a multiply-add counted as two
	Seconds    float64
	PerSecond  float64 // a rate: bytes or FLOPs per second
)

// OnRank divides a group's bytes evenly over ranks.
func (g GroupBytes) OnRank(ranks int) Bytes { return Bytes(float64(g) / float64(ranks)) }

// Over is the time n units of work take at rate r.
func (n Flops) Over(r PerSecond) Seconds { return Seconds(float64(n) / float64(r)) }

// Over is the time n bytes take at rate r.
func (n Bytes) Over(r PerSecond) Seconds { return Seconds(float64(n) / float64(r)) }

// String writes bytes in binary multiples, for people; documents carry numbers.
func (n Bytes) String() string {
	return scaled(float64(n), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB"})
}

// String writes seconds with the multiple that keeps one to three digits.
func (s Seconds) String() string {
	v := float64(s) * 1e6
	return scaled(v, 1000, []string{"µs", "ms", "s"})
}

func scaled(v, base float64, units []string) string {
	i := 0
	for ; i+1 < len(units) && (v >= base || v <= -base); i++ {
		v /= base
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}
