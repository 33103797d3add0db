package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

// Each bad flag stands beside the units of a run of seconds: nothing may be simulated before it is
// refused, and nothing may be left.
func TestBadFlagsAreRefusedAtOnce(t *testing.T) {
	units := strings.Join(short(t, 1), ",")
	t.Chdir(t.TempDir())
	keys := t.TempDir()
	text := filepath.Join(keys, "text.pem")
	if err := os.WriteFile(text, []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(keys, "none.pem")
	if err := os.Symlink(keys, filepath.Join(keys, "link")); err != nil {
		t.Fatal(err)
	}
	run := []string{"--role", "fit", "--records-only", "--units", units}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{append(run, "--jobs", "0"), exit.Usage, "--jobs: 0: simulates nothing"},
		{append(run, "--jobs", "-1"), exit.Usage, "--jobs: -1: simulates nothing"},
		{append(run, "--out", ""), exit.Usage, "--out: is empty"},
		{append(run, "--role", "nope"), exit.Usage, "--role: nope: is not a role"},
		{append(run, "--shard", "x"), exit.Usage, "--shard: x: is not a part of a whole"},
		{append(run, "--shard", "8/7"), exit.Usage, "--shard: 8/7: is not a part of a whole"},
		{append(run, "--shard", ""), exit.Usage, "--shard: is not a part of a whole"},
		{[]string{"--role", "fit", "--units", ""}, exit.Usage, "--units: names no unit"},
		{append(run, "--units", ","), exit.Usage, "--units: names no unit"},
		{append(run, "--key", none), exit.Refused, "--key: open " + none},
		{append(run, "--key", text), exit.Refused, "not a PEM private key"},
		{append(run, "--out", filepath.Join(keys, "link")), exit.Refused, "is a symbolic link"},
		{append(run, "--junit", filepath.Join("none", "j.xml")), exit.Refused, "j.xml: is in no directory that exists"},
		{append(run, "--step-summary", keys), exit.Refused, "--step-summary: " + keys + ": is a directory"},
		{append(run, "--charts", text), exit.Refused, "--charts: " + text + ": cannot be read"},
		{append(run, "--shard", "1/1"), exit.Usage, "--records-only: true: says nothing to a shard"},
		{[]string{"--shard", "1/1", "--junit", "j.xml"}, exit.Usage, "--junit: j.xml: says nothing to a shard"},
		{[]string{"--ledger", keys}, exit.Refused, filepath.Join(keys, "published", "fit.txt") + ": cannot be read"},
		{[]string{"unscored", "--snapshots", keys, "v1.0.0=" + strings.Repeat("a", 40)}, exit.Refused, "is no published release"},
		{[]string{"error", "--seed-env", "NONE", "--candidate", text, "--evaluations", keys}, exit.Refused, "--evaluations: " + keys + ": is a directory"},
		{[]string{"predict", "--out", keys}, exit.Refused, "--out: " + keys + ": is a directory"},
		{[]string{"merge", "--out", "", "part"}, exit.Usage, "--out: is empty"},
		{[]string{"merge", "--key", none, "part"}, exit.Refused, "--key: open " + none},
		{[]string{"predict", "--out", ""}, exit.Usage, "--out: is empty"},
		{[]string{"fingerprint", "--out", "f", "--jobs", "0"}, exit.Usage, "--jobs: 0"},
	} {
		code, _, errs := score(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Contains(errs, "tried") {
			t.Errorf("%q: exit %d, %s, want exit %d, %q, nothing tried", c.args, code, errs, c.code, c.want)
		}
	}
	if left := names(t, "."); len(left) > 0 {
		t.Errorf("left %q, want nothing", left)
	}
	must(t, append(run, "--jobs", "1")...)
}
