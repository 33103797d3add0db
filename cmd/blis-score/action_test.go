package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"gopkg.in/yaml.v3"
)

const scoreAction = "./.github/actions/score"

type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []step }
}

type step struct {
	Uses, Run string
	With, Env map[string]string
}

func decode(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Every step that uses the score action passes inputs it declares, and the command line that its
// script makes of them is one this program takes.
func TestTheScoreActionTakesWhatWorkflowsPass(t *testing.T) {
	var a action
	decode(t, "../../"+scoreAction+"/action.yml", &a)
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, file := range files {
		var w struct {
			Jobs map[string]struct{ Steps []step }
		}
		decode(t, file, &w)
		for name, job := range w.Jobs {
			for _, s := range job.Steps {
				if s.Uses != scoreAction {
					continue
				}
				used++
				if problem := a.refuses(t, s.With); problem != "" {
					t.Errorf("%s: job %s: %s", filepath.Base(file), name, problem)
				}
			}
		}
	}
	if used < 2 {
		t.Errorf("got %d steps that use %s, want the shards and the fit units", used, scoreAction)
	}
	for _, c := range []struct{ name, value, want string }{
		{"junit", "j.xml", ""},
		{"argument", "--role fit", "declares no input argument"},
		{"arguments", "--shard 2/7", "says nothing to a shard"},
		{"arguments", "--rolle fit", "unknown flag"},
		{"out", "", "--out: is empty"},
	} {
		if got := a.refuses(t, map[string]string{c.name: c.value}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q: got %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z.]+) *\}\}`)

// refuses runs the action's script on inputs, with another program in the place of this one that
// keeps its arguments, and says what this program would not take. A store of releases that is not
// there stops it once flags are checked.
func (a *action) refuses(t *testing.T, with map[string]string) string {
	values := map[string]string{"needs.next.outputs.tag": "v1.2.0", "matrix.index": "3"}
	fill := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string { return values[expression.FindStringSubmatch(e)[1]] })
	}
	inputs := map[string]string{}
	for name, input := range a.Inputs {
		inputs[name] = input.Default
	}
	for name := range with {
		if _, ok := a.Inputs[name]; !ok {
			return fmt.Sprintf("%s declares no input %s", scoreAction, name)
		}
	}
	maps.Copy(inputs, with)
	for name, value := range inputs {
		values["inputs."+name] = fill(value)
	}
	dir := t.TempDir()
	for name, script := range map[string]string{"go": "#!/bin/sh\n", "blis-score": "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$RUNNER_TEMP/arguments\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := a.Runs.Steps[len(a.Runs.Steps)-1]
	c := exec.Command("bash", "-euo", "pipefail", "-c", "PATH=$RUNNER_TEMP:$PATH\n"+s.Run)
	c.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY=summary.md")
	for name, value := range s.Env {
		c.Env = append(c.Env, name+"="+fill(value))
	}
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Sprintf("%v: %s", err, text)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(arguments), "\n"), "\n")
	code, _, errs := score(t, append(args, "--snapshots", filepath.Join(dir, "none"))...)
	if code == exit.Refused && strings.Contains(errs, "none: is no directory") {
		return ""
	}
	return errs
}
