package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

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
		sw.Stop = (&watch{report: report, total: requests(s)}).stop
	}
	r, err := sim.Run(s, sw)
	if err != nil {
		return nil, diag.In(name, err)
	}
	return r.JSON()
}

// made is the file of a scenario that a page wrote and its reader never sees.
const made = "scenario"

// told is err without a position in such a file.
func told(err error) string {
	r, ok := errors.AsType[*diag.Refusal](err)
	if !ok || r.File != made {
		return err.Error()
	}
	bare := *r
	bare.File, bare.Line, bare.Col = "", 0, 0
	return strings.Replace(err.Error(), r.Error(), bare.Error(), 1)
}

func hints(err error) []string {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		return r.Hints()
	}
	return nil
}
