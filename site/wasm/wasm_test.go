package wasm

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

func TestTheSameSourceGivesTheSameModule(t *testing.T) {
	a, err := Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Code, b.Code) || !bytes.HasPrefix(a.Code, []byte("\x00asm")) {
		t.Errorf("got %d and %d bytes, want the same WebAssembly twice", len(a.Code), len(b.Code))
	}
	r, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(a.Code, []byte(r.Hashes().Base)) {
		t.Error("the module does not hold the content hash of its coefficients, and would compute it")
	}
	if !bytes.Contains(a.Glue, []byte("Go")) || !bytes.Contains(a.License, []byte("Copyright")) {
		t.Error("the glue or its licence is missing")
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	for name, c := range map[string]struct{ dir, path string }{
		"no source":    {t.TempDir(), ""},
		"no toolchain": {".", t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(c.dir)
			if c.path != "" {
				t.Setenv("PATH", c.path)
			}
			_, err := Compile(t.Context())
			if _, ok := errors.AsType[Unavailable](err); !ok {
				t.Errorf("got %v, want Unavailable", err)
			}
		})
	}
}

func TestAnInterruptionIsNotAMissingToolchain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compile(ctx); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
