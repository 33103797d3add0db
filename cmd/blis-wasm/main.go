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

import "os"

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
