package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// describe names the simulator build that makes the figures, and its data.
func describe(w *world.World, l *ledger.Ledger, release string) (record.Build, error) {
	b := record.Build{Release: release, Commit: revision(), Toolchain: runtime.Version(), Engines: map[string]string{}}
	if release == "" {
		b.Release = "unreleased"
	}
	for _, s := range w.Sources {
		switch s.Kind {
		case "catalog":
			b.Catalog = s.SHA256
		case "registry":
			b.Registry = s.SHA256
		}
	}
	for _, k := range w.Kinds {
		b.Engines[k.Name()] = k.Upstream().Version
	}
	var err error
	b.Ledger, err = l.Hash()
	return b, err
}

// revision is the source revision stamped into the binary; `go run` stamps none, so then the
// checkout it is run in is asked.
func revision() string {
	hash, dirty := stamp()
	if hash == "" {
		hash = checkout(".")
	}
	return hash + dirty
}

// stamp is the revision in the binary, and "+modified" when it was built from changed files.
func stamp() (hash, dirty string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				hash = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "+modified"
			}
		}
	}
	return hash, dirty
}

func checkout(dir string) string {
	head, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD"))
	if err != nil {
		return "unknown"
	}
	ref, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !isRef {
		return ref
	}
	hash, err := os.ReadFile(filepath.Join(dir, ".git", filepath.FromSlash(ref)))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(hash))
}

// programHash identifies the running program, so that trials of another build are not reused.
func programHash() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
