package main

import (
	"os"
	"path/filepath"
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
		{"no answer", "503", "", "refused"},
	} {
		got, err := finding(c.status, c.deployed)
		if err != nil {
			got = "refused"
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
