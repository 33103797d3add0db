package invariants

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
	"gopkg.in/yaml.v3"
)

// TestCommitMessage keeps X20 and DEV-12 for the commit that is checked out and, where that is a
// merge, as in the check of a pull request, for each commit it merges.
func TestCommitMessage(t *testing.T) {
	keep.Rule(t, "X20", "DEV-12")
	need.Tool(t, "git", "install git")
	need.File(t, "../.git", "check the module out with git")
	commits, err := commitsAt("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		for _, p := range c.problems() {
			t.Errorf("%s\n\tin %q", p, c.text)
		}
	}
}

// commit is a message, and the files that the commit changes: those that were there before.
type commit struct {
	text    string
	changed []string
}

// commitsAt are the commit checked out in dir, or those that it merges into its first parent.
func commitsAt(dir string) (out []commit, err error) {
	head, err := git(dir, "cat-file", "commit", "HEAD")
	if err != nil {
		return nil, err
	}
	ids := "HEAD"
	if header, _, _ := strings.Cut(head, "\n\n"); strings.Count(header, "\nparent ") >= 2 {
		if ids, err = git(dir, "rev-list", "--no-merges", "HEAD^1..HEAD"); err != nil {
			return nil, fmt.Errorf("what the merge brings is not there, fetch the whole history: %w", err)
		}
	}
	for _, id := range strings.Fields(ids) {
		text, err := git(dir, "log", "-1", "--format=%B", id)
		if err != nil {
			return nil, err
		}
		changed, err := git(dir, "show", "--format=", "--name-only", "--diff-filter=MD", id)
		if err != nil {
			return nil, err
		}
		out = append(out, commit{text, strings.Fields(changed)})
	}
	return out, nil
}

func (c commit) problems() []string { return append(commitProblems(c.text), classProblems(c)...) }

// moves are what a change of the model moves: the results of the byte gate, the coefficients
// and the facts.
var moves = regexp.MustCompile(`^(sim/testdata/gate/[^/]+/result\.json|registry/data/.*|registry/acceptance/profiles\.yaml|catalog/data/.*)$`)

var class = regexp.MustCompile(`(?m)^Class: (\w+)$`)

// classProblems holds the class that a commit declares to what it moves (DEV-12). Without a word
// a commit is a verification.
func classProblems(c commit) (out []string) {
	declared := "verification"
	switch found := class.FindAllStringSubmatch(c.text, -1); {
	case len(found) > 1:
		return []string{"states more than one class: a commit is a verification or a validation, and is split when it is both (DEV-12)"}
	case len(found) == 1:
		declared = found[0][1]
	}
	at := slices.IndexFunc(c.changed, moves.MatchString)
	switch {
	case declared != "verification" && declared != "validation":
		out = append(out, declared+" is no class: verification or validation (DEV-12)")
	case declared == "verification" && at >= 0:
		out = append(out, c.changed[at]+" moves in a verification: a change of what is modelled ends its message with \"Class: validation\" (DEV-12)")
	case declared == "validation" && at < 0:
		out = append(out, "a validation moves no result of the byte gate, no coefficient and no fact: it is a verification (DEV-12)")
	}
	return out
}

// TestTheClassIsWhatMoved feeds the check of a commit's class with each mismatch (DEV-12).
func TestTheClassIsWhatMoved(t *testing.T) {
	keep.Rule(t, "DEV-12")
	const result, test = "sim/testdata/gate/closed/result.json", "sim/run_test.go"
	for _, c := range []struct {
		body    string
		changed []string
		want    string
	}{
		{"", []string{test}, ""},
		{"", []string{test, result}, result + " moves in a verification"},
		{"Class: verification\n", []string{"registry/data/h100_sxm/gemm.yaml"}, "moves in a verification"},
		{"Class: validation\n", []string{result}, ""},
		{"Class: validation\n", []string{"catalog/data/hardware/h100_sxm.yaml"}, ""},
		{"Class: validation\n", []string{test}, "it is a verification"},
		{"Class: both\n", []string{result}, "both is no class"},
		{"Class: verification\nClass: validation\n", []string{result}, "more than one class"},
	} {
		got := strings.Join(classProblems(commit{"sim: it\n\n" + c.body, c.changed}), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q changing %v: got %q, want %q", c.body, c.changed, got, c.want)
		}
	}
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %s", strings.Join(args, " "), failed.Stderr)
	}
	return string(out), err
}

