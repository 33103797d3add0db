// Command mutate breaks the ported functions of an engine one line at a time and
// shows whether the recorded traces notice.
//
//	mutate [-engine NAME] [-files GLOB,...] [-omit FILE,...] [-sample N -seed S] TRACE...
//
// Every break is planted in one binary through an overlay, so no file of the working
// tree is touched. One replay without a break notes which breaks each trace passes;
// then every break is woken in turn and the traces that pass it are replayed,
// cheapest first, until one differs, panics, needs more than the memory limit or
// sticks. What the traces leave goes to the broken package's own tests and to the
// port's conformance suite. The survivors must be those that the engine's survivors file explains.
//
// It prints a line for each survivor and a closing line with the counts. Exit codes:
// 0 done; 1 the sweep could not run; 2 wrong usage; 3 fewer than -least percent
// killed, or survivors and explanations that do not match.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	flag.Parse()
	code, err := run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(code)
}
