// Command blis-score scores a release of the simulator against measured runs, and builds, signs,
// verifies and serves the site that says how close it came.
package main

import (
	"os"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

func main() { os.Exit(exit.Main(root())) }
