// Command release packs what goes out with a tag, and lists what changed since
// another source tree.
package main

import (
	"os"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

func main() { os.Exit(exit.Main(root())) }
