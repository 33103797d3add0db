// Command blis-wasm is the simulator for a browser: the embedded catalog,
// coefficients and engines, and no command line, router or site.
//
// As WebAssembly in a Worker it sets three global functions. blisRun(scenario,
// progress) simulates a scenario, blisRerun(point, progress) simulates the scenario
// of a point's document and compares the Result with the published one, byte for
// byte, and blisOffer() lists what it can simulate. The first two give a promise;
// progress(done, total) is called about every tenth of a second with counts of
// requests, and the run stops when it returns true. Given a file name the program
// prints the file's Result, under node as on any other platform, byte for byte what
// `blis run` prints.
//
// Exit codes are those of internal/exit.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Codes of internal/exit, which links a command line.
const (
	done    = 0
	refused = 1
	usage   = 2
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(serve())
	}
	os.Exit(file(os.Args[1], os.Stdout, os.Stderr))
}

// file prints the Result of a scenario file.
func file(path string, stdout, stderr io.Writer) int {
	scenario, err := os.ReadFile(path)
	if err == nil {
		var result []byte
		if result, err = simulate(path, scenario, nil); err == nil {
			if _, err = fmt.Fprintf(stdout, "%s\n", result); err == nil {
				return done
			}
		}
	}
	fmt.Fprintf(stderr, "blis-wasm: %v\n", err)
	for _, h := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
	return refused
}

// data is the embedded data, opened once.
var data = sync.OnceValues(func() (*world.World, error) { return world.Open(world.Paths{}) })

// simulate runs one scenario over the embedded data; report may be nil.
func simulate(name string, scenario []byte, report progress) ([]byte, error) {
	s, err := spec.Parse(name, scenario)
	if err != nil {
		return nil, err
	}
	w, err := data()
	if err != nil {
		return nil, err
	}
	sw := w.Sim()
	if report != nil {
		sw.Observer = &watch{report: report, total: requests(s)}
	}
	r, err := sim.Run(s, sw)
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
