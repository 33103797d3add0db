package main

import (
	"context"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// simulator compiles the simulator for browsers. It refuses a checkout of another revision than
// this program's, because its simulator would not regenerate what this program scored; `go run`
// stamps no revision and builds what is here. What was scored with other data than the embedded
// a browser cannot regenerate either.
func simulator(ctx context.Context, i inputs) (*wasm.Module, error) {
	if !i.embedded() {
		return nil, wasm.Unavailable{Why: "it holds the embedded catalog and coefficients, and others were scored"}
	}
	built, _ := stamp()
	if err := sameSource(built, checkout(".")); err != nil {
		return nil, err
	}
	return wasm.Compile(ctx)
}

func sameSource(built, here string) error {
	if built != "" && built != here {
		return wasm.Unavailable{Why: fmt.Sprintf("this program was built from revision %s, and the checkout here is at %s", built, here)}
	}
	return nil
}
