package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

// A relative output, sharded and merged, is a site and nothing beside it.
func TestRelativeOutputsLeaveNothingBeside(t *testing.T) {
	units := strings.Join(short(t, 2), ",")
	t.Chdir(t.TempDir())
	chosen := []string{"--role", "fit", "--units", units}
	must(t, append(chosen, "--shard", "1/1", "--out", "part")...)
	must(t, "merge", "--charts", "", "part")
	must(t, "verify", "public")
	must(t, append(chosen, "--out", "rel")...)
	must(t, "verify", "rel")
	if got, want := names(t, "."), []string{"part", "public", "rel"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A run resumed with a selection that leaves out kept trials is refused and drops none; a wider one goes on.
func TestResumeDropsNoTrialOfAnotherSelection(t *testing.T) {
	t.Chdir(t.TempDir())
	ids := short(t, 2)
	run := func(units ...string) []string {
		return []string{"--role", "fit", "--units", strings.Join(units, ","), "--out", "rel", "--records-only", "--resume"}
	}
	kept := "rel.trials/" + ids[0] + ".json"
	if err := os.CopyFS("rel.trials", fstest.MapFS{ids[0] + ".json": {Data: []byte(`{"key":"of another build"}`)}}); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := score(t, run(ids[1])...); code != exit.Refused || !strings.Contains(errs, "keeps 1 trials of units that are not selected") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the trial that was kept: %v", err)
	}
	must(t, run(ids...)...)
	if got := names(t, "."); !slices.Equal(got, []string{"rel"}) {
		t.Errorf("got %q, want the records alone", got)
	}
}

// A run that fails after the simulation says where its trials are; one that fails before has none.
func TestAFailedRunSaysWhereItsTrialsAre(t *testing.T) {
	t.Chdir(t.TempDir())
	o, failure := options{out: "rel/"}, errors.New("late")
	var said strings.Builder
	for _, dir := range []string{"rel.trials", "rel"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.settle(&said, failure); !errors.Is(err, failure) || said.String() != "" || !slices.Equal(names(t, "."), []string{"rel"}) {
		t.Errorf("no trial: got %v, %q and %q, want nothing said and nothing left", err, &said, names(t, "."))
	}
	if err := os.CopyFS("rel.trials", fstest.MapFS{"a.json": {}, "b.json": {}, ".trial-1": {}}); err != nil {
		t.Fatal(err)
	}
	if err := o.settle(&said, failure); !errors.Is(err, failure) || said.String() != "2 finished trials are kept in rel.trials: --resume goes on from them\n" {
		t.Errorf("two trials: got %v, %q", err, &said)
	}
	if err := o.settle(&said, nil); err != nil || !slices.Equal(names(t, "."), []string{"rel"}) {
		t.Errorf("done: got %v and %q, want the trials removed", err, names(t, "."))
	}
}

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
