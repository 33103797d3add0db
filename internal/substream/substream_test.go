package substream

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// The values pin the generator named in the frame: a change here changes every
// draw, and needs a new generator name.
func TestGeneratorIsPinned(t *testing.T) {
	keep.Rule(t, "DEV-6")
	f := New(1, "client a", "prompt length")
	s := f.At(17)
	got := [3]uint64{s.Uint64(), s.Uint64(), s.Uint64()}
	want := [3]uint64{0x99f05fa09370027c, 0x980524949419ac30, 0xfe99abb687cefe26}
	if got != want {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestNamesDoNotRunTogether(t *testing.T) {
	keep.Rule(t, "DEV-6")
	a, b := New(1, "ab", "c"), New(1, "a", "bc")
	x, y := a.At(0), b.At(0)
	if x.Uint64() == y.Uint64() {
		t.Error("two names share a stream")
	}
}

func TestStreamDependsOnNameAlone(t *testing.T) {
	keep.Rule(t, "DEV-6")
	f := New(7, "client", "arrival")
	first := f.At(5)
	want := first.Uint64()
	for i := range uint64(5) {
		s := f.At(i)
		s.Uint64()
	}
	again := f.At(5)
	if got := again.Uint64(); got != want {
		t.Errorf("after other draws: got %d, want %d", got, want)
	}
}

func TestMoments(t *testing.T) {
	const n = 200_000
	cases := []struct {
		name           string
		draw           func(*Stream) float64
		mean, variance float64
	}{
		{"uniform", (*Stream).Float64, 0.5, 1.0 / 12},
		{"below 10", func(s *Stream) float64 { return float64(s.Below(10)) }, 4.5, 8.25},
		{"exponential", (*Stream).Exponential, 1, 1},
		{"normal", (*Stream).Normal, 0, 1},
		{"gamma 0.5", func(s *Stream) float64 { return s.Gamma(0.5) }, 0.5, 0.5},
		{"gamma 4", func(s *Stream) float64 { return s.Gamma(4) }, 4, 4},
		{"weibull 2", func(s *Stream) float64 { return s.Weibull(2) }, 0.886227, 0.214602},
	}
	for _, c := range cases {
		f := New(3, "test", c.name)
		s := f.At(0)
		sum, sq := 0.0, 0.0
		for range n {
			x := c.draw(&s)
			sum, sq = sum+x, sq+x*x
		}
		mean := sum / n
		variance := sq/n - mean*mean
		if math.Abs(mean-c.mean) > 5*math.Sqrt(c.variance/n) || math.Abs(variance/c.variance-1) > 0.05 {
			t.Errorf("%s: got mean %v, variance %v, want %v, %v", c.name, mean, variance, c.mean, c.variance)
		}
	}
}

func BenchmarkNamedDraw(b *testing.B) {
	b.ReportAllocs()
	f := New(1, "client", "arrival")
	sum := 0.0
	for b.Loop() {
		s := f.At(uint64(b.N))
		sum += s.Exponential()
	}
	_ = sum
}
