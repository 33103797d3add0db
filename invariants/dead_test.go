package invariants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// supports are packages whose users are tests.
var supports = []string{"engines/enginetest", "site/sitetest", "internal/need", "internal/keep", "internal/doccheck"}

// TestNothingIsUnreached keeps LIF-7 by name: a function, type, variable or constant at
// the top of a file that no file but tests ever names again is dead. Methods and the
// values of closed sets, which interfaces and documents reach, are left out. What was
// unreached is listed in unreached.txt, which only shrinks; -update writes that down.
func TestNothingIsUnreached(t *testing.T) {
	text, err := os.ReadFile("unreached.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for name := range strings.FieldsSeq(string(text)) {
		listed[name] = true
	}
	seen := map[string]bool{}
	rule := func(m *Module) (out []Finding) {
		uses := map[string]int{}
		for _, f := range m.Go {
			if f.Test() && !f.Below(supports...) {
				continue
			}
			ast.Inspect(f.File, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					uses[id.Name]++
				}
				return true
			})
		}
		for _, f := range m.Go {
			if f.Test() || f.Below(supports...) {
				continue
			}
			for _, id := range declared(f) {
				if name := f.Dir() + "." + id.Name; uses[id.Name] == 1 && listed[name] {
					seen[name] = true
				} else if uses[id.Name] == 1 && !slices.Contains([]string{"main", "init", "_"}, id.Name) {
					out = append(out, Finding{f.At(id.Pos()), id.Name + " is used by no file but tests (LIF-7)", "delete it, or move it into the test"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a function for tests alone", files{"a/a.go": "package a\n\nfunc F() {}\n", "a/a_test.go": "package a\n\nvar _ = F\n"}, "a/a.go:3: F is used by no file but tests"},
		bad{"a used function", files{"a/a.go": "package a\n\nfunc F() {}\n", "b/b.go": "package b\n\nvar _ = a.F\n"}, ""})
	if *update {
		if err := os.WriteFile("unreached.txt", []byte(strings.Join(append(sortedKeys(seen), ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// declared are the names a file declares at its top, methods and typed constants apart.
func declared(f *GoFile) (out []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name)
				case *ast.ValueSpec:
					if d.Tok == token.VAR || s.Type == nil && !d.Lparen.IsValid() {
						out = append(out, s.Names...)
					}
				}
			}
		}
	}
	return out
}

// TestNothingIsWrittenTwice finds functions with the same body in two places: one of
// them is a copy (X7). Short bodies are idiom.
func TestNothingIsWrittenTwice(t *testing.T) {
	const least = 8 // lines
	rule := func(m *Module) (out []Finding) {
		first := map[string]string{}
		for _, f := range m.Go {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || f.Test() {
					continue
				}
				var b bytes.Buffer
				if err := printer.Fprint(&b, token.NewFileSet(), fn.Body); err != nil || strings.Count(b.String(), "\n") < least {
					continue
				}
				at := f.At(fn.Pos())
				if other := first[b.String()]; other != "" {
					out = append(out, Finding{at, fmt.Sprintf("%s is a copy of the function at %s (X7)", fn.Name.Name, other), "keep one, where both can import it"})
				}
				first[b.String()] = at
			}
		}
		return out
	}
	long := "func F(n int) int {\n" + strings.Repeat("\tn++\n", 8) + "\treturn n\n}\n"
	hold(t, rule,
		bad{"a copy", files{"a/a.go": "package a\n\n" + long, "b/b.go": "package b\n\n" + long}, "b/b.go:3: F is a copy of the function at a/a.go:3"},
		bad{"one function", files{"a/a.go": "package a\n\n" + long}, ""})
}
