package main

import (
	"bytes"
	"context"
	"flag"
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/doccheck"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the generated files")

const tree = "../.."

// TestGeneratedFilesAreCurrent compares every generated file with what owns its facts.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	keep.Rule(t, "SUB-19", "X7")
	files, err := generatedFiles(tree)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := writeFiles(files, tree); err != nil {
			t.Fatal(err)
		}
	}
	stale, err := docgen.Stale(files, os.DirFS(tree), otherPrograms...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stale {
		t.Errorf("%s\n\tfix: go run ./cmd/blis docs", s)
	}
}

// written are the pages people wrote, with whether each is for contributors.
func written(m *invariants.Module) map[string]bool {
	out := map[string]bool{}
	for p, data := range m.Files {
		switch {
		case path.Ext(p) != ".md" || strings.HasPrefix(p, "content/generated/"):
		case !strings.HasPrefix(p, "content/"):
			out[p] = true
		default:
			out[p] = bytes.Contains(data, []byte("reader: contributor"))
		}
	}
	return out
}

func load(t *testing.T) *invariants.Module {
	t.Helper()
	m, err := invariants.Load(os.DirFS(tree))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPagesAndHelpResolve keeps X26 for pages people wrote and for the texts of the program.
func TestPagesAndHelpResolve(t *testing.T) {
	keep.Rule(t, "X26")
	m := load(t)
	records, err := invariants.Records()
	if err != nil {
		t.Fatal(err)
	}
	d := &doccheck.Tree{Module: m, Commands: []*cobra.Command{root()}, Rules: map[string]bool{}, Metrics: map[string]bool{}, Pages: addresses(m)}
	for _, r := range records {
		d.Rules[r.ID] = true
	}
	for _, x := range metric.All() {
		d.Metrics[x.ID] = true
	}
	d.Index()
	pages := written(m)
	found := append(doccheck.Help(d.Commands[0], d), doccheck.Strings(d)...)
	for p, contributor := range pages {
		if contributor {
			found = append(found, doccheck.Contributor(p, m.Files[p], d)...)
		} else {
			found = append(found, doccheck.Commands(p, m.Files[p], d)...)
		}
	}
	for _, f := range found {
		t.Error(f)
	}
	if len(pages) < 8 {
		t.Errorf("only %d pages were read", len(pages))
	}
}

func TestPeoplePagesHoldIdeasOnly(t *testing.T) {
	keep.Rule(t, "X26")
	m := load(t)
	for p, contributor := range written(m) {
		if !contributor {
			for _, f := range doccheck.People(p, m.Files[p]) {
				t.Error(f)
			}
		}
	}
}

// TestGlossaryHasEachTermOnceInOrder keeps one meaning a word.
func TestGlossaryHasEachTermOnceInOrder(t *testing.T) {
	text, err := os.ReadFile(tree + "/content/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms := regexp.MustCompile(`(?m)^##+ (.+?)(?: \{#[\w-]+\})?\n(\S?)`).FindAllSubmatch(text, -1)
	last := ""
	for _, m := range terms {
		term := strings.ToLower(string(m[1]))
		if term <= last {
			t.Errorf("%q stands after %q: sort the terms, each once", term, last)
		}
		if len(m[2]) == 0 {
			t.Errorf("%q has no meaning below it", term)
		}
		last = term
	}
	if len(terms) < 10 {
		t.Errorf("got %d terms", len(terms))
	}
}

// addresses are the pages the site makes: those of the Markdown files, and those the
// site's own packages name.
func addresses(m *invariants.Module) map[string]bool {
	out := map[string]bool{"/": true}
	url := regexp.MustCompile(`(?m)^url: (\S+)`)
	for p, data := range m.Files {
		if strings.HasPrefix(p, "content/") {
			for _, u := range url.FindAllSubmatch(data, -1) {
				out[string(u[1])] = true
			}
		}
	}
	for _, f := range m.Go {
		if !strings.HasPrefix(f.Path, "site/") {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && strings.HasSuffix(s, "/") {
					out["/"+s] = true
				}
			}
			return true
		})
	}
	return out
}

// TestREADMECommands runs what the README tells a reader to run, when it is of this
// program and only prints.
func TestREADMECommands(t *testing.T) {
	keep.Rule(t, "X26")
	text, err := os.ReadFile(tree + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(text, -1) {
		for line := range strings.Lines(string(block[1])) {
			rest, ours := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/blis ")
			if !ours {
				continue
			}
			ran++
			args := strings.Fields(rest)
			var out, errs bytes.Buffer
			if code := exit.Run(context.Background(), root(), args, &out, &errs); code != exit.Done || out.Len() == 0 {
				t.Errorf("%q: code %d, %d bytes: %s", line, code, out.Len(), errs.String())
			}
		}
	}
	if ran == 0 {
		t.Error("the README shows no command of this program")
	}
}

func TestInvariantsCommand(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"invariants list", exit.Done, "rules, "},
		{"invariants list --status new --json", exit.Done, `"status": "new"`},
		{"invariants list --status foo", exit.Usage, "--status: foo: unknown status"},
		{"invariants show x6", exit.Done, "X6  Same inputs, same bytes"},
		{"invariants show X66", exit.Refused, "is no rule"},
		{"invariants check X66", exit.Refused, "is no rule"},
		{"invariants check --root ../../internal/need", exit.Failed, "which does not exist"},
		{"docs --check --root testdata", exit.Refused, "is no source tree"},
	} {
		var out, errs bytes.Buffer
		code := exit.Run(context.Background(), root(), strings.Fields(c.args), &out, &errs)
		if all := out.String() + errs.String(); code != c.code || !strings.Contains(all, c.want) {
			t.Errorf("%s: got code %d, %.300q, want %d and %q", c.args, code, all, c.code, c.want)
		}
	}
}
