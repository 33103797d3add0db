package doccheck

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
)

func sample(t *testing.T) *Tree {
	t.Helper()
	m, err := invariants.Load(fstest.MapFS{
		"Makefile":          {Data: []byte("test:\n\tgo test ./...\n")},
		"ledger/unit.go":    {Data: []byte("package ledger\n\ntype Unit struct{ ID string }\n")},
		"cmd/tool/main.go":  {Data: []byte("package main\n\nfunc f() { use(\"pack --release V\", \"json\"); flags.StringVar(&v, \"release\", \"\", \"tag\") }\n")},
		"content/a/page.md": {Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	blis := &cobra.Command{Use: "blis"}
	run := &cobra.Command{Use: "run FILE", RunE: func(*cobra.Command, []string) error { return nil }}
	run.Flags().Bool("json", false, "")
	blis.AddCommand(run)
	return (&Tree{Module: m, Commands: []*cobra.Command{blis}, Rules: map[string]bool{"X6": true}, Metrics: map[string]bool{"ttft_mean": true},
		Pages: map[string]bool{"/method/": true}}).Index()
}

func TestContributorFinds(t *testing.T) {
	tree := sample(t)
	for _, c := range []struct{ text, want string }{
		{"`ledger/unit.go` and `ledger`", ""},
		{"`ledger/gone.go`", "ledger/gone.go does not exist"},
		{"`ledger/*.go`", ""},
		{"`unit.go`", ""},
		{"`gone.go`", "no file is called gone.go"},
		{"`ledger.Unit`", ""},
		{"`ledger.Gone`", "the module has no ledger.Gone"},
		{"`Unit`", ""},
		{"```\nledger.Unit ──▶ other.Thing\n```", ""},
		{"```\nledger.Gone ──▶ other.Thing\n```", "the module has no ledger.Gone"},
		{"`Gone`", "the module has no Gone"},
		{"`ROWS`", ""},
		{"`--json`", ""},
		{"`--gone`", "no program of the page has the flag --gone"},
		{"```\ncosign verify --offline\n```\n\n`--offline`", ""},
		{"`ttft_mean`", ""},
		{"`ttft_p42`", "ttft_p42 is no metric"},
		{"`blis run --json FILE`", ""},
		{"`blis gone`", "blis has no command gone"},
		{"`go run ./cmd/blis run --gone`", "go run ./cmd/blis"},
		{"`go run ./cmd/tool pack --release V`", ""},
		{"`go run ./cmd/tool send`", "tool has no command send"},
		{"`go run ./cmd/tool pack --json`", "tool has no flag --json"},
		{"`make test`", ""},
		{"`make tea`", "the Makefile has no target tea"},
		{"X6 and [it](inv:X6)", ""},
		{"X7", "names the rule X7"},
		{"[it](inv:X7)", "rule X7"},
		{"[it](/method/)", ""},
		{"[it](/gone/)", "the site has no page /gone/"},
		{"[it](page.md)", ""},
		{"[it](gone.md)", "gone.md does not exist"},
		{"```sh\nmake tea\n```", "the Makefile has no target tea"},
		{"```text\n$ blis run --gone\nblis says --what\n```", "blis run has no flag --gone"},
		{"```\nblis run --gone\n```", "blis run has no flag --gone"},
		{"```yaml\nblis run --gone\n```", ""},
		{"`blis run 'vllm serve --gone' | tool --gone`", ""},
		{"```sh\nblis run --json \\\n  FILE  # a comment\ncosign verify --key K\n```", ""},
	} {
		check(t, c.text, Contributor("content/a/x.md", []byte(c.text+"\n"), tree), c.want)
	}
}

func TestCommandsOfAnyPageAreChecked(t *testing.T) {
	tree := sample(t)
	for _, c := range []struct{ text, want string }{
		{"`blis run --json`, `--json`, `--help` and `ledger/gone.go`", ""},
		{"`blis run --gone`", "blis run has no flag --gone"},
		{"`--gone FILE`", "no program of the page has the flag --gone"},
		{"```\ncosign verify --offline\n```\n\n`--offline FILE` and `--root`", ""},
		{"`blis run FILE` and `--release V`", "no program of the page has the flag --release"},
		{"`blis run FILE`, `go run ./cmd/tool pack` and `--release V`", ""},
		{"`--release V`", ""},
		{"```\nblis run --json\n```\n\n`--root`", "no program of the page has the flag --root"},
	} {
		check(t, c.text, Commands("content/x.md", []byte(c.text+"\n"), tree), c.want)
	}
}

func TestHelpFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(run *cobra.Command)
		want  string
	}{
		{"as it is", func(*cobra.Command) {}, ""},
		{"an example's flag", func(run *cobra.Command) { run.Example = "  blis run --gone x" }, "blis run has no flag --gone"},
		{"an example's command", func(run *cobra.Command) { run.Example = "  blis gone" }, "blis has no command gone"},
		{"an example of nothing", func(run *cobra.Command) { run.Example = "  gone --json" }, "blis run: example"},
		{"another program's flags in an example", func(run *cobra.Command) { run.Example = "  blis run 'vllm --gone' --json" }, ""},
		{"the usage line", func(run *cobra.Command) { run.Use = "run FILE [--gone N]" }, "blis run: usage: the command has no flag --gone"},
		{"the description", func(run *cobra.Command) { run.Long = "With --json or --gone it prints." }, "blis run: long: the command has no flag --gone"},
		{"a command in the description", func(run *cobra.Command) { run.Long = "As `blis gone` does." }, "blis has no command gone"},
		{"a flag's description", func(run *cobra.Command) { run.Flags().Bool("x", false, "needs --gone") }, "blis run: --x: the command has no flag --gone"},
	} {
		tree := sample(t)
		c.spoil(tree.Commands[0].Commands()[0])
		check(t, c.name, Help(tree.Commands[0], tree), c.want)
	}
	tree := sample(t)
	m, err := invariants.Load(fstest.MapFS{"cmd/blis/a.go": {Data: []byte("package main\n\nvar err = \"--json needs --gone\"\n")}})
	if err != nil {
		t.Fatal(err)
	}
	tree.Module = m
	check(t, "a message", Help(tree.Commands[0], tree), "cmd/blis/a.go:3: no command has the flag --gone")
}

func TestCommandsInStringsAreChecked(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`"go run ./cmd/tool pack --release " + id + " and more"`, ""},
		{`"go run ./cmd/tool pack --release " + id + " --gone"`, "site/a.go:3: \"go run ./cmd/tool pack --release X --gone\": tool has no flag --gone"},
		{`"first\ngo run ./cmd/blis run --gone"`, "blis run has no flag --gone"},
		{"\"see `blis run --gone` \"", "blis run has no flag --gone"},
		{"\"see `blis run --gone \" + file", "blis run has no flag --gone"},
		{`say("go run ./cmd/blis gone") + "x"`, "blis has no command gone"},
		{"\"see `vllm serve --gone`, `--gone` and blis run --json\"", ""},
	} {
		tree := sample(t)
		m, err := invariants.Load(fstest.MapFS{"site/a.go": {Data: []byte("package site\n\nvar text = " + c.expr + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		for p, src := range tree.Module.Files {
			m.Files[p] = src
		}
		m.Folders["cmd/blis"], m.Folders["cmd/tool"] = true, true
		tree.Module = m
		check(t, c.expr, Strings(tree), c.want)
	}
}

func TestPeopleFinds(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"An engine works in steps, G1 to G5. It waits for two seconds on an H100.", ""},
		{"See ledger/unit.go.", `a path, "ledger/u"`},
		{"See `unit.go`.", `a file, "unit.go"`},
		{"As of v1.2 it does.", `a version, "v1.2"`},
		{"At commit 2f41c894e320.", `a version, "2f41c894e320"`},
		{"It knows 12 models.", `a count, "12 models"`},
		{"`spec.Scenario` holds it.", `a symbol, "spec.Scenario"`},
	} {
		check(t, c.text, People("content/x.md", []byte(c.text+"\n")), c.want)
	}
}

func TestFindingNamesTheLineBelowTheFrontMatter(t *testing.T) {
	found := People("content/x.md", []byte("---\ntitle: v1.2.3\n---\n\nGood.\n\nAs of v1.2 it does.\n"))
	if len(found) != 1 || found[0].Where != "content/x.md:7" {
		t.Errorf("got %v, want one finding at line 7", found)
	}
}

func check(t *testing.T, text string, got []invariants.Finding, want string) {
	t.Helper()
	var all []string
	for _, f := range got {
		all = append(all, f.String())
	}
	if joined := strings.Join(all, "\n"); (joined == "") != (want == "") || !strings.Contains(joined, want) {
		t.Errorf("%q: got %q, want %q", text, joined, want)
	}
}
