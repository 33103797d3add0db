package fmath

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestAgainstMath holds each function to Go's own within the stated error.
func TestAgainstMath(t *testing.T) {
	near := func(name string, x, got, want, ulps float64) {
		t.Helper()
		if tol := ulps * 2.3e-16 * math.Max(math.Abs(want), 1e-300); math.Abs(got-want) > tol {
			t.Errorf("%s(%v): got %v, want %v", name, x, got, want)
		}
	}
	for i := range 200000 {
		x := -700 + float64(i)*0.00704
		near("Exp", x, Exp(x), math.Exp(x), 3)
		y := math.Exp(x / 3)
		if math.Abs(math.Log(y)) > 1e-3 {
			near("Log", y, Log(y), math.Log(y), 3)
			near("Log2", y, Log2(y), math.Log(y)/math.Ln2, 6) // math.Log2 itself cancels near 1
		}
	}
	for _, c := range [][2]float64{{2, 10}, {10, -3}, {1.5, 0.5}, {7, 0}} {
		near("Pow", c[0], Pow(c[0], c[1]), math.Pow(c[0], c[1]), 16)
	}
}

func TestEdges(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{Exp(0), 1}, {Exp(710), math.Inf(1)}, {Exp(-800), 0}, {Log(1), 0}, {Log(0), math.Inf(-1)},
		{Log2(1024), 10}, {Log2(0.25), -2}, {Pow(0, 2), 0}, {Pow(3, 0), 1}, {Log(math.Inf(1)), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if !math.IsNaN(Log(-1)) || !math.IsNaN(Exp(math.NaN())) {
		t.Error("want NaN for Log(-1) and Exp(NaN)")
	}
}

// TestBits pins the exact bits that every platform must give (X6).
func TestBits(t *testing.T) {
	keep.Rule(t, "X6")
	var h uint64 = 14695981039346656037
	for i := range 10000 {
		x := 0.001 + float64(i)*0.0317
		for _, v := range []float64{Exp(x / 7), Log(x), Log2(x), Pow(x, 0.37)} {
			h = (h ^ math.Float64bits(v)) * 1099511628211
		}
	}
	if want := uint64(0x9ca20364bc9d35be); h != want {
		t.Errorf("got %#x, want %#x", h, want)
	}
}

func BenchmarkExp(b *testing.B) {
	x := 0.0
	for b.Loop() {
		x += Exp(1.25)
	}
	_ = x
}

func BenchmarkLog(b *testing.B) {
	x := 0.0
	for b.Loop() {
		x += Log(1.25)
	}
	_ = x
}
