package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestMain lets a test run this program as a process of its own, to kill it.
func TestMain(m *testing.M) {
	if os.Getenv("BLIS_SCORE_AS_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// score runs the command in this process.
func score(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = exit.Run(t.Context(), root(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := score(t, args...)
	if code != exit.Done {
		t.Fatalf("%q: exit %d\n%s", args, code, errs)
	}
	return out
}

// short lists n fit units that run quickly.
func short(t testing.TB, n int) []string {
	t.Helper()
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for u := range l.ByRole(ledger.Fit) {
		c, _ := u.RecordedConfiguration()
		if u.Framework == "vllm" && u.Concurrency <= 8 && c != nil && c.Match == "unique" && *u.Serving.ISL == 1024 && *u.Serving.OSL == 1024 && len(ids) < n {
			ids = append(ids, u.ID)
		}
	}
	if len(ids) < n {
		t.Fatalf("got %d short units, want %d", len(ids), n)
	}
	return ids
}

// tree is every file below dir by name.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(a, b map[string]string) string {
	for name := range a {
		if a[name] != b[name] {
			return name
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			return name
		}
	}
	return ""
}

// The data files of a run in seven parts, merged, are those of the run in one.
func TestSevenShardsMergeToTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	units := strings.Join(short(t, 9), ",")
	chosen := []string{"--role", "fit", "--units", units}
	whole, merged := filepath.Join(dir, "whole"), filepath.Join(dir, "merged")
	must(t, append(chosen, "--records-only", "--out", whole)...)
	merge := []string{"merge", "--records-only", "--out", merged}
	for i := 1; i <= 7; i++ {
		part := filepath.Join(dir, fmt.Sprint(i))
		must(t, append(chosen, "--shard", fmt.Sprintf("%d/7", i), "--out", part)...)
		merge = append(merge, part)
	}
	if code, _, errs := score(t, merge[:len(merge)-1]...); code != exit.Refused || !strings.Contains(errs, "7/7: is lost: 6 of 7 parts") {
		t.Errorf("six of seven: exit %d, %s", code, errs)
	}
	if _, err := os.Stat(merged); err == nil {
		t.Error("a refused merge wrote something")
	}
	must(t, merge...)
	schema, err := docgen.Schema("point")
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	for name, data := range tree(t, whole) {
		if strings.HasSuffix(name, "/point.json") {
			documents++
			if err := valid(schema, data); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if documents != 9 {
		t.Errorf("got %d documents of points, want one a unit", documents)
	}
	if name := same(tree(t, whole), tree(t, merged)); name != "" {
		t.Errorf("%s: other bytes than unsharded", name)
	}
}

// COV-2, COV-9: nothing but a build of the tag itself is scored as a release.
func TestAReleaseIsItsTag(t *testing.T) {
	keep.Rule(t, "COV-9")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--release", "v1.0.0"}, exit.Refused, "is not what this program was built from"},
		{[]string{"--release", "latest"}, exit.Usage, "is not a release tag"},
		{[]string{"--release", ""}, exit.Usage, "is not a release tag"},
		{[]string{"--release", "v1.0.0", "--role", "fit"}, exit.Refused, "cannot be given to an experiment"},
		{[]string{"--snapshots", "/none"}, exit.Refused, "is no directory"},
	} {
		code, _, errs := score(t, append(c.args, "--out", filepath.Join(t.TempDir(), "out"))...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %s, want exit %d, %q", c.args, code, errs, c.code, c.want)
		}
	}
}

func TestStepSummaryAndJUnitNameEveryUnit(t *testing.T) {
	dir := t.TempDir()
	ids := short(t, 2)
	junit, summary := filepath.Join(dir, "j.xml"), filepath.Join(dir, "s.md")
	if err := os.WriteFile(summary, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	printed := must(t, "--role", "fit", "--units", strings.Join(ids, ","), "--records-only", "--out", filepath.Join(dir, "out"), "--junit", junit, "--step-summary", summary, "--json")
	text := tree(t, dir)
	if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text["j.xml"], id) }) || !strings.HasPrefix(text["s.md"], "before\n") || !strings.Contains(text["s.md"], "2 of 2 units graded") {
		t.Errorf("got %s and %s", text["j.xml"], text["s.md"])
	}
	if printed != text["out/data/summary.json"] {
		t.Error("--json prints another summary than the one published")
	}
	schema, err := docgen.Schema("summary")
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(schema, printed); err != nil {
		t.Errorf("--json: %v", err)
	}
	if err := valid(schema, strings.Replace(printed, `"headline"`, `"headlines"`, 1)); err == nil {
		t.Error("the schema of a summary accepts another key")
	}
}

// valid holds a document to a schema.
func valid(schema []byte, document string) error {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", s); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	d, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		return err
	}
	return compiled.Validate(d)
}
