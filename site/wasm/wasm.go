// Package wasm compiles the simulator for browsers.
//
// In: a checkout of the source around the working directory, and the Go toolchain in PATH. Out: the
// module and the toolchain's own script that starts one, or an [Unavailable] that says what is
// missing; a context that is done gives its own error. Equal sources and toolchains give equal bytes.
// Nothing is fetched and nothing is left.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Package is the program that is compiled.
const Package = "github.com/inference-sim/accuracy-dashboard/cmd/blis-wasm"

// sumVariable takes the content hash of the coefficients, which the module then need not compute.
const sumVariable = "github.com/inference-sim/accuracy-dashboard/registry.embeddedSum"

// Module is the simulator as a reader's browser runs it.
type Module struct {
	Code    []byte // WebAssembly
	Glue    []byte // wasm_exec.js of the toolchain that made Code
	License []byte // of Glue and of the runtime in Code
}

// Unavailable is why there is no module: no source or no toolchain. A fault of the source is
// another error.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

// Compile makes the module of the source that the working directory lies in.
func Compile(ctx context.Context) (*Module, error) {
	root, err := command(ctx, "env", "GOROOT")
	if err != nil {
		return nil, missing(ctx, "no Go toolchain", err)
	}
	source, err := command(ctx, "list", "-f", "{{.Module.Dir}}", Package)
	if err != nil {
		return nil, missing(ctx, "the source is not here", err)
	}
	sum, err := registry.Sum(os.DirFS(filepath.Join(source, "registry", "data")))
	if err != nil {
		return nil, err
	}
	dir, done, err := swap.Workspace(filepath.Join(os.TempDir(), "blis-wasm"))
	if err != nil {
		return nil, err
	}
	defer done()
	code := filepath.Join(dir, "blis.wasm")
	if _, err := command(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X "+sumVariable+"="+sum, "-o", code, Package); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("compile the simulator for browsers: %w", err)
	}
	m := new(Module)
	if m.Code, err = os.ReadFile(code); err != nil {
		return nil, err
	}
	if m.Glue, err = os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")); err == nil {
		m.License, err = os.ReadFile(filepath.Join(root, "LICENSE"))
	}
	if err != nil {
		return nil, Unavailable{"the Go toolchain is not complete: " + err.Error()}
	}
	return m, nil
}

// missing is an Unavailable, unless the command was ended because ctx was.
func missing(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return Unavailable{what + ": " + err.Error()}
}

// command runs the go command for browsers.
func command(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := c.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(string(e.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
