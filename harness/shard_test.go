package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// parts writes a run of units over n shards and returns their directories.
func parts(t *testing.T, w *World, units []*ledger.Unit, n int) []string {
	t.Helper()
	var dirs []string
	for i := range n {
		s := Shard{i + 1, n}
		trials, err := w.Run(t.Context(), s.Pick(units), Options{Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := w.WritePart(dir, s, units, trials, nil); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func TestShardedOverSevenAndMergedIsUnsharded(t *testing.T) {
	keep.Rule(t, "X13")
	w, units := full(t), fitUnits(t, 60)
	want, err := w.Run(t.Context(), units, Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	dirs := parts(t, w, units, 7)
	dirs[0], dirs[5] = dirs[5], dirs[0] // their order means nothing
	got, err := w.Merge(dirs, units)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(documents(t, got), documents(t, want)) {
		t.Error("other bytes than unsharded")
	}
}

// COV-8: a lost, doubled or foreign part is refused and never merged.
func TestMergeRefuses(t *testing.T) {
	keep.Rule(t, "COV-8")
	w, units := full(t), fitUnits(t, 20)
	dirs := parts(t, w, units, 3)
	other := parts(t, w, units[1:], 3)
	halves := parts(t, w, units, 2)
	stale := full(t)
	stale.Build = map[string]string{"program": "another"}
	for _, c := range []struct {
		name string
		w    *World
		dirs []string
		want string
	}{
		{"whole", w, dirs, ""},
		{"lost", w, dirs[:2], "3/3: is lost: 2 of 3 parts"},
		{"doubled", w, []string{dirs[0], dirs[1], dirs[2], dirs[1]}, "shard.index: 2: is given twice"},
		{"doubled for lost", w, []string{dirs[0], dirs[1], dirs[1]}, "is given twice"},
		{"other units", w, []string{dirs[0], dirs[1], other[2]}, "units: 19: is another run's"},
		{"other division", w, []string{dirs[0], halves[1]}, "shard.of: 2: is another run's"},
		{"other build", stale, dirs, "was tried by another build"},
		{"none", w, []string{t.TempDir()}, "cannot be read"},
	} {
		_, err := c.w.Merge(c.dirs, units)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := os.Remove(filepath.Join(dirs[1], trialsDir, units[1].ID+".json")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Merge(dirs, units); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a lost trial: got %v, want a refusal", err)
	}
}

func TestAPartReplacesOnlyAPart(t *testing.T) {
	w, units := full(t), fitUnits(t, 4)
	dir := parts(t, w, units, 1)[0]
	if err := w.WritePart(dir, Shard{1, 1}, units, nil, nil); err != nil {
		t.Errorf("over an earlier part: got %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.WritePart(other, Shard{1, 1}, units, nil, nil); err == nil || !strings.Contains(err.Error(), "is not a shard") {
		t.Errorf("over other files: got %v, want a refusal", err)
	}
}

func TestEveryUnitIsInOneShard(t *testing.T) {
	units := fitUnits(t, 50)
	for _, n := range []int{1, 7, 50, 51} {
		seen := map[string]int{}
		for i := range n {
			for _, u := range (Shard{i + 1, n}).Pick(units) {
				seen[u.ID]++
			}
		}
		for _, u := range units {
			if seen[u.ID] != 1 {
				t.Errorf("over %d: unit %s is in %d shards", n, u.ID, seen[u.ID])
			}
		}
	}
}

func TestParseShard(t *testing.T) {
	for text, ok := range map[string]bool{"1/1": true, "7/7": true, "0/7": false, "8/7": false, "1/0": false, "": false, "1": false, "1/7/2": false, "a/b": false, "1/1024": true, "1/1025": false, "-1/7": false} {
		if _, err := ParseShard(text); (err == nil) != ok {
			t.Errorf("%q: got %v, want accepted %v", text, err, ok)
		}
	}
}

// X13: equal simulations have equal fingerprints whatever was measured; each kind of
// difference is named, and a measured value plays no part.
func TestFingerprints(t *testing.T) {
	keep.Rule(t, "X13")
	w, units := full(t), fitUnits(t, 12)
	run := func(units []*ledger.Unit) *Fingerprints {
		trials, err := w.Run(t.Context(), units, Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewFingerprints(trials)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := run(units)
	var blind []*ledger.Unit
	for _, u := range units {
		blind = append(blind, u.Unmeasured())
	}
	if d := Differing(a, run(blind)); len(d) > 0 {
		t.Errorf("without measured values: got %q", d)
	}
	at := slices.IndexFunc(a.Units, func(f Fingerprint) bool { return f.Refusal == "" })
	spoiled := func(f func(*Fingerprint)) *Fingerprints {
		b := *a
		b.Units = append([]Fingerprint{}, a.Units...)
		f(&b.Units[at])
		return &b
	}
	for _, c := range []struct {
		name string
		b    *Fingerprints
		want string
	}{
		{"result", spoiled(func(f *Fingerprint) { f.Result = "x" }), "its result differs"},
		{"scenario", spoiled(func(f *Fingerprint) { f.Scenario = "x" }), "its scenario differs"},
		{"refusal", spoiled(func(f *Fingerprint) { *f = Fingerprint{UnitID: f.UnitID, Refusal: "not_in_catalog: m"} }), "scored, then not_in_catalog: m"},
		{"lacking", &Fingerprints{Units: append(append([]Fingerprint{}, a.Units[:at]...), a.Units[at+1:]...)}, "the second has no such unit"},
	} {
		if d := Differing(a, c.b); len(d) != 1 || !strings.HasPrefix(d[0], a.Units[at].UnitID) || !strings.Contains(d[0], c.want) {
			t.Errorf("%s: got %q, want one that says %q", c.name, d, c.want)
		}
	}
}

func FuzzReadFingerprints(f *testing.F) {
	f.Add([]byte(`{"schema":"blis.fingerprints/1","units":[{"unit_id":"a","result_sha256":"b"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ReadFingerprints("f.json", b) })
}

func FuzzParsePart(f *testing.F) {
	f.Add([]byte(`{"schema":"blis.shard/1","shard":{"index":1,"of":1},"units":0,"units_sha256":"","trials":0,"build":{},"selection":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parsePart("shard.json", b) })
}

// A stored trial is read, tried again or refused; one that is read can be scored.
func FuzzLoadTrial(f *testing.F) {
	w, u := full(f), fitUnits(f, 1)[0]
	key, err := w.key(u)
	if err != nil {
		f.Fatal(err)
	}
	store := &Store{Dir: f.TempDir()}
	if err := store.save(key, try(f, w, u)); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(store.path(u.ID))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`"result":`), []byte(`"refusal":null,"result":null,"x":`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(store.path(u.ID), data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := store.load(u, key)
		if err == nil && got != nil && (got.Unit != u || got.Check() != nil) {
			t.Errorf("accepted %+v", got)
		}
	})
}

// A run reads no measured value: trials differ in the unit they carry alone.
func TestTrialsReadNoMeasuredValue(t *testing.T) {
	keep.Rule(t, "D7", "X8")
	w, units := full(t), fitUnits(t, 30)
	for _, u := range units {
		a, b := try(t, w, u), try(t, w, u.Unmeasured())
		a.Unit, b.Unit = nil, nil
		if !bytes.Equal(documents(t, []record.Trial{*a}), documents(t, []record.Trial{*b})) {
			t.Errorf("unit %s: its trial depends on what was measured", u.ID)
		}
	}
}
