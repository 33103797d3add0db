package release

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"golang.org/x/mod/modfile"
)

const here = runtime.GOOS + "/" + runtime.GOARCH

// packed is a release of the smallest program; under the nightly switch, of those
// that ship.
func packed(t *testing.T) (Options, string) {
	t.Helper()
	o := Options{Source: "../..", Out: filepath.Join(t.TempDir(), "dist"), Release: "v0.0.1", Commands: []string{"./internal/release/testdata/program"}, Targets: []string{here}}
	if os.Getenv("BLIS_NIGHTLY") != "" {
		o.Commands = []string{"./cmd/blis", "./cmd/blis-score"}
	}
	if err := Pack(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	return o, filepath.Join(o.Out, filepath.Base(o.Commands[0])+"-"+strings.ReplaceAll(here, "/", "-"))
}

// TestStackNamesWhatTheBuildSelected compares a binary's stack with go.mod.
func TestStackNamesWhatTheBuildSelected(t *testing.T) {
	keep.Rule(t, "SIM-3")
	o, name := packed(t)
	var s Stack
	decode(t, name+".stack.json", &s)
	if s.Release != o.Release || len(s.Modules) == 0 {
		t.Errorf("got release %q with %d modules", s.Release, len(s.Modules))
	}
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]string{}
	for _, r := range mod.Require {
		required[r.Mod.Path] = r.Mod.Version
	}
	for _, m := range s.Modules {
		if m.Version != required[m.Path] {
			t.Errorf("%s: got %s, go.mod requires %s", m.Path, m.Version, required[m.Path])
		}
	}
	if want := "go" + mod.Go.Version; s.Go != want {
		t.Errorf("toolchain: got %s, want %s (LIF-2)", s.Go, want)
	}
}

func TestStackNamesEveryModelledRelease(t *testing.T) {
	keep.Rule(t, "SIM-3")
	kinds, err := builtin.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	s, err := StackOf("", &debug.BuildInfo{}, kinds)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range s.Engines {
		got[e.Kind] = e.Repository + "@" + e.Commit + " " + e.Version
	}
	for _, k := range kinds {
		up := k.Upstream()
		if want := up.Repository + "@" + up.Commit + " " + up.Version; got[k.Name()] != want {
			t.Errorf("%s: got %q, want %q", k.Name(), got[k.Name()], want)
		}
	}
	if len(got) < 2 {
		t.Errorf("the stack names %d engines (X22)", len(got))
	}
}

