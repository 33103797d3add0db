package a

import (
	"math"
	"math/rand/v2"
	"os"
	"time"
)

func bad(m map[string]int) float64 {
	_ = time.Now()         // want `time.Now in the deterministic core`
	_ = os.Getenv("HOME")  // want `os.Getenv in the deterministic core`
	go func() {}()         // want `goroutine in the deterministic core`
	for range m {          // want `map order in the deterministic core`
	}
	_ = rand.IntN(3)       // want `rand.IntN in the deterministic core`
	return math.Exp(1)     // want `math.Exp in the deterministic core`
}

func good(m map[string]int) float64 {
	n := 0
	for _, v := range m { //determinism:any-order a sum does not depend on it
		n += v
	}
	_ = time.Duration(n)
	r := rand.New(rand.NewPCG(1, 2))
	return math.Sqrt(r.Float64())
}
