package a

import "math"

type seconds float64

func bad(x, y, z float64, s seconds) float64 {
	a := x*y + z // want `product may fuse`
	a = z - x*y  // want `product may fuse`
	a += x * y   // want `product may fuse`
	_ = s*s + 1  // want `product may fuse`
	return a
}

func good(x, y, z float64, i, j int) float64 {
	a := float64(x*y) + z
	a = math.FMA(x, y, a)
	_ = i*j + 1
	const c = 2.0*3 + 1
	return a + c
}
