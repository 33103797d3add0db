package spec

import (
	"fmt"
	"math"
)

// The ranges of a scenario's numbers. They are far beyond any served workload and
// keep every sum of them inside 64 bits.
const (
	MaxTokens      = 1<<31 - 1     // of one prompt, prefix, round or output
	MaxCount       = 1_000_000_000 // requests
	MaxSeconds     = 1e9           // one time or duration
	MaxRounds      = 1 << 12       // of one session
	MaxConcurrency = 1 << 20       // of one closed loop
	maxClients     = 1 << 16
	leastRatio     = 1e-9 // rates, scales, weights and shapes: 1e-9 to 1e9
	mostRatio      = 1e9
)

// span is the closed range of a quantity; whole is whether it counts something.
type span struct {
	low, high float64
	whole     bool
}

var (
	spanInstances = span{1, 65536, true}
	spanNodes     = span{1, 4096, true}
	spanTokens    = span{1, MaxTokens, true}
	spanRounds    = span{1, MaxRounds, true}
	spanSeconds   = span{0, MaxSeconds, false}
	spanRatio     = span{leastRatio, mostRatio, false}
	// A standard shape is near 1; the gaps of one below 0.01 span hundreds of decades.
	spanShape     = span{0.01, 1e6, false}
	spanLogarithm = span{-100, 100, false}    // of mean and deviation of a logarithm
	spanFactor    = span{0, mostRatio, false} // 0 is silence, or never drawn
)

// from is the part of a span at and above low.
func (s span) from(low float64) span { return span{max(low, s.low), s.high, s.whole} }

func (s span) check(field string, v float64) error {
	if !(v >= s.low && v <= s.high) {
		return refuse(field, number(v), "is out of range", s.String())
	}
	return nil
}

// one is check for a value that is taken as it is: a count is then whole.
func (s span) one(field string, v float64) error {
	if err := s.check(field, v); err != nil {
		return err
	}
	if s.whole && v != math.Trunc(v) {
		return refuse(field, number(v), "is not a whole number", "a whole number from "+s.String())
	}
	return nil
}

// String is the range as a hint states it.
func (s span) String() string { return number(s.low) + " to " + number(s.high) }

// number writes a whole number that has a short form without an exponent.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}

// CheckScale judges a factor on a trace's times, stated at field.
func CheckScale(field string, v float64) error { return spanRatio.check(field, v) }
