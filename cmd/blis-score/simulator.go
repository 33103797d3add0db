package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/site"
)

const wasmPackage = "github.com/inference-sim/accuracy-dashboard/cmd/blis-wasm"

// errNoSimulator is why a site goes without the simulator for browsers.
type errNoSimulator struct{ why string }

func (e errNoSimulator) Error() string { return e.why }

// simulator compiles the simulator for browsers from the checkout that this program runs in, with
// the toolchain in PATH. An errNoSimulator means that there is no such checkout or toolchain, and
// the site says so; any other error is a fault of the source.
func simulator(ctx context.Context) (*site.Simulator, error) {
	if err := ownCheckout(); err != nil {
		return nil, err
	}
	root, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return nil, errNoSimulator{err.Error()}
	}
	if _, err := goCommand(ctx, "list", wasmPackage); err != nil {
		return nil, errNoSimulator{"the source is not here: " + err.Error()}
	}
	dir, err := os.MkdirTemp("", "blis-wasm-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "blis.wasm")
	if _, err := goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, wasmPackage); err != nil {
		return nil, fmt.Errorf("build the simulator for browsers: %w", err)
	}
	s := new(site.Simulator)
	for name, into := range map[string]*[]byte{file: &s.Module, filepath.Join(root, "lib", "wasm", "wasm_exec.js"): &s.Glue, filepath.Join(root, "LICENSE"): &s.License} {
		if *into, err = os.ReadFile(name); err != nil {
			return nil, errNoSimulator{"the toolchain is not complete: " + err.Error()}
		}
	}
	return s, nil
}

// ownCheckout refuses a checkout of another revision than the program's: its simulator would not
// regenerate what this program scored. `go run` stamps no revision and builds what is here.
func ownCheckout() error {
	built, _ := stamp()
	if here := checkout("."); built != "" && built != here {
		return errNoSimulator{fmt.Sprintf("this program was built from revision %s, and the checkout here is at %s", built, here)}
	}
	return nil
}

// goCommand runs the go command for browsers, in this directory.
func goCommand(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := c.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, e.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
