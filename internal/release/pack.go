package release

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
)

// Options say what is released.
type Options struct {
	Source   string   // module root
	Out      string   // directory to make; it must not exist or be empty
	Release  string   // tag
	Commands []string // main packages, such as ./cmd/blis
	Targets  []string // GOOS/GOARCH
	Key      string   // PEM private key; without one a throw-away key proves integrity only
}

// Pack builds every command for every target and writes binaries, stack.json and a bill
// of materials for each, then seals the directory: SHA256SUMS and its signature.
func Pack(ctx context.Context, o Options, kinds []engines.Kind) error {
	if entries, err := os.ReadDir(o.Out); err == nil && len(entries) > 0 {
		return &diag.Refusal{Field: "--out", Value: o.Out, Problem: "is not empty", Accept: "a directory to make"}
	}
	key, trust, err := signer(o.Key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	for _, target := range o.Targets {
		for _, command := range o.Commands {
			if err := packOne(ctx, o, target, command, kinds); err != nil {
				return fmt.Errorf("%s for %s: %w", command, target, err)
			}
		}
	}
	return seal.Seal(ctx, o.Out, key, seal.Predicate{Release: o.Release, Trust: trust})
}

func signer(file string) (*seal.Key, string, error) {
	if file == "" {
		key, err := seal.EphemeralKey()
		return key, "integrity only", err
	}
	key, err := seal.ReadKey(file)
	return key, "signed", err
}

func packOne(ctx context.Context, o Options, target, command string, kinds []engines.Kind) error {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return &diag.Refusal{Field: "--target", Value: target, Problem: "is not a platform", Accept: "GOOS/GOARCH, such as linux/amd64"}
	}
	name := path.Base(command) + "-" + goos + "-" + goarch
	file, err := filepath.Abs(filepath.Join(o.Out, name))
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, command)
	build.Dir = o.Source
	build.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	stack, err := StackOf(o.Release, info, kinds)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(o.Out, name+".sbom.json"), billOf(stack)); err != nil {
		return err
	}
	return write(filepath.Join(o.Out, name+".stack.json"), stack)
}

func write(file string, v any) error {
	b, err := canon.Indent(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
