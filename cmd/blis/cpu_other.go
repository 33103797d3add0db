//go:build !unix

package main

import (
	"runtime"
	"time"
)

var began = time.Now()

// cpuSeconds is wall time where the process's CPU time cannot be had.
func cpuSeconds() float64 { return time.Since(began).Seconds() }

// peakBytes is what the runtime took from the system.
func peakBytes() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys)
}
