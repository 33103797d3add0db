//go:build !js

package main

import (
	"fmt"
	"os"
)

// serve has no Worker to serve.
func serve() int {
	fmt.Fprintln(os.Stderr, "blis-wasm: usage: blis-wasm SCENARIO.yaml")
	return usage
}
