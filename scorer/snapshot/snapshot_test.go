package snapshot

import (
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// scores is a finished run of a release over three anchor units.
func scores(t testing.TB, release string) Scores {
	t.Helper()
	l := &ledger.Ledger{Report: ledger.Report{Source: "s", UnitsSHA256: "u", Records: ledger.Records{Read: 4}}}
	var points []record.Point
	for _, id := range []string{"a", "b", "c"} {
		day := "2026-01-0" + string(id[0]-'a'+'1')
		l.Units = append(l.Units, ledger.Unit{ID: id, Identity: ledger.Identity{MeasuredDate: &day, RoleKey: ledger.RoleKey{Model: id}}})
		l.Published.Anchor = append(l.Published.Anchor, id)
		points = append(points, record.Point{UnitID: id, Engine: "vllm", Lane: "l", Hardware: "h", Model: "m", Grade: record.G4, Trial: &record.Trial{Simulated: "main-1"},
			Differences: []string{}, Conditions: []record.Condition{}, Metrics: map[string]record.Metric{"ttft_mean": {Measured: 1, Simulated: 1.1, Unit: "s", RelativeError: 0.1, Interval: "none"}}})
	}
	hash, err := l.Hash()
	if err != nil {
		t.Fatal(err)
	}
	build := record.Build{Release: release, Commit: strings.Repeat("a", 40), Engines: map[string]string{"vllm": "main-1"}, Ledger: hash}
	backlog := scorer.Rank(points)
	return Scores{Points: points, Summary: scorer.Summarize(points, build, scorer.Cover(points, 4, 1)), Backlog: &backlog, Ledger: l,
		Stack: Stack{Main: Module{Path: "m", Version: release}, Modules: []Module{}, Settings: map[string]string{}}}
}

func snap(t testing.TB, release string) *Snapshot {
	t.Helper()
	s, err := New(scores(t, release))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func store(t testing.TB, releases ...string) *Store {
	t.Helper()
	s := new(Store)
	for _, r := range releases {
		var err error
		if s, err = s.Add(snap(t, r)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func files(t testing.TB, s *Store) fstest.MapFS {
	t.Helper()
	all, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, data := range all {
		fsys[name] = &fstest.MapFile{Data: data}
	}
	return fsys
}

// COV-2, COV-6 to COV-9: what may not be published makes no snapshot.
func TestWhatMayNotBePublished(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Scores)
		want  string
	}{
		{"accepted", func(*Scores) {}, ""},
		{"experiment (COV-2)", func(s *Scores) { s.Summary.Experiment = "only some units" }, "cannot be published"},
		{"unreleased (COV-9)", func(s *Scores) { s.Summary.Build.Release = "unreleased" }, "is not a release tag"},
		{"prerelease (COV-9)", func(s *Scores) { s.Summary.Build.Release = "v1.0.0-rc.1" }, "is not a release tag"},
		{"local changes (COV-9)", func(s *Scores) { s.Summary.Build.Commit += "+modified" }, "is not a commit"},
		{"no backlog (COV-7)", func(s *Scores) { s.Backlog = nil }, "backlog is missing"},
		{"no coverage (COV-7)", func(s *Scores) { s.Summary.Coverage = record.Coverage{} }, "backlog is missing"},
		{"counts do not add up (COV-1)", func(s *Scores) { s.Summary.Coverage.Units = 4 }, "is not the number of points"},
		{"another build's point (COV-6)", func(s *Scores) { s.Points[1].Trial.Simulated = "main-2" }, "was simulated as another engine build"},
		{"no stack (COV-6)", func(s *Scores) { s.Stack = Stack{} }, "names no build"},
		{"a part (COV-8)", func(s *Scores) { s.Points = s.Points[:2]; s.Summary.Coverage.Units = 2 }, "of 3 anchor units"},
		{"another unit (COV-2)", func(s *Scores) { s.Points[0].UnitID = "z" }, "is no anchor unit"},
		{"a unit twice (COV-2)", func(s *Scores) { s.Points[0].UnitID = "b" }, "scored twice"},
	} {
		s := scores(t, "v1.0.0")
		c.spoil(&s)
		_, err := New(s)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestEqualScoresHaveEqualIDs(t *testing.T) {
	a, b := snap(t, "v1.0.0"), snap(t, "v1.0.0")
	if a.ID != b.ID {
		t.Errorf("got %s and %s, want one id", a.ID, b.ID)
	}
	if c := snap(t, "v1.0.1"); c.ID == a.ID {
		t.Error("another release has the same id")
	}
	if got := a.Manifest.Provenance; got.Newest != "2026-01-03" || got.Points != 3 || got.Records != 4 {
		t.Errorf("provenance: got %+v", got)
	}
}

// COV-9: a release is scored once, and a patch of an older line may follow a newer one.
func TestAReleaseIsScoredOnce(t *testing.T) {
	keep.Rule(t, "COV-9")
	s := store(t, "v1.0.0", "v1.2.0", "v1.10.0")
	for release, want := range map[string]string{"v1.2.0": "is scored already", "v1.2.1": "", "v1.11.0": ""} {
		_, err := s.Add(snap(t, release))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", release, err, want)
		}
	}
	if _, ok := s.Find("v1.2.0"); !ok {
		t.Error("v1.2.0 is not found")
	}
	twice := files(t, &Store{append(slices.Clone(s.Snapshots), s.Snapshots[0])})
	if _, err := Open(twice); err == nil || !strings.Contains(err.Error(), "v1.0.0: is there twice") {
		t.Errorf("a release twice: got %v, want a refusal", err)
	}
}

// COV-9: what the nightly run scores next, in the order of the tags.
func TestReleasesWithoutScores(t *testing.T) {
	keep.Rule(t, "COV-9", "LIF-1")
	s, commit := store(t, "v1.0.0", "v1.1.0"), strings.Repeat("a", 40)
	for _, c := range []struct{ name, tags, want, refused string }{
		{"nothing new", "v1.0.0 v1.1.0", "", ""},
		{"two new, in the order of the tags", "v1.0.0 v1.1.0 v1.2.0 v1.1.1", "v1.2.0 v1.1.1", ""},
		{"a pre-release", "v1.0.0 v1.1.0 v1.2.0-rc.1 v1.2.0", "v1.2.0", ""},
		{"one left out between", "v1.0.0 v1.0.1 v1.1.0", "v1.0.1", ""},
		{"a tag is gone", "v1.0.0 v1.2.0", "", "v1.1.0: is published and is no tag"},
		{"scored out of order", "v1.1.0 v1.0.0", "", "v1.1.0: is older than v1.0.0"},
		{"no version", "v1.0.0 v1.1.0 latest", "", "latest: is no version"},
		{"a tag was moved", "v1.0.0 v1.1.0=bbbb", "", "v1.1.0=bbbb: was moved"},
		{"a new tag's commit is free", "v1.0.0 v1.1.0 v1.2.0=bbbb", "v1.2.0", ""},
		{"twice", "v1.0.0 v1.1.0 v1.1.0", "", "v1.1.0: is no version, or is given twice"},
	} {
		var tags []Tag
		for _, text := range strings.Fields(c.tags) {
			name, at, moved := strings.Cut(text, "=")
			if !moved {
				at = commit
			}
			tags = append(tags, Tag{name, at})
		}
		got, err := s.Pending(tags)
		if strings.Join(got, " ") != c.want || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: got %q, %v, want %q, %q", c.name, got, err, c.want, c.refused)
		}
	}
}

// COV-8: any change to a published file is found, and the store reads back whole.
func TestPublishedSnapshotsNeverChange(t *testing.T) {
	keep.Rule(t, "COV-8")
	s := store(t, "v1.0.0", "v1.1.0")
	again, err := Open(files(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(files(t, again), files(t, s), func(a, b *fstest.MapFile) bool { return string(a.Data) == string(b.Data) }) {
		t.Error("the store reads back as other files")
	}
	if sum, err := again.Snapshots[1].Summary(); err != nil || sum.Build.Release != "v1.1.0" {
		t.Errorf("summary: got %v, %v", sum, err)
	}
	for name := range files(t, s) {
		for what, spoil := range map[string]func(fstest.MapFS){
			"changed": func(f fstest.MapFS) { f[name].Data = append(slices.Clone(f[name].Data), ' ') },
			"emptied": func(f fstest.MapFS) { f[name].Data = nil },
			"removed": func(f fstest.MapFS) { delete(f, name) },
		} {
			fsys := files(t, s)
			spoil(fsys)
			if _, err := Open(fsys); (err == nil) && !(name == indexFile && what == "removed") {
				t.Errorf("%s %s: accepted", name, what)
			}
		}
	}
}

// COV-8: the lawful successor keeps every release in its place and only adds.
func TestLawfulSuccessor(t *testing.T) {
	keep.Rule(t, "COV-8")
	old := store(t, "v1.0.0", "v1.1.0")
	changed := store(t, "v1.0.0")
	other := scores(t, "v1.1.0")
	other.Points[0].Detail = "rewritten"
	rewritten, err := New(other)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err = changed.Add(rewritten); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		next *Store
		want string
	}{
		{"itself", old, ""},
		{"one more", store(t, "v1.0.0", "v1.1.0", "v1.2.0"), ""},
		{"vanished", store(t, "v1.0.0"), "v1.1.0: has vanished"},
		{"vanished in the middle", store(t, "v1.1.0"), "v1.0.0: has vanished"},
		{"put between", store(t, "v1.0.0", "v1.0.5", "v1.1.0"), "v1.1.0: has vanished"},
		{"changed", changed, "of v1.1.0 has changed"},
		{"empty", new(Store), "v1.0.0: has vanished"},
	} {
		err := c.next.Succeeds(old)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// COV-9: provenance follows from ledger and points, not from what was written.
func TestProvenanceIsRecomputed(t *testing.T) {
	keep.Rule(t, "COV-9")
	s := scores(t, "v1.0.0")
	good, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Store{[]*Snapshot{good}}).Provenant(s.Ledger); err != nil {
		t.Errorf("as written: got %v", err)
	}
	good.Manifest.Provenance.Newest = "2025-12-31"
	if err := (&Store{[]*Snapshot{good}}).Provenant(s.Ledger); err == nil || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("a date before its newest measurement: got %v, want a refusal", err)
	}
	good.Manifest.Build.Ledger = "another"
	if err := (&Store{[]*Snapshot{good}}).Provenant(s.Ledger); err != nil {
		t.Errorf("scored on another ledger: got %v", err)
	}
}

func TestOnlyTheTagItselfIsPublished(t *testing.T) {
	keep.Rule(t, "COV-9")
	for _, c := range []struct{ version, release, want string }{
		{"v1.2.0", "v1.2.0", ""},
		{"v1.2.0", "v1.2.1", "is not what this program was built from: it is v1.2.0"},
		{"v1.2.1-0.20260101000000-abcdefabcdef", "v1.2.1", "is not what"},
		{"v1.2.0+dirty", "v1.2.0", "is not what"},
		{"(devel)", "v1.2.0", "it is (devel)"},
		{"", "v1.2.0", "a build without a version"},
		{"main", "main", "is not a release tag"},
	} {
		s := NewStack(&debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Path: "m", Version: c.version}, Deps: []*debug.Module{{Path: "d", Version: "v1", Sum: "h1:x"}},
			Settings: []debug.BuildSetting{{Key: "vcs.time", Value: "now"}, {Key: "GOARCH", Value: "amd64"}}})
		err := s.Tagged(c.release)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s: got %v, want %q", c.version, c.release, err, c.want)
		}
		if len(s.Settings) != 1 || len(s.Modules) != 1 {
			t.Errorf("got %+v, want the module and no time", s)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s := store(f, "v1.0.0")
	good := files(f, s)
	id := s.Snapshots[0].ID
	f.Add(good[indexFile].Data, good[id+"/"+manifestFile].Data, good[id+"/summary.json"].Data)
	f.Fuzz(func(t *testing.T, index, manifest, summary []byte) {
		fsys := maps.Clone(good)
		fsys[indexFile], fsys[id+"/"+manifestFile], fsys[id+"/summary.json"] = &fstest.MapFile{Data: index}, &fstest.MapFile{Data: manifest}, &fstest.MapFile{Data: summary}
		opened, err := Open(fsys)
		if err != nil {
			return
		}
		for _, snap := range opened.Snapshots {
			_, _ = snap.Summary()
		}
		if again, err := opened.Files(); err != nil || len(opened.Snapshots) > 0 && string(again[indexFile]) != string(index) {
			t.Errorf("Open accepted an index that Files would not write: %v", err)
		}
	})
}

// What a published snapshot holds is read or refused, and what is read can be compared and written.
func FuzzPublished(f *testing.F) {
	scored, good := scores(f, "v1.0.0"), snap(f, "v1.0.0")
	f.Add(good.Files["points.json"], good.Files["summary.json"])
	f.Add([]byte(`[{"unit_id":"a","metrics":{"ttft_mean":{"relative_error":1e999}}}]`), []byte(`{"headline":[{"mape":{"value":1}}]}`))
	f.Add([]byte("null"), []byte("null"))
	f.Fuzz(func(t *testing.T, points, summary []byte) {
		s := *good
		s.Files = map[string][]byte{"points.json": points, "summary.json": summary}
		_ = (&Store{[]*Snapshot{&s}}).Provenant(scored.Ledger)
		if read, err := s.Points(); err == nil {
			_ = scorer.Changes(scorer.Scores{Name: "v1.0.0", Points: read}, scorer.Scores{Name: "v1.1.0", Points: scored.Points})
		}
		if sum, err := s.Summary(); err == nil {
			if _, err := canon.Indent(sum); err != nil {
				t.Errorf("Summary gave what cannot be written: %v", err)
			}
		}
	})
}
