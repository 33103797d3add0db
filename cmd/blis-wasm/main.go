// Command blis-wasm is the simulator for a browser: the embedded catalog,
// coefficients and engines, and one function, scenario in, Result out.
//
// As WebAssembly in a page it sets the global function blisRun(scenarioYAML), which
// returns {result: string} or {error: string, hints: [string]}. Given a file name it
// prints the file's Result, under node as on any other platform, byte for byte what
// `blis run` prints.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(serve())
	}
	os.Exit(file(os.Args[1], os.Stdout, os.Stderr))
}

// file prints the Result of a scenario file.
func file(path string, stdout, stderr io.Writer) int {
	data, err := os.ReadFile(path)
	if err == nil {
		var result []byte
		if result, err = simulate(path, data); err == nil {
			if _, err = fmt.Fprintf(stdout, "%s\n", result); err == nil {
				return exit.Done
			}
		}
	}
	fmt.Fprintf(stderr, "blis-wasm: %v\n", err)
	for _, h := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
	return exit.Refused
}

// simulate runs one scenario over the embedded data.
func simulate(name string, scenario []byte) ([]byte, error) {
	s, err := spec.Parse(name, scenario)
	if err != nil {
		return nil, err
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		return nil, err
	}
	r, err := w.Run(s)
	if err != nil {
		return nil, diag.In(name, err)
	}
	return r.JSON()
}

func hints(err error) []string {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		return r.Hints()
	}
	return nil
}
