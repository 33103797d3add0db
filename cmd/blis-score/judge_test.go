package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

const registration = "schema: blis.preregistration/1\nchange: a-change\nhypothesis: h\nlayer: method\ntarget: {lane: vllm, metric: tpot_mean}\n" +
	"criteria: {target: better, others: not worse}\npredicted_change: {low: 0, high: 0}\n"

// A change commits its pre-registration and the head that holds it is what the gate judges: the
// steps of the two workflows run here on a real repository.
func TestTheGateJudgesTheHeadThatHoldsTheRegistration(t *testing.T) {
	keep.Rule(t, "T-A1", "VAL-6")
	need.Tool(t, "git", "install git")
	build, find := workflowStep(t, "candidate.yml", "predict", "build"), workflowStep(t, "seed.yml", "judge", "registration")
	origin := t.TempDir()
	commit := func(files map[string]string) string {
		for name, text := range files {
			file := filepath.Join(origin, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shell(t, origin, "git add . && git -c user.name=a -c user.email=a@b commit --quiet --message x")
		return strings.TrimSpace(shell(t, origin, "git rev-parse HEAD"))
	}
	shell(t, origin, "git init --quiet --initial-branch main")
	base := commit(map[string]string{"go.mod": "module m\n\ngo 1.26\n", "cmd/blis-score/main.go": "package main\n\nfunc main() {}\n"})
	shell(t, origin, "git switch --quiet --create none")
	none := commit(map[string]string{"a": "1"})
	shell(t, origin, "git switch --quiet --create one")
	one := commit(map[string]string{"preregistrations/a-change.yaml": registration})
	shell(t, origin, "git switch --quiet --create two")
	two := commit(map[string]string{"preregistrations/another.yaml": registration})
	shell(t, origin, "git switch --quiet main")
	commit(map[string]string{"b": "main goes on"})

	// The candidate job: each program says which commit it was built from.
	temp, work := t.TempDir(), filepath.Join(t.TempDir(), "checkout")
	shell(t, origin, "git clone --quiet . "+work+" && cd "+work+" && git checkout --quiet --detach "+one)
	shell(t, work, build, "TARGET=main", "RUNNER_TEMP="+temp, "GOFLAGS=-buildvcs=auto")
	for side, want := range map[string]string{"base": base, "candidate": one} {
		info, err := buildinfo.ReadFile(filepath.Join(temp, "blis-score-"+side))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				got = s.Value
			}
		}
		if got != want {
			t.Errorf("the %s says it was built from %q, want %s", side, got, want)
		}
	}

	// The job that holds the seed, on the default branch.
	shell(t, work, "git checkout --quiet main")
	found := func(head string) string {
		output := filepath.Join(t.TempDir(), "output")
		shell(t, work, find, "HEAD="+head, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+output+".md")
		text, _ := os.ReadFile(output)
		return string(text)
	}
	if got := found(one); got != "base="+base+"\n" {
		t.Errorf("one pre-registration: got %q, want the base %s", got, base)
	}
	if got := found(none); got != "" {
		t.Errorf("no pre-registration: got %q, want nothing to judge", got)
	}
	if err := script(work, find, "HEAD="+two, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+os.DevNull, "GITHUB_STEP_SUMMARY="+os.DevNull).Run(); err == nil {
		t.Error("two pre-registrations were accepted")
	}
	judged(t, filepath.Join(temp, "registration.yaml"), base, one, none)
}

// judged runs the gate over predictions of base and head, and of another head.
func judged(t *testing.T, registration, base, head, other string) {
	t.Setenv("ROLE_SEED_OF_TEST", seedText)
	dir, l := t.TempDir(), secret(t, unspoiled)
	must(t, "predict", "--ledger", l, "--out", filepath.Join(dir, "p.json"))
	text := tree(t, dir)["p.json"]
	of := func(commit string) string {
		file := filepath.Join(dir, commit+".json")
		changed := regexp.MustCompile(`"commit": "[^"]*"`).ReplaceAllString(text, `"commit": "`+commit+`"`)
		if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		candidate string
		code      int
		want      string
	}{
		{other, exit.Refused, "candidate.build.commit: " + other},
		{head, exit.Failed, "no lane covers 10 units\nevaluation 1 of a-change on held units"}, // judged; the excerpt is small
	} {
		code, out, errs := score(t, "gate", "--seed-env", "ROLE_SEED_OF_TEST", "--ledger", l, "--evaluations", filepath.Join(dir, "evaluations.jsonl"),
			"--base", of(base), "--candidate", of(c.candidate), "--preregistration", registration, "--base-commit", base, "--candidate-commit", head)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("predictions of %s: exit %d, %s%s, want %d and %q", c.candidate, code, out, errs, c.code, c.want)
		}
	}
}

// workflowStep is the script of the step of a job that has the name or id, or of its one script.
func workflowStep(t *testing.T, file, job, step string) string {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ ID, Name, Run string }
		}
	}
	decode(t, "../../.github/workflows/"+file, &w)
	for _, s := range w.Jobs[job].Steps {
		if s.Run != "" && (s.ID == step || s.Name == step && s.ID == "" || step == "") {
			return s.Run
		}
	}
	t.Fatalf("%s: job %s has no step %s", file, job, step)
	return ""
}

// script is text as a workflow runs it.
func script(dir, text string, env ...string) *exec.Cmd {
	c := exec.Command("bash", "-euo", "pipefail", "-c", text)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return c
}

func shell(t *testing.T, dir, text string, env ...string) string {
	t.Helper()
	out, err := script(dir, text, env...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}
