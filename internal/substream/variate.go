package substream

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// Exponential has mean 1.
func (s *Stream) Exponential() float64 { return -fmath.Log(1 - s.Float64()) }

// Normal has mean 0 and variance 1 (Marsaglia's polar method; the second variate
// of a pair is dropped, so that a draw has no memory).
func (s *Stream) Normal() float64 {
	for {
		u, v := float64(2*s.Float64())-1, float64(2*s.Float64())-1
		if q := float64(u*u) + float64(v*v); q > 0 && q < 1 {
			return u * math.Sqrt(-2*fmath.Log(q)/q)
		}
	}
}

// Gamma has the given shape and scale 1 (Marsaglia and Tsang, ACM TOMS 2000;
// shapes below 1 by their boost).
func (s *Stream) Gamma(shape float64) float64 {
	if shape < 1 {
		u := 1 - s.Float64()
		return s.Gamma(shape+1) * fmath.Exp(fmath.Log(u)/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if fmath.Log(1-s.Float64()) < float64(x*x/2)+float64(d*(1-v))+float64(d*fmath.Log(v)) {
			return d * v
		}
	}
}

// Weibull has the given shape and scale 1.
func (s *Stream) Weibull(shape float64) float64 {
	return fmath.Exp(fmath.Log(s.Exponential()) / shape)
}
