//go:build !js

package main

import (
	"fmt"
	"os"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

// serve has no page to serve.
func serve() int {
	fmt.Fprintln(os.Stderr, "blis-wasm: usage: blis-wasm SCENARIO.yaml")
	return exit.Usage
}
