package invariants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"strings"
	"testing"
)

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
