package invariants

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"gopkg.in/yaml.v3"
)

// workflow is what the checks of secrets read of a workflow file.
type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Environment yaml.Node         `yaml:"environment"`
		Permissions map[string]string `yaml:"permissions"`
		Needs       yaml.Node         `yaml:"needs"`
		Steps       []struct {
			Uses string            `yaml:"uses"`
			With map[string]string `yaml:"with"`
			Env  map[string]string `yaml:"env"`
			Run  string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// triggers are the events that start a workflow.
func (w *workflow) triggers() (out []string) {
	switch w.On.Kind {
	case yaml.ScalarNode:
		return []string{w.On.Value}
	case yaml.SequenceNode:
		for _, n := range w.On.Content {
			out = append(out, n.Value)
		}
	case yaml.MappingNode:
		for i := 0; i < len(w.On.Content); i += 2 {
			out = append(out, w.On.Content[i].Value)
		}
	}
	return out
}

// defaultBranch is the one reference that a job with a secret may check out.
const defaultBranch = "${{ github.event.repository.default_branch }}"

// seedProblems holds jobs with secrets to the default branch, in an environment of
// their own and apart from what a candidate wrote, and the jobs of a pull request to
// a token that only reads (D7).
func seedProblems(name string, src []byte) (out []Finding) {
	var w workflow
	if err := yaml.Unmarshal(src, &w); err != nil {
		return []Finding{{name, err.Error(), ""}}
	}
	add := func(job, what, fix string) { out = append(out, Finding{name + ": " + job, what + " (D7)", fix}) }
	on := w.triggers()
	if slices.Contains(on, "pull_request_target") {
		add("on", "runs with the base's token for a pull request's code", "pull_request, and a workflow_run on the default branch")
	}
	for _, id := range sortedKeys(w.Jobs) {
		job := w.Jobs[id]
		secret := job.Environment.Value == "role-seed"
		for _, s := range job.Steps {
			for _, k := range sortedKeys(s.Env) {
				secret = secret || strings.Contains(s.Env[k], "secrets.")
			}
			secret = secret || strings.Contains(s.Run+fmt.Sprint(s.With), "secrets.")
		}
		if !secret {
			for _, k := range sortedKeys(job.Permissions) {
				if slices.Contains(on, "pull_request") && job.Permissions[k] != "read" {
					add(id, "may write "+k+" for a pull request", k+": read")
				}
			}
			continue
		}
		if !slices.Equal(on, []string{"workflow_run"}) {
			add(id, fmt.Sprintf("holds a secret and is started by %s", strings.Join(on, ", ")), "workflow_run, which takes the workflow of the default branch")
		}
		if job.Environment.Value != "role-seed" {
			add(id, "holds a secret outside the environment role-seed", "environment: role-seed")
		}
		for _, s := range job.Steps {
			switch action, _, _ := strings.Cut(s.Uses, "@"); {
			case action == "actions/checkout" && s.With["ref"] != defaultBranch:
				add(id, fmt.Sprintf("holds a secret and checks out %q", s.With["ref"]), "ref: "+defaultBranch)
			case action == "actions/download-artifact" && !strings.HasPrefix(s.With["path"], "${{ runner.temp }}/"):
				add(id, "puts a candidate's files into the checkout", "path: ${{ runner.temp }}/...")
			case strings.HasPrefix(s.Uses, "./"):
				add(id, "holds a secret and runs an action of the checkout", "steps of its own")
			}
		}
	}
	return out
}

// TestSeedIsKeptFromCandidates keeps D7 in the workflows.
func TestSeedIsKeptFromCandidates(t *testing.T) {
	keep.Rule(t, "D7")
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if strings.HasPrefix(p, ".github/workflows/") && path.Ext(p) == ".yml" {
				out = append(out, seedProblems(p, m.Files[p])...)
			}
		}
		return out
	}
	const file, good = ".github/workflows/a.yml", `on: {workflow_run: {workflows: [candidate]}}
jobs:
  j:
    environment: role-seed
    steps:
      - uses: actions/checkout@a
        with: {ref: "${{ github.event.repository.default_branch }}"}
      - uses: actions/download-artifact@a
        with: {path: "${{ runner.temp }}/p"}
      - env: {SEED: "${{ secrets.SEED }}"}
        run: x
`
	edit := func(old, new string) files { return files{file: strings.Replace(good, old, new, 1)} }
	hold(t, rule,
		bad{"the seed job", files{file: good}, ""},
		bad{"another trigger", edit("{workflow_run: {workflows: [candidate]}}", "[workflow_run, push]"), "is started by workflow_run, push"},
		bad{"the base's token", edit("{workflow_run: {workflows: [candidate]}}", "pull_request_target"), "runs with the base's token"},
		bad{"no environment", edit("environment: role-seed", "timeout-minutes: 5"), "outside the environment role-seed"},
		bad{"the candidate's branch", edit("github.event.repository.default_branch", "github.event.workflow_run.head_branch"), "checks out"},
		bad{"no ref", edit("ref: ", "path: "), "checks out \"\""},
		bad{"predictions in the checkout", edit("${{ runner.temp }}/p", "p"), "into the checkout"},
		bad{"a local action", edit("run: x", "uses: ./.github/actions/score"), "an action of the checkout"},
		bad{"a writing candidate", files{file: "on: [pull_request]\njobs: {j: {permissions: {contents: write}, steps: []}}\n"}, "may write contents"},
		bad{"a reading candidate", files{file: "on: [pull_request]\njobs: {j: {permissions: {contents: read}, steps: []}}\n"}, ""})
}