func TestStackRefusesAReplacedModule(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x"}}}
	if _, err := StackOf("", info, nil); err != nil {
		t.Fatalf("closest accepted: %v", err)
	}
	info.Deps[0].Replace = &debug.Module{Path: "../c"}
	if _, err := StackOf("", info, nil); err == nil || !strings.Contains(err.Error(), "replaced a module") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestDryRun packs, signs and verifies a release with a throw-away key and no network.
func TestDryRun(t *testing.T) {
	keep.Rule(t, "X21")
	o, name := packed(t)
	about, err := seal.Verify(o.Out, nil)
	if err != nil {
		t.Errorf("the packed release does not verify: %v", err)
	}
	var s Stack
	decode(t, name+".stack.json", &s)
	if want := cmp.Or(s.Settings["vcs.revision"], "unknown"); about.Release != o.Release || about.Source != want || about.Files < 3 {
		t.Errorf("the signature says %+v, want release %s of source %s and every file", about, o.Release, want)
	}
	var b bill
	decode(t, name+".sbom.json", &b)
	if len(b.Components) < 2 || b.Metadata.Component.Version != o.Release {
		t.Errorf("got a bill of %d components for %q", len(b.Components), b.Metadata.Component.Version)
	}
	if err := Pack(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second release in one directory: got %v, want a refusal", err)
	}
	if err := os.WriteFile(name, []byte("another program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := seal.Verify(o.Out, nil); err == nil {
		t.Error("a changed binary verified")
	}
}

func decode(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

const (
	rule     = "- {id: X1, title: t, statement: s, why: w, section: §4, scope: [a], kind: practice, status: review}\n"
	upstream = "| engine | repository | commit | date | name in a scenario | why this one |\n| e | o/e | `0bda0b168ad5bf7311ae639904489a4698a05546` | 2026-08-20 | `main-0bda0b16` | it runs |\n"
	set      = "schema: blis.registry/v1\nset: host\nentries:\n  - primitive: host.burst\n    chip: h100_sxm\n    boundary: host\n    method: assumed\n    rule: a bound\n    value: 0.001\n    unit: s\n"
)

func tree(price, coefficient, trace, schema, record string) fstest.MapFS {
	return fstest.MapFS{
		PriceFile:                          {Data: []byte(price)},
		UpstreamsFile:                      {Data: []byte(upstream)},
		"registry/data/h100_sxm/a.yaml":    {Data: []byte(coefficient)},
		"engines/e/testdata/oracle/a":      {Data: []byte(trace)},
		"content/generated/schemas/a.json": {Data: []byte(schema)},
		"invariants/records/X.yaml":        {Data: []byte(record)},
	}
}

func TestNotesNameEveryDifference(t *testing.T) {
	keep.Rule(t, "LIF-4")
	old := tree(`[{"name":"a","seconds":0.01,"method":"measured"}]`, set, "1", "{}", rule)
	same, err := Notes(old, old)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(same, "No change."); got != 5 {
		t.Errorf("got %d unchanged parts, want 5:\n%s", got, same)
	}
	now := tree(`[{"name":"a","seconds":0.011,"method":"calibrated"}]`, strings.Replace(set, "0.001", "0.002", 1), "2", "[]",
		strings.Replace(rule, "status: review", "status: ci, checks: [{test: a.TestA}]", 1))
	now[UpstreamsFile] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(upstream, "0bda0b16", "1bda0b16"))}
	now["invariants/records/Y.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(rule, "X1", "X2", 1))}
	got, err := Notes(old, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a: 10 ms to 11 ms (+10.00%), calibrated", "host.burst", "engines/e/testdata/oracle/a: changed", "a.json: changed", "X1: checks changed, status review to ci", "X2: new, review",
		"e: o/e at 1bda0b168ad5bf7311ae639904489a4698a05546 (main-1bda0b16), before it o/e at 0bda0b168ad5bf7311ae639904489a4698a05546 (main-0bda0b16)"} {
		if !strings.Contains(got, want) {
			t.Errorf("the notes lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "No change.") {
		t.Errorf("a change was not seen:\n%s", got)
	}
	if !strings.Contains(same, "e: o/e at 0bda0b168ad5bf7311ae639904489a4698a05546 (main-0bda0b16), as before") {
		t.Errorf("the notes lack the unchanged upstream:\n%s", same)
	}
	reworded := tree("[]", set, "", "", strings.Replace(rule, "statement: s", "statement: other", 1))
	if got, err := Notes(tree("[]", set, "", "", rule), reworded); err != nil || !strings.Contains(got, "X1: statement changed\n") {
		t.Errorf("a rule of other words: got %v, %s", err, got)
	}
	now[UpstreamsFile] = &fstest.MapFile{Data: []byte("none\n")}
	if _, err := Notes(old, now); err == nil {
		t.Error("a page that names no upstream was accepted")
	}
}

// TestNotesOfThisModule compares the module with one that differs from it in each part.
func TestNotesOfThisModule(t *testing.T) {
	keep.Rule(t, "LIF-4")
	now, before := os.DirFS("../.."), fstest.MapFS{}
	for _, dir := range []string{path.Dir(PriceFile), "registry/data", "engines/vllm/testdata/oracle", "invariants/records"} {
		err := fs.WalkDir(now, dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				var data []byte
				data, err = fs.ReadFile(now, p)
				before[p] = &fstest.MapFile{Data: data}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	edit := func(name, from, to string) {
		text := string(before[name].Data)
		if !strings.Contains(text, from) {
			t.Fatalf("%s does not hold %q", name, from)
		}
		before[name].Data = []byte(strings.Replace(text, from, to, 1))
	}
	edit(PriceFile, `"seconds": 0.`, `"seconds": 1.`)
	edit("invariants/records/LIF.yaml", "  status: ci", "  status: review")
	delete(before, "engines/vllm/testdata/oracle/abort_mix.json")
	delete(before, "content/generated/schemas/scenario.schema.json")
	delete(before, "registry/data/l40s/fallback.yaml")
	got, err := Notes(before, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(got, "## ")[1:] {
		if title, _, _ := strings.Cut(part, "\n"); strings.Contains(part, "No change.") {
			t.Errorf("%s: a change was not seen", title)
		}
	}
}

func TestFirstReleaseHasNothingToCompare(t *testing.T) {
	got, err := Notes(nil, tree("[]", set, "", "", rule))
	if err != nil || !strings.HasPrefix(got, "First release") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBillListsEveryModuleOnce(t *testing.T) {
	b := billOf(&Stack{Release: "v1", Stack: snapshot.Stack{Go: "go1", Modules: []snapshot.Module{{Path: "a", Version: "v1"}, {Path: "b", Version: "v2"}}}})
	var names []string
	for _, c := range b.Components {
		names = append(names, c.Name+"@"+c.Version)
	}
	if want := []string{"go@go1", "a@v1", "b@v2"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
