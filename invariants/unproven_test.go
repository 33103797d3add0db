package invariants

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestUnprovenChecksAreListed keeps X18: the checks that no forbidden input proves are known by
// name, and -update takes out those that are proven or gone and adds none.
func TestUnprovenChecksAreListed(t *testing.T) {
	keep.Rule(t, "X18")
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		found := unproven(records(t), m)
		var b strings.Builder
		for line := range strings.Lines(string(m.Files[unprovenFile])) {
			if found[strings.TrimSpace(line)] != "" {
				b.WriteString(line)
			}
		}
		m.Files[unprovenFile] = []byte(b.String())
		if err := os.WriteFile(path.Base(unprovenFile), m.Files[unprovenFile], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report(t, Unproven(records(t), m))
	if lines := strings.Split(strings.TrimSpace(string(m.Files[unprovenFile])), "\n"); !slices.IsSorted(lines) {
		t.Error(unprovenFile + " is not sorted")
	}
}

func TestUnprovenOnlyShrinks(t *testing.T) {
	one, none := Check{Test: "a.TestA", Bad: "a.TestBad"}, Check{Test: "a.TestA", Bad: "a.TestA"}
	for _, c := range []struct {
		name, listed string
		check        Check
		want         string
	}{
		{"proven", "", one, ""},
		{"listed", "X1 a.TestA\n", none, ""},
		{"not listed", "", none, "X1: has a check that nothing proves (X18): a.TestA would pass"},
		{"listed under another rule", "X2 a.TestA\n", none, "X1: has a check that nothing proves"},
		{"proven and still listed", "X1 a.TestA\n", one, "X1 a.TestA is proven or gone"},
	} {
		m, err := Load(fstest.MapFS{"a/a_test.go": {Data: []byte(sound)}, "a/a.go": {Data: []byte("package a\n\nfunc Check(s string) error { return nil }\n")}, unprovenFile: {Data: []byte(c.listed)}})
		if err != nil {
			t.Fatal(err)
		}
		checkFindings(t, c.name, Unproven([]Record{{ID: "X1", Checks: []Check{c.check}}}, m), c.want)
	}
}
