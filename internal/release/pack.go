package release

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"golang.org/x/mod/semver"
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
// of materials for each, then seals the directory: SHA256SUMS and its signature. The
// directory appears whole or not at all.
func Pack(ctx context.Context, o Options, kinds []engines.Kind) error {
	if err := o.check(); err != nil {
		return err
	}
	key, trust, err := signer(o.Key)
	if err != nil {
		return &diag.Refusal{Field: "--key", Value: o.Key, Problem: err.Error(), Accept: "a file with an unencrypted PEM private key on curve P-256"}
	}
	out := filepath.Clean(o.Out)
	work, done, err := swap.Workspace(out)
	if err != nil {
		return &diag.Refusal{Field: "--out", Value: o.Out, Problem: "cannot be made: " + err.Error(), Accept: "a directory that can be written"}
	}
	defer done()
	o.Out = filepath.Join(work, filepath.Base(out))
	if err := os.Mkdir(o.Out, 0o755); err != nil {
		return err
	}
	source := ""
	for _, target := range o.Targets {
		for _, command := range o.Commands {
			if source, err = packOne(ctx, o, target, command, kinds); err != nil {
				return fmt.Errorf("%s for %s: %w", command, target, err)
			}
		}
	}
	if err := seal.Seal(ctx, o.Out, key, seal.Predicate{Release: o.Release, Source: cmp.Or(source, "unknown"), Trust: trust}); err != nil {
		return err
	}
	return swap.Dir(o.Out, out)
}

// check refuses what cannot be packed, before anything is built.
func (o *Options) check() error {
	entries, err := os.ReadDir(o.Out)
	switch {
	case len(entries) > 0:
		return &diag.Refusal{Field: "--out", Value: o.Out, Problem: "is not empty", Accept: "a directory to make"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return &diag.Refusal{Field: "--out", Value: o.Out, Problem: "is no directory: " + err.Error(), Accept: "a directory to make"}
	case o.Release != "" && !semver.IsValid(o.Release):
		return &diag.Refusal{Field: "--release", Value: o.Release, Problem: "is no version", Accept: "a tag, e.g. v1.2.0"}
	case len(o.Commands) == 0:
		return &diag.Refusal{Field: "--command", Problem: "names nothing to pack", Accept: "main packages, e.g. ./cmd/blis"}
	case len(o.Targets) == 0:
		return &diag.Refusal{Field: "--target", Problem: "names no platform", Accept: "GOOS/GOARCH, such as linux/amd64"}
	}
	for _, t := range o.Targets {
		if goos, goarch, _ := strings.Cut(t, "/"); goos == "" || goarch == "" || strings.Contains(goarch, "/") {
			return &diag.Refusal{Field: "--target", Value: t, Problem: "is not a platform", Accept: "GOOS/GOARCH, such as linux/amd64"}
		}
	}
	if _, err := os.Stat(filepath.Join(o.Source, "go.mod")); err != nil {
		return &diag.Refusal{File: filepath.Join(o.Source, "go.mod"), Problem: "cannot be read: " + err.Error(), Accept: "to be run at the root of the module"}
	}
	return nil
}

func signer(file string) (*seal.Key, string, error) {
	if file == "" {
		key, err := seal.EphemeralKey()
		return key, "integrity only", err
	}
	key, err := seal.ReadKey(file)
	return key, "signed", err
}

// packOne returns the revision that the binary says it was built from.
func packOne(ctx context.Context, o Options, target, command string, kinds []engines.Kind) (source string, err error) {
	goos, goarch, _ := strings.Cut(target, "/")
	name := path.Base(command) + "-" + goos + "-" + goarch
	file, err := filepath.Abs(filepath.Join(o.Out, name))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, command)
	build.Dir = o.Source
	build.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", err
	}
	stack, err := StackOf(o.Release, info, kinds)
	if err != nil {
		return "", err
	}
	if err := write(filepath.Join(o.Out, name+".sbom.json"), billOf(stack)); err != nil {
		return "", err
	}
	return stack.Settings["vcs.revision"], write(filepath.Join(o.Out, name+".stack.json"), stack)
}

func write(file string, v any) error {
	b, err := canon.Indent(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