// TestOnlyFitAndAnchorListsArePublished keeps D7 in the ledger's folder: another list there
// would say which units hold a role that only the holder of the seed may know.
func TestOnlyFitAndAnchorListsArePublished(t *testing.T) {
	keep.Rule(t, "D7")
	const dir = "ledger/data/"
	known := []string{"published/anchor.txt", "published/fit.txt", "published/seed.sha256", "report.json", "units.jsonl"}
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if name, in := strings.CutPrefix(p, dir); in && !slices.Contains(known, name) {
				out = append(out, Finding{p, "is no file that the ledger publishes (D7)", "delete it; " + dir + " holds " + strings.Join(known, ", ")})
			}
		}
		return out
	}
	hold(t, rule,
		bad{"the published lists", files{dir + known[0]: "", dir + known[1]: "", dir + known[2]: ""}, ""},
		bad{"the select list", files{dir + "published/select.txt": ""}, "ledger/data/published/select.txt: is no file"},
		bad{"a list beside them", files{dir + "held.txt": ""}, "ledger/data/held.txt: is no file"})
}

// TestNightlyPublishesWholeSuccessors keeps COV-8 and COV-9 in the nightly workflow: the
// site is checked against what was published, kept, and only then deployed.
func TestNightlyPublishesWholeSuccessors(t *testing.T) {
	keep.Rule(t, "COV-8", "COV-9")
	const file = ".github/workflows/nightly.yml"
	needs := map[string][]string{"site": {"nightly-tests", "next", "shard"}, "publish": {"next", "site"}, "deploy": {"publish"}, "redeploy": {"next"}}
	runs := map[string]string{"next": "unscored --snapshots", "site": "verify public --snapshots", "publish": "git push"}
	rule := func(m *Module) (out []Finding) {
		var w workflow
		if err := yaml.Unmarshal(m.Files[file], &w); err != nil {
			return []Finding{{file, err.Error(), ""}}
		}
		for _, id := range sortedKeys(needs) {
			var got []string
			node := w.Jobs[id].Needs
			if node.Kind == yaml.ScalarNode {
				got = []string{node.Value}
			}
			for _, n := range node.Content {
				got = append(got, n.Value)
			}
			if !slices.Equal(got, needs[id]) {
				out = append(out, Finding{file + ": " + id, fmt.Sprintf("follows %v, so a failed night could publish (COV-8)", got), fmt.Sprintf("needs: %v", needs[id])})
			}
		}
		for _, id := range sortedKeys(runs) {
			found := false
			for _, s := range w.Jobs[id].Steps {
				found = found || strings.Contains(s.Run, runs[id]) && !strings.Contains(s.Run, "--force")
			}
			if !found {
				out = append(out, Finding{file + ": " + id, fmt.Sprintf("does not run %q (COV-8, COV-9)", runs[id]), ""})
			}
		}
		return out
	}
	const good = `jobs:
  next: {steps: [{run: blis-score unscored --snapshots d}]}
  site: {needs: [nightly-tests, next, shard], steps: [{run: blis-score verify public --snapshots d}]}
  publish: {needs: [next, site], steps: [{run: git push}]}
  deploy: {needs: publish, steps: []}
  redeploy: {needs: next, steps: []}
`
	edit := func(old, new string) files { return files{file: strings.Replace(good, old, new, 1)} }
	hold(t, rule,
		bad{"whole", files{file: good}, ""},
		bad{"a failed shard is left out", edit("[nightly-tests, next, shard]", "[nightly-tests, next]"), "could publish"},
		bad{"deployed before it is kept", edit("needs: publish", "needs: site"), "could publish"},
		bad{"a failed deployment stays", edit("redeploy", "again"), "redeploy: follows []"},
		bad{"no successor check", edit("verify public --snapshots d", "verify public"), "does not run \"verify public --snapshots\""},
		bad{"history rewritten", edit("git push", "git push --force"), "does not run \"git push\""},
		bad{"any order", edit("unscored --snapshots d", "latest"), "does not run \"unscored"})
}

// TestLedgerIsCheckedWhereChangesAreProposed keeps D4: a pull request's ledger is
// compared with the one it starts from.
func TestLedgerIsCheckedWhereChangesAreProposed(t *testing.T) {
	keep.Rule(t, "D4")
	const file = ".github/workflows/ci.yml"
	rule := func(m *Module) []Finding {
		var w workflow
		if err := yaml.Unmarshal(m.Files[file], &w); err != nil {
			return []Finding{{file, err.Error(), ""}}
		}
		for _, s := range w.Jobs["ledger"].Steps {
			if strings.Contains(s.Run, "blis ledger check --base") && slices.Contains(w.triggers(), "pull_request") {
				return nil
			}
		}
		return []Finding{{file, "compares no pull request's ledger with its base (D4)", "blis ledger check --base"}}
	}
	const good = "on: [pull_request]\njobs: {ledger: {steps: [{run: blis ledger check --base b}]}}\n"
	hold(t, rule,
		bad{"checked", files{file: good}, ""},
		bad{"not checked", files{file: strings.Replace(good, "check", "list", 1)}, "compares no pull request's ledger"},
		bad{"after it landed", files{file: strings.Replace(good, "pull_request", "push", 1)}, "compares no pull request's ledger"})
}
