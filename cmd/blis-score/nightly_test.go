package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

// Scores are kept before they are deployed. A night whose deployment failed leaves a release that
// has scores and is on no site: the next night finds the run that made its site.
func TestAStrandedReleaseIsDeployedAgain(t *testing.T) {
	keep.Rule(t, "COV-9")
	need.Tool(t, "git", "install git")
	keeps, finds := workflowStep(t, "nightly.yml", "publish", ""), workflowStep(t, "nightly.yml", "next", "stranded")
	dir := t.TempDir()
	store, bin := filepath.Join(dir, "published"), filepath.Join(dir, "bin")
	shell(t, dir, "git init --quiet --bare --initial-branch published o.git && git clone --quiet o.git published 2> o.txt && mkdir bin")
	for name, text := range map[string]string{
		"gh":   "echo https://site.example/\n",
		"curl": "while [ $# -gt 1 ]; do if [ \"$1\" = --output ]; then printf '%s' \"$DEPLOYED\" > \"$2\"; fi; shift; done\nprintf '%s' \"$STATUS\"\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	finding := func(status, deployed string) (string, error) {
		output := filepath.Join(t.TempDir(), "output")
		err := script(dir, "PATH="+bin+":$PATH\n"+finds, "RUNNER_TEMP="+dir, "GITHUB_REPOSITORY=a/b", "GITHUB_OUTPUT="+output, "STATUS="+status, "DEPLOYED="+deployed).Run()
		text, _ := os.ReadFile(output)
		return string(text), err
	}
	shell(t, store, "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message empty && git push --quiet origin HEAD:published")
	if got, err := finding("404", ""); err != nil || got != "" {
		t.Errorf("before the first release: got %q, %v, want nothing", got, err)
	}
	publishedIn(t, store, "v1.0.0", "v1.1.0")
	index := tree(t, store)["index.json"]
	shell(t, store, keeps, "TAG=v1.1.0", "GITHUB_RUN_ID=77")
	older := t.TempDir()
	publishedIn(t, older, "v1.0.0")
	for _, c := range []struct{ name, status, deployed, want string }{
		{"deployed", "200", index, ""},
		{"an older site", "200", tree(t, older)["index.json"], "run=77\n"},
		{"no site", "404", "<html>", "run=77\n"},
	} {
		if got, err := finding(c.status, c.deployed); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := finding("503", ""); err == nil {
		t.Error("a site that does not answer was taken for an answer")
	}
}

// The night hands over each tag with the commit it names, oldest first, and takes annotated tags
// alone.
func TestTheNightNamesTheCommitOfEachTag(t *testing.T) {
	keep.Rule(t, "LIF-1", "LIF-3")
	need.Tool(t, "git", "install git")
	text := workflowStep(t, "nightly.yml", "next", "unscored")
	origin, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$ARGUMENTS\"\necho v1.2.0\necho v1.10.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const commit = "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message x"
	shell(t, origin, "git init --quiet --initial-branch main && "+commit+" && git branch published")
	var want []string
	for i, name := range []string{"v1.2.0", "v1.10.0"} {
		date := fmt.Sprintf("GIT_COMMITTER_DATE=2020-01-0%dT00:00:00Z", i+1)
		shell(t, origin, commit+" && git -c user.name=a -c user.email=a@b tag --annotate --message m "+name, date)
		want = append(want, name+"="+strings.TrimSpace(shell(t, origin, "git rev-parse HEAD")))
	}
	night := func() (arguments, output string, err error) {
		work, temp := filepath.Join(t.TempDir(), "work"), t.TempDir()
		shell(t, origin, "git clone --quiet . "+work)
		env := []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/output", "ARGUMENTS=" + temp + "/arguments"}
		err = script(work, "PATH="+bin+":$PATH\n"+text, env...).Run()
		files := tree(t, temp)
		return files["arguments"], files["output"], err
	}
	arguments, output, err := night()
	if err != nil || !strings.HasSuffix(arguments, strings.Join(want, "\n")+"\n") || output != "tag=v1.2.0\nlater=1\n" {
		t.Errorf("got %q, %q, %v, want %q in order and the first to be scored", arguments, output, err, want)
	}
	shell(t, origin, "git tag v1.11.0")
	if _, _, err := night(); err == nil {
		t.Error("a tag that is not annotated was accepted")
	}
}
