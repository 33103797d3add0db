package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A rule is proven by one of its checks, in one of two ways. Its Bad test feeds it what the rule forbids:
// the sources then show that the test calls what the check calls, and fails when a
// refusal, a finding or a difference does not come. Or its Break edits the module the
// way the rule forbids: a command makes the edit and sees the check fail. A test that is
// empty, asserts nothing or calls something else is neither.

// suite answers questions about the test functions of a module.
type suite struct {
	tests   map[string]*ast.FuncDecl            // "package/path.TestName"
	helpers map[string]map[string]*ast.FuncDecl // folder -> other functions of its test files
	module  map[string]bool                     // every name that some function or method has
}

func newSuite(m *Module) *suite {
	s := &suite{map[string]*ast.FuncDecl{}, map[string]map[string]*ast.FuncDecl{}, map[string]bool{}}
	for _, f := range m.Go {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			switch {
			case f.Test() && fn.Recv == nil && testName.MatchString(fn.Name.Name):
				s.tests[f.Dir()+"."+fn.Name.Name] = fn
				continue
			case f.Test():
				if s.helpers[f.Dir()] == nil {
					s.helpers[f.Dir()] = map[string]*ast.FuncDecl{}
				}
				s.helpers[f.Dir()][fn.Name.Name] = fn
			}
			s.module[fn.Name.Name] = true
		}
	}
	return s
}

// walk visits test and the helpers it reaches.
func (s *suite) walk(test string, visit func(ast.Node)) {
	dir := test[:strings.LastIndexByte(test, '.')]
	seen := map[*ast.FuncDecl]bool{}
	var follow func(fn *ast.FuncDecl)
	follow = func(fn *ast.FuncDecl) {
		if fn == nil || seen[fn] {
			return
		}
		seen[fn] = true
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			if id, ok := n.(*ast.Ident); ok {
				follow(s.helpers[dir][id.Name])
			}
			return true
		})
	}
	follow(s.tests[test])
}

// calls are the module's functions that test and its helpers name.
func (s *suite) calls(test string) map[string]bool {
	out := map[string]bool{}
	s.walk(test, func(n ast.Node) {
		if id, ok := n.(*ast.Ident); ok && s.module[id.Name] {
			out[id.Name] = true
		}
	})
	return out
}

// says reports whether a string of test or its helpers holds word.
func (s *suite) says(test, word string) bool {
	found := false
	s.walk(test, func(n ast.Node) {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && !found {
			text, err := strconv.Unquote(l.Value)
			found = err == nil && slices.Contains(ID.FindAllString(text, -1), word)
		}
	})
	return found
}

// refuses reports whether test fails when what it feeds is accepted.
func (s *suite) refuses(test string) bool {
	found := false
	s.walk(test, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.IfStmt:
			found = found || (wantsRefusal(n.Cond) || refusal(n.Init)) && fails(n)
		case *ast.SelectorExpr: // the analyzers' own harness wants a finding on each marked line
			x, ok := n.X.(*ast.Ident)
			found = found || ok && x.Name == "analysistest" && n.Sel.Name == "Run"
		}
	})
	return found
}

// refusal reports whether a statement takes the refusal out of an error.
func refusal(n ast.Stmt) bool { return n != nil && mentions(n, "Refusal") }

// wantsRefusal reports whether a condition holds of a missing error, finding or difference.
func wantsRefusal(cond ast.Expr) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr: // a text that is not in the message, a verdict that did not come
			_, call := n.X.(*ast.CallExpr)
			found = found || n.Op == token.NOT && call
		case *ast.BinaryExpr:
			found = found || n.Op == token.EQL && absent(n.Y) || n.Op == token.NEQ && (absent(unparen(n.X)) || equalsAbsent(n.X))
		}
		return true
	})
	return found
}

// absent is how nothing is written: nil, an empty text, no element.
func absent(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.BasicLit:
		return e.Value == `""` || e.Value == "0"
	}
	return false
}

func equalsAbsent(e ast.Expr) bool {
	b, ok := unparen(e).(*ast.BinaryExpr)
	return ok && absent(b.Y)
}

func unparen(e ast.Expr) ast.Expr {
	if p, ok := e.(*ast.ParenExpr); ok {
		return p.X
	}
	return e
}

// fails reports whether n ends or marks the test.
func fails(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
				found = found || slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}, sel.Sel.Name)
			}
		}
		return true
	})
	return found
}

// asserts reports whether test calls the module and can fail.
func (s *suite) asserts(test string) bool {
	can := false
	s.walk(test, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.IfStmt:
			can = can || fails(n)
		case *ast.CallExpr: // a suite of another package, given the test
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
				from, _ := f.X.(*ast.Ident)
				t, ok := n.Args[0].(*ast.Ident)
				can = can || ok && t.Name == "t" && from != nil && from.Name != "keep" && from.Name != "need"
			}
		}
	})
	return can && len(s.calls(test)) > 0
}

// unproven says why the check c proves nothing, or "".
func (s *suite) unproven(c Check) string {
	switch {
	case c.Break != nil:
		return ""
	case !s.refuses(c.Bad):
		return fmt.Sprintf("%s would pass if its bad input were accepted", c.Bad)
	}
	theirs := s.calls(c.Bad)
	for name := range s.calls(c.Test) {
		if theirs[name] {
			return ""
		}
	}
	return fmt.Sprintf("%s calls nothing that %s calls", c.Bad, c.Test)
}

// vacuous finds what keeps the checks of r from proving the rule, or from naming it.
func (s *suite) vacuous(r Record, m *Module) (out []Finding) {
	where := "invariants/records: " + r.ID
	var reasons []string
	for _, c := range r.Checks {
		if s.tests[c.Test] == nil || s.tests[c.Bad] == nil {
			return nil
		}
		if why := s.unproven(c); why != "" {
			reasons = append(reasons, why)
		}
		if !s.asserts(c.Test) {
			out = append(out, Finding{where, fmt.Sprintf("is checked by %s, which cannot fail (X18)", c.Test), "compare what the module does with what it must do"})
		}
		if !s.says(c.Test, r.ID) {
			out = append(out, Finding{where, "is not named by " + c.Test + ", whose failure must say which rule broke", fmt.Sprintf("keep.Rule(t, %q)", r.ID)})
		}
		if c.Break != nil {
			if _, there := m.Files[c.Break.File]; !there {
				out = append(out, Finding{where, "breaks the file " + c.Break.File + ", which does not exist", "name the file that holds this code now"})
			} else if _, err := c.Break.Apply(string(m.Files[c.Break.File])); err != nil {
				out = append(out, Finding{where, err.Error(), "write the break for the code as it is now"})
			}
		}
	}
	if len(r.Checks) > 0 && len(reasons) == len(r.Checks) {
		out = append(out, Finding{where, "has no check that is proven (X18): " + strings.Join(reasons, "; "), "name a `bad` test that wants a refusal, or a `break` of the module that a check must find"})
	}
	return out
}
