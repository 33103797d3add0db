package invariants

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

// TestWorkflows lints every workflow offline and holds each action to a commit
// with its version beside it (X21), and each step to its exit code (X22).
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %d workflows, %v, want ci, nightly and release", len(files), err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range lintWorkflow(t, f, src) {
			t.Error(p)
		}
	}
}

func TestWorkflowLintRefuses(t *testing.T) {
	const head = "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: "
	for _, c := range []struct{ name, uses, want string }{
		{"pinned", "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2", ""},
		{"tag", "actions/checkout@v6", "is not pinned"},
		{"no version", "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd", "is not pinned"},
		{"ignored exit code", "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2\n      - run: make test || true", "ignores an exit code"},
		{"bad need", "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2\n    needs: b", "needs"},
	} {
		got := strings.Join(lintWorkflow(t, "w.yml", []byte(head+c.uses+"\n")), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

var ignored = regexp.MustCompile(`\|\| *(true|:)(\s|$|\))|continue-on-error:\s*true|set \+e`)

var uses = regexp.MustCompile(`^[\s-]*uses:`)

var pinned = regexp.MustCompile(`uses:\s+\S+@[0-9a-f]{40} # v\d`)

func lintWorkflow(t *testing.T, name string, src []byte) (problems []string) {
	t.Helper()
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: "", Pyflakes: ""})
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.Lint(name, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		problems = append(problems, e.Error())
	}
	for i, line := range strings.Split(string(src), "\n") {
		if ignored.MatchString(line) {
			problems = append(problems, name+":"+strconv.Itoa(i+1)+": a step ignores an exit code (X22): "+strings.TrimSpace(line))
		}
		if uses.MatchString(line) && !strings.Contains(line, "uses: ./") && !pinned.MatchString(line) {
			problems = append(problems, name+":"+strconv.Itoa(i+1)+": action is not pinned to a commit with its version beside it (X21): "+strings.TrimSpace(line))
		}
	}
	return problems
}
