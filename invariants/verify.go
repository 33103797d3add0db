package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Finding is one place where the tree breaks a rule, and what would mend it.
type Finding struct{ Where, Problem, Fix string }

func (f Finding) String() string {
	if f.Fix == "" {
		return f.Where + ": " + f.Problem
	}
	return f.Where + ": " + f.Problem + "\n\tfix: " + f.Fix
}

// tests are the module's test functions, as "package/path.TestName".
func tests(m *Module) map[string]bool {
	out := map[string]bool{}
	for _, f := range m.Go {
		for _, fn := range testFuncs(f) {
			out[f.Dir()+"."+fn.Name.Name] = true
		}
	}
	return out
}

func testFuncs(f *GoFile) (out []*ast.FuncDecl) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && f.Test() && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
			out = append(out, fn)
		}
	}
	return out
}

var testName = regexp.MustCompile(`^(Test|Example|Fuzz)`)

// citation is a rule's id in a comment, or as the rule of a refusal.
type citation struct{ where, id string }

func citations(f *GoFile) (out []citation) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			for i, line := range strings.Split(c.Text, "\n") {
				for _, id := range ID.FindAllString(line, -1) {
					where := f.Path + ":" + strconv.Itoa(f.fset.Position(c.Pos()).Line+i)
					out = append(out, citation{where, id})
				}
			}
		}
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && text != "" && ID.FindString(text) == text {
				out = append(out, citation{f.At(l.Pos()), text})
			}
		}
		return true
	})
	return out
}

// NightlySwitch is the variable that turns on what takes too long for every run;
// RequiredSwitch makes a test fail that lacks a tool, where it would leave itself out.
const (
	NightlySwitch  = "BLIS_NIGHTLY"
	RequiredSwitch = "BLIS_REQUIRED"
)

// skips finds calls that skip a test outside the nightly switch (X16).
func skips(f *GoFile) (out []Finding) {
	if !f.Test() {
		return nil
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return !mentions(n.Cond, NightlySwitch)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) && ofTest(sel.X) {
				out = append(out, Finding{f.At(n.Pos()), "a test skips itself (X16)",
					"call internal/need for what may be missing, or skip under " + NightlySwitch + " alone"})
			}
		}
		return true
	})
	return out
}

// ofTest says that e is named as tests name their own handle.
func ofTest(e ast.Expr) bool {
	x, ok := e.(*ast.Ident)
	return ok && slices.Contains([]string{"t", "b", "f", "tb"}, x.Name)
}

func mentions(n ast.Node, word string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			found = found || strings.Contains(n.Value, word)
		case *ast.Ident:
			found = found || strings.EqualFold(n.Name, "nightly") || n.Name == word
		}
		return true
	})
	return found
}

// Verify holds records and module to each other: every named test exists, says which
// rule it keeps and can fail; every rule with a check has one that is proven; every named
// rule exists, scopes are there, and no test skips itself.
func Verify(records []Record, m *Module) []Finding {
	var out []Finding
	known, have, tested := map[string]bool{}, tests(m), newSuite(m)
	for _, r := range records {
		known[r.ID] = true
		where := "invariants/records: " + r.ID
		for _, c := range r.Checks {
			for _, test := range slices.Compact([]string{c.Test, c.Bad}) {
				if !have[test] {
					out = append(out, Finding{where, fmt.Sprintf("names the test %s, which does not exist", test), nearest(have, test)})
				}
			}
		}
		out = append(out, tested.vacuous(r, m)...)
		for _, p := range r.Scope {
			_, file := m.Files[p]
			if !m.Folders[p] && !file && r.Status != New && r.Status != Review {
				out = append(out, Finding{where, fmt.Sprintf("has the scope %s, which does not exist", p), "name a folder of the module"})
			}
		}
	}
	for _, f := range m.Go {
		for _, c := range citations(f) {
			if !known[c.id] {
				out = append(out, Finding{c.where, "names the rule " + c.id + ", which has no record", "add the record, or correct the id"})
			}
		}
		out = append(out, skips(f)...)
	}
	return out
}

// nearest suggests a test of the same name, or lists those of the same package.
func nearest(have map[string]bool, test string) string {
	dir, name, _ := strings.Cut(test, ".Test")
	var there []string
	for _, t := range sortedKeys(have) {
		if strings.HasSuffix(t, ".Test"+name) {
			return "did you mean " + t + "?"
		}
		if rest, ok := strings.CutPrefix(t, dir+"."); ok {
			there = append(there, rest)
		}
	}
	if there == nil {
		return "no test is in " + dir
	}
	return dir + " has " + strings.Join(there, ", ")
}
