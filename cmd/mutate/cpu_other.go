//go:build !unix

package main

import "time"

var began = time.Now()

// cpuSeconds is wall time where the process's CPU time cannot be had.
func cpuSeconds() float64 { return time.Since(began).Seconds() }
