package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// fakeGH is a directory for PATH with a gh that keeps its arguments, a line each, and answers
// with the variable TAGS or STATUS.
func fakeGH(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" >> \"$ARGUMENTS\"\ncase \"$2\" in */matching-refs/*) echo \"$TAGS\" ;; */status) echo \"$STATUS\" ;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

// A release goes out only with the verdict on the held units against the release before it; that
// of a pull request, against its merge base, is another.
func TestAReleaseNeedsTheGate(t *testing.T) {
	keep.Rule(t, "LIF-3", "VAL-6")
	asks, says, bin := workflowStep(t, "release.yml", "gate", "gate"), workflowStep(t, "seed.yml", "judge", "say"), fakeGH(t)
	with := func(text string, env ...string) (arguments, output string, err error) {
		dir := t.TempDir()
		err = script(dir, "PATH="+bin+":$PATH\n"+text, append(env, "GITHUB_REPOSITORY=a/b", "GITHUB_SERVER_URL=s", "GITHUB_RUN_ID=1", "RUNNER_TEMP="+dir,
			"ARGUMENTS="+dir+"/arguments", "GITHUB_OUTPUT="+dir+"/output", "COMMIT=c", "HEAD=c")...).Run()
		files := tree(t, dir)
		return files["arguments"], files["output"], err
	}
	for _, c := range []struct{ name, tags, status, want string }{
		{"passed", "3", "success: evaluation 1 of release on held units u", "said=success: evaluation 1 of release on held units u\n"},
		{"a lane got worse", "3", "failure: evaluation 1 of release on held units u", "refused"},
		{"not judged", "3", "", "refused"},
		{"the first release", "1", "", "said=the first release has none to be compared with\n"},
	} {
		_, got, err := with(asks, "TAGS="+c.tags, "STATUS="+c.status)
		if err != nil {
			got = "refused"
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for job, context := range map[string]string{"release": "context=release-gate\n", "schedule": "context=release-gate\n", "pull_request": "context=gate\n", "select": ""} {
		got, _, err := with("echo 'evaluation 2 of x on held units' > \"$RUNNER_TEMP/said\"\n"+says, "JOB="+job, "OUTCOME=success")
		if err != nil || !strings.Contains(got, context) || (context == "") != (got == "") || context != "" && !strings.Contains(got, "description=evaluation 2 of x on held units\n") {
			t.Errorf("the job %s says %q, %v, want %q and the count of evaluations", job, got, err, context)
		}
	}
	if got, _, err := with(says, "JOB=release", "OUTCOME=failure"); err != nil || !strings.Contains(got, "state=failure\n") {
		t.Errorf("a job that refused its input says %q, %v, want a failure", got, err)
	}
	if !strings.Contains(asks, `"release-gate"`) {
		t.Error("a release asks for another verdict than the job of a release gives")
	}
}
