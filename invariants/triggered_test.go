package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// refusers make a refusal of their arguments, in the packages whose refusals are counted.
var refusers = []string{"refuse", "reject", "valueError", "bad"}

// refusalsOf are the places of f that refuse: composite literals of a refusal, and calls of
// what makes one. What a place says is its longest literal text, which outlives its line.
func refusalsOf(f *GoFile) map[token.Pos]string {
	out := map[token.Pos]string{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || slices.Contains(refusers, fn.Name.Name) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if s, ok := n.Type.(*ast.SelectorExpr); ok && slices.Contains([]string{"Refusal", "Rejection"}, s.Sel.Name) {
					out[n.Pos()] = longest(n)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && slices.Contains(refusers, id.Name) {
					out[n.Pos()] = longest(n)
				}
			}
			return true
		})
	}
	return out
}

func longest(n ast.Node) (text string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil && len(s) > len(text) {
				text = s
			}
		}
		return true
	})
	return text
}

// untriggered are the refusals of files that no counted statement made, as "file: text".
func untriggered(m *Module, ran map[string][]span, within func(path string) bool) (out []string, all int) {
	for _, f := range m.Go {
		if f.Test() || !within(f.Path) {
			continue
		}
		for pos, text := range refusalsOf(f) {
			all++
			if at := f.fset.Position(pos); !block(ran[f.Path], at.Line, at.Column).ran {
				out = append(out, f.Path+": "+oneText(text))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), all
}

func oneText(s string) string { return strings.Join(strings.Fields(s), " ") }

// block is the last counted block that starts at or before a place.
func block(spans []span, line, col int) (at span) {
	for _, s := range spans {
		if (s.line < line || s.line == line && s.col <= col) && (s.line > at.line || s.line == at.line && (s.col > at.col || s.col == at.col && s.ran)) {
			at = s
		}
	}
	return at
}

// TestEveryRefusalIsTriggered keeps SIM-9: each refusal of the simulator and the ports is
// made by some test of theirs, or is listed in untriggered.txt, which only shrinks; -update
// writes that down. It runs all those tests, so it is nightly.
func TestEveryRefusalIsTriggered(t *testing.T) {
	keep.Rule(t, "SIM-9")
	if os.Getenv("BLIS_NIGHTLY") == "" {
		t.Skip("runs in the nightly job")
	}
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	ran := tested(t, m.Path, "-coverpkg", "./sim/...,./engines/...", "./sim/...", "./engines/...")
	found, all := untriggered(m, ran, func(p string) bool {
		return (strings.HasPrefix(p, "sim/") || strings.HasPrefix(p, "engines/")) && !strings.Contains(p, "/oracle/")
	})
	t.Logf("%d of %d refusals are made by no test", len(found), all)
	text, err := os.ReadFile("untriggered.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed, seen := strings.Split(strings.TrimSpace(string(text)), "\n"), []string{}
	for _, r := range found {
		if slices.Contains(listed, r) || *update && string(text) == "" {
			seen = append(seen, r)
		} else {
			t.Error(Finding{"invariants/untriggered.txt", r + " is made by no test (SIM-9)", "add the smallest input that is refused, and the closest that is not"})
		}
	}
	if *update {
		if err := os.WriteFile("untriggered.txt", []byte(strings.Join(append(seen, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARefusalThatNoTestMakesIsFound feeds the count with one of each kind.
func TestARefusalThatNoTestMakesIsFound(t *testing.T) {
	keep.Rule(t, "SIM-9")
	m, err := Load(fstest.MapFS{"p/a.go": {Data: []byte(`package p

func a(n int) error {
	if n == 1 {
		return &diag.Refusal{Problem: "is one"}
	}
	if n == 2 {
		return refuse("n", "is two")
	}
	return refuse("n", "is many")
}

func refuse(f, p string) error { return &diag.Refusal{Field: f, Problem: p} }
`)}})
	if err != nil {
		t.Fatal(err)
	}
	profile := "mode: set\n"
	for _, b := range []struct{ from, to, ran string }{{"3.21", "4.12", "1"}, {"4.12", "6.3", "1"}, {"7.2", "7.12", "1"}, {"7.12", "9.3", "0"}, {"10.2", "10.30", "0"}} {
		profile += fmt.Sprintf("m/p/a.go:%s,%s 1 %s\n", b.from, b.to, b.ran)
	}
	ran, err := counted([]byte(profile), "m")
	if err != nil {
		t.Fatal(err)
	}
	found, all := untriggered(m, ran, func(string) bool { return true })
	if want := []string{"p/a.go: is many", "p/a.go: is two"}; !slices.Equal(found, want) || all != 3 {
		t.Errorf("got %q of %d, want %q of 3", found, all, want)
	}
}
