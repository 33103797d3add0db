package invariants

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/need"
	"gopkg.in/yaml.v3"
)

// TestCommitMessage keeps X20 for the commit that is checked out and, where that is a merge, as
// in the check of a pull request, for each commit it merges.
func TestCommitMessage(t *testing.T) {
	need.Tool(t, "git", "install git")
	need.File(t, "../.git", "check the module out with git")
	messages, err := messagesAt("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range messages {
		for _, p := range commitProblems(text) {
			t.Errorf("%s\n\tin %q (X20)", p, text)
		}
	}
}

// messagesAt are the messages of the commit checked out in dir, or of those that it merges into
// its first parent.
func messagesAt(dir string) ([]string, error) {
	commit, err := git(dir, "cat-file", "commit", "HEAD")
	if err != nil {
		return nil, err
	}
	header, text, _ := strings.Cut(commit, "\n\n")
	if strings.Count(header, "\nparent ") < 2 {
		return []string{text}, nil
	}
	merged, err := git(dir, "log", "--no-merges", "-z", "--format=%B", "HEAD^1..HEAD")
	if err != nil {
		return nil, fmt.Errorf("what the merge brings is not there, fetch the whole history: %w", err)
	}
	return strings.FieldsFunc(merged, func(r rune) bool { return r == 0 }), nil
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
	for _, c := range []struct{ depth, branch, want string }{
		{"1", "main", ""},
		{"1", "change", "what changed\"; the subject ends with a full stop"},
		{"9", "merged", "what changed\"; the subject ends with a full stop"},
		{"1", "merged", "fetch the whole history"},
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
		messages, err := messagesAt(clone)
		if err != nil {
			got = append(got, err.Error())
		}
		for _, text := range messages {
			got = append(got, commitProblems(text)...)
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
