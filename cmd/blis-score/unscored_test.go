package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
)

// publishedIn writes a store of releases to dir, each over one anchor unit.
func publishedIn(t *testing.T, dir string, releases ...string) {
	t.Helper()
	s := new(snapshot.Store)
	for _, r := range releases {
		l := &ledger.Ledger{Units: []ledger.Unit{{ID: "a"}}, Published: ledger.Published{Anchor: []string{"a"}}}
		points := []record.Point{{UnitID: "a", Grade: record.G5, Reason: record.NotInCatalog, Trial: &record.Trial{}}}
		backlog := scorer.Rank(points)
		build := record.Build{Release: r, Commit: strings.Repeat("a", 40), Engines: map[string]string{}}
		snap, err := snapshot.New(snapshot.Scores{Points: points, Summary: scorer.Summarize(points, build, scorer.Cover(points, 1, 0)), Backlog: &backlog, Ledger: l,
			Stack: snapshot.Stack{Main: snapshot.Module{Path: "m", Version: r}, Modules: []snapshot.Module{}, Settings: map[string]string{}}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.Add(snap); err != nil {
			t.Fatal(err)
		}
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// COV-9: the nightly run is told what to score next.
func TestUnscoredListsReleasesInTheOrderOfTheirTags(t *testing.T) {
	keep.Rule(t, "COV-9")
	empty, store := t.TempDir(), t.TempDir()
	publishedIn(t, store, "v1.0.0")
	for _, c := range []struct {
		args, out string
		code      int
		errs      string
	}{
		{"--snapshots " + empty + " v1.0.0 v1.1.0", "v1.0.0\nv1.1.0\n", exit.Done, ""},
		{"--snapshots " + store + " v1.0.0 v1.2.0-rc.1 v1.2.0 v1.0.1", "v1.2.0\nv1.0.1\n", exit.Done, ""},
		{"--snapshots " + store + " v1.0.0", "", exit.Done, ""},
		{"--snapshots " + store, "", exit.Refused, "v1.0.0: is published and is no tag"},
		{"--snapshots " + store + " main", "", exit.Refused, "main: is no version"},
		{"--snapshots " + store + " v1.0.0=" + strings.Repeat("b", 40), "", exit.Refused, "was moved since its release was scored"},
		{"--snapshots " + store + " v1.0.0=aaaa", "", exit.Refused, "v1.0.0=aaaa: names no commit"},
		{"--snapshots " + filepath.Join(store, "none"), "", exit.Refused, "is no directory"},
		{"--snapshots " + filepath.Join(store, "index.json"), "", exit.Refused, "is no directory"},
		{"v1.0.0", "", exit.Usage, "required flag"},
	} {
		args := strings.Fields("unscored " + c.args)
		for i, a := range args {
			if (strings.HasPrefix(a, "v1.") || a == "main") && !strings.Contains(a, "=") {
				args[i] += "=" + strings.Repeat("a", 40)
			}
		}
		code, out, errs := score(t, args...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: exit %d, %q, %s, want exit %d, %q, %q", c.args, code, out, errs, c.code, c.out, c.errs)
		}
	}
}

// COV-8: a site that lost or changed a published release is no lawful successor,
// whatever its own signature says.
func TestVerifyHoldsASiteToWhatWasPublished(t *testing.T) {
	keep.Rule(t, "COV-8")
	key, err := seal.EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	old := t.TempDir()
	publishedIn(t, old, "v1.0.0", "v1.1.0")
	for _, c := range []struct {
		releases string
		code     int
		want     string
	}{
		{"v1.0.0 v1.1.0 v1.2.0", exit.Done, ""},
		{"v1.0.0 v1.1.0", exit.Done, ""},
		{"v1.0.0", exit.Failed, "v1.1.0: has vanished"},
		{"v1.1.0 v1.0.0", exit.Failed, "v1.0.0: has vanished"},
	} {
		dir := t.TempDir()
		publishedIn(t, filepath.Join(dir, page.SnapshotsDir), strings.Fields(c.releases)...)
		if err := seal.Seal(t.Context(), dir, key, seal.Predicate{}); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := score(t, "verify", dir, "--snapshots", old); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s, want exit %d, %q", c.releases, code, errs, c.code, c.want)
		}
	}
	if code, _, errs := score(t, "verify", old, "--snapshots", filepath.Join(old, "none")); code != exit.Refused {
		t.Errorf("exit %d, %s, want a refusal", code, errs)
	}
}
