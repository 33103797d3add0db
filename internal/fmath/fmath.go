// Package fmath holds the few transcendental functions the simulator needs, in
// pure Go without fused multiply-add, so that every platform computes the same
// bits. Go's own math.Exp, Log and Pow use assembly on some platforms.
//
// In and out: finite float64. Each function states its error against the true
// value. Rules kept: X6 of the Target Design (lint: internal/lint/determinism).
package fmath

import "math"

// Ln2 split so that n*ln2Hi is exact for |n| < 2^20: the high part has 32
// significant bits.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	log2e = 1.44269504088896338700
)

// Exp returns e**x within 2 ulp. It overflows to +Inf above about 709.78 and
// underflows to 0 below about -745.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	n := math.Floor(float64(x*log2e) + 0.5)
	r := x - float64(n*ln2Hi) - float64(n*ln2Lo) // |r| <= ln2/2
	// Taylor to degree 13: the next term is below 2^-57 at |r| = 0.3466.
	p := float64(r*(1.0/6227020800)) + 1.0/479001600
	p = float64(p*r) + 1.0/39916800
	p = float64(p*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 0.5
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	if k := int(n) + exponentBias; k > 1 && k < 2*exponentBias { // the product is exact
		return p * math.Float64frombits(uint64(k)<<mantissaBits)
	}
	return math.Ldexp(p, int(n))
}

const mantissaBits, exponentBias = 52, 1023

// split is math.Frexp without a call where x is positive and normal: x = m * 2**e
// with m in [0.5, 1).
func split(x float64) (m float64, e int) {
	b := math.Float64bits(x)
	if k := int(b >> mantissaBits); k > 0 && k < 2*exponentBias {
		return math.Float64frombits(b&(1<<mantissaBits-1) | (exponentBias-1)<<mantissaBits), k - exponentBias + 1
	}
	return math.Frexp(x)
}

// Log returns the natural logarithm of x within 2 ulp; -Inf at 0 and NaN below.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, e := split(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	lead, tail := logNear1(m)
	n := float64(e)
	return float64(n*ln2Hi) + (lead + (tail + float64(n*ln2Lo)))
}

// logNear1 is the logarithm of m in [sqrt(2)/2, sqrt(2)] in two parts.
func logNear1(m float64) (lead, tail float64) {
	// ln m = 2 atanh(s), s = (m-1)/(m+1), |s| <= 0.1716: odd series to s^21.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := float64(z*(1.0/21)) + 1.0/19
	p = float64(p*z) + 1.0/17
	p = float64(p*z) + 1.0/15
	p = float64(p*z) + 1.0/13
	p = float64(p*z) + 1.0/11
	p = float64(p*z) + 1.0/9
	p = float64(p*z) + 1.0/7
	p = float64(p*z) + 1.0/5
	p = float64(p*z) + 1.0/3
	return float64(2 * s), float64(float64(2*s) * float64(z*p))
}

// Log2 returns the base-2 logarithm of x, exact for powers of two.
func Log2(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return Log(x)
	}
	m, e := split(x)
	if m == 0.5 {
		return float64(e - 1)
	}
	if m < math.Sqrt2/2 { // keeps the sum free of cancellation near 1
		m, e = m*2, e-1
	}
	lead, tail := logNear1(m)
	return float64(e) + float64((lead+tail)*log2e)
}

// Pow returns x**y for x > 0, as Exp(y*Log(x)): relative error about
// |y ln x| * 2^-52. Pow(0, y) is 0 for y > 0.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x == 0 && y > 0:
		return 0
	}
	return Exp(float64(y * Log(x)))
}