// TestCommitsAreReadFromGit: a packed clone with one commit of history is judged like any other,
// and a merge for what it brings.
func TestCommitsAreReadFromGit(t *testing.T) {
	keep.Rule(t, "DEV-12", "X20")
	need.Tool(t, "git", "install git")
	dir := t.TempDir()
	at := filepath.Join(dir, "origin")
	do := func(args ...string) {
		t.Helper()
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(message string) {
		t.Helper()
		do("-C", at, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message", message)
	}
	do("init", "--quiet", "--initial-branch", "main", at)
	commit("ledger: the first")
	do("-C", at, "switch", "--quiet", "--create", "change")
	commit("ledger: roles")
	commit("fixed stuff.")
	result := filepath.Join(at, "sim/testdata/gate/a/result.json")
	if err := os.MkdirAll(filepath.Dir(result), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ branch, text, message string }{
		{"added", "1", "sim: a scenario"}, {"moved", "2", "sim: faster"}, {"declared", "3", "sim: slower\n\nClass: validation"},
	} {
		if err := os.WriteFile(result, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		do("-C", at, "switch", "--quiet", "--create", c.branch)
		do("-C", at, "add", ".")
		commit(c.message)
	}
	for _, c := range []struct{ depth, branch, want string }{
		{"1", "main", ""},
		{"1", "change", "what changed\"; the subject ends with a full stop"},
		{"9", "merged", "what changed\"; the subject ends with a full stop"},
		{"1", "merged", "fetch the whole history"},
		{"9", "added", ""},
		{"9", "moved", "a/result.json moves in a verification"},
		{"9", "declared", ""},
		{"9", "good", ""},
	} {
		switch c.branch {
		case "merged":
			do("-C", at, "switch", "--quiet", "--force-create", "merged", "main")
			do("-C", at, "-c", "user.name=a", "-c", "user.email=a@b", "merge", "--quiet", "--no-ff", "--message", "Merge 1 into 2", "change")
		case "good":
			do("-C", at, "switch", "--quiet", "--create", "good", "main")
			do("-C", at, "-c", "user.name=a", "-c", "user.email=a@b", "merge", "--quiet", "--no-ff", "--message", "Merge 1 into 2", "change~1")
		}
		clone := filepath.Join(dir, c.branch+c.depth)
		do("clone", "--quiet", "--depth", c.depth, "--branch", c.branch, "file://"+at, clone)
		var got []string
		commits, err := commitsAt(clone)
		if err != nil {
			got = append(got, err.Error())
		}
		for _, c := range commits {
			got = append(got, c.problems()...)
		}
		if text := strings.Join(got, "; "); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s at depth %s: got %q, want %q", c.branch, c.depth, text, c.want)
		}
	}
}

func TestCommitMessageRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ledger: roles\n\nWhy.\n", ""},
		{"ledger: roles\n\nAssisted-by: a tool\n", ""},
		{"fixed stuff\n", "names no package"},
		{"ledger: " + strings.Repeat("x", 93), "is longer than"},
		{"ledger: roles.\n", "ends with a full stop"},
		{"ledger: roles\nbody", "no empty line"},
		{"ledger: roles\n\nCo-authored-by: Claude <a@b>\n", "names a tool"},
		{"ledger: roles\n\nAssisted-by: a\nAssisted-by: b\n", "2 Assisted-by lines"},
	} {
		got := strings.Join(commitProblems(c.text), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestChecksSeeEveryCommitOfAMerge keeps X20 in the workflows: a job that runs every check has
// the history that the merge of a pull request stands on.
func TestChecksSeeEveryCommitOfAMerge(t *testing.T) {
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			var w workflow
			if !strings.HasPrefix(p, ".github/workflows/") || yaml.Unmarshal(m.Files[p], &w) != nil {
				continue
			}
			for _, id := range sortedKeys(w.Jobs) {
				shallow := false
				for _, s := range w.Jobs[id].Steps {
					shallow = shallow || strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["fetch-depth"] != "0"
					if shallow && (strings.Contains(s.Run, ".ci/run") || strings.Contains(s.Run, "make ")) {
						out = append(out, Finding{p + ": " + id, "runs every check without the history (X20)", "with: {fetch-depth: 0}"})
					}
				}
			}
		}
		return out
	}
	const good = "jobs: {test: {steps: [{uses: actions/checkout@a, with: {fetch-depth: 0}}, {run: bash .ci/run}]}}\n"
	hold(t, rule,
		bad{"the history", files{".github/workflows/a.yml": good}, ""},
		bad{"one commit", files{".github/workflows/a.yml": strings.Replace(good, "depth: 0", "depth: 1", 1)}, "runs every check without the history"})
}

// commitProblems holds a message to the form of AGENTS.md and X20.
func commitProblems(text string) (out []string) {
	subject, body, _ := strings.Cut(text, "\n")
	const most = 100
	if !regexp.MustCompile(`^[A-Za-z.][\w./*{}-]*(, [\w./*{}-]+)*: \S`).MatchString(subject) {
		out = append(out, `the subject names no package: "ledger: what changed"`)
	}
	if len(subject) > most {
		out = append(out, fmt.Sprintf("the subject is longer than %d characters", most))
	}
	if strings.HasSuffix(subject, ".") {
		out = append(out, "the subject ends with a full stop")
	}
	if body != "" && !strings.HasPrefix(body, "\n") {
		out = append(out, "no empty line after the subject")
	}
	if regexp.MustCompile(`(?im)^(co-authored|signed-off)-by:.*(claude|copilot|cursor|codex|gemini|gpt|\bbot\b)`).MatchString(body) {
		out = append(out, "a co-author or sign-off line names a tool (X20): use one Assisted-by line")
	}
	if n := strings.Count(strings.ToLower(body), "\nassisted-by:"); n > 1 {
		out = append(out, fmt.Sprintf("%d Assisted-by lines (X20): one", n))
	}
	return out
}
