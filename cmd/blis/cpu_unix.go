//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// cpuSeconds is user and system time of this process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// peakBytes is the process's largest resident size.
func peakBytes() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) // bytes there, KiB elsewhere
	}
	return float64(u.Maxrss) * 1024
}
