package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
)

// A check that ran and said no exits with 3; a question that has no answer, with 1.
func TestVerifyTellsADifferenceFromNoSite(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "index.html")
	if err := os.WriteFile(page, []byte("<p>home</p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect := func(path string, code int, want string) {
		t.Helper()
		if got, _, errs := score(t, "verify", path); got != code || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s, want exit %d, %q", path, got, errs, code, want)
		}
	}
	expect(filepath.Join(dir, "nope"), exit.Refused, "no such directory")
	expect(page, exit.Refused, "is not a directory")
	expect(dir, exit.Refused, "is not a sealed site: has no SHA256SUMS")
	key, err := seal.EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := seal.Seal(t.Context(), dir, key, seal.Predicate{}); err != nil {
		t.Fatal(err)
	}
	expect(dir, exit.Done, "")
	if err := os.Mkdir(filepath.Join(dir, "added"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(dir, exit.Failed, "added: added: an empty directory")
}
