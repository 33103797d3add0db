package invariants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// supports are packages whose users are tests.
var supports = []string{"engines/enginetest", "site/sitetest", "internal/need", "internal/keep", "internal/doccheck"}

// declaration is something a package declares: a function or method, or a type,
// variable or constant at the top of a file.
type declaration struct{ at, name string }

// unreached are the declarations of the module in dir that none of its programs reaches.
// Functions and methods are unreached when no main calls them; types, variables and
// constants when no file but tests uses them. Constants of a typed group stand for a
// closed set and are left out. What files of other machines name is reached.
func unreached(t *testing.T, dir string) (out []declaration) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	module := pkgs[0].Module
	s := survey{pkgs: pkgs, root: module.Dir, dir: func(p string) string { return strings.TrimPrefix(strings.TrimPrefix(p, module.Path), "/") }}
	s.names()
	s.calls()
	for _, p := range pkgs {
		if !slices.Contains(supports, s.dir(p.PkgPath)) {
			for _, f := range p.Syntax {
				out = append(out, s.dead(p, f)...)
			}
		}
	}
	slices.SortFunc(out, func(a, b declaration) int { return strings.Compare(a.name, b.name) })
	return out
}

// survey is what is reached of packages.
type survey struct {
	pkgs  []*packages.Package
	root  string                   // of the module
	dir   func(path string) string // of a package's path, below root
	other map[types.Object]bool    // what files of other machines name
	used  map[token.Pos]bool       // what some file but tests names
	live  map[token.Pos]bool       // functions that are called
}

func (s *survey) names() {
	s.used, s.other = map[token.Pos]bool{}, map[types.Object]bool{}
	for _, p := range s.pkgs {
		of := receivers(p.Syntax)
		for id, o := range p.TypesInfo.Uses {
			s.used[o.Pos()] = s.used[o.Pos()] || !of[id]
		}
		for _, file := range p.IgnoredFiles {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && p.Types.Scope().Lookup(id.Name) != nil {
					o := p.Types.Scope().Lookup(id.Name)
					s.other[o], s.used[o.Pos()] = true, true
				}
				return true
			})
		}
	}
}

func (s *survey) calls() {
	prog, built := ssautil.Packages(s.pkgs, ssa.InstantiateGenerics)
	prog.Build()
	r := newReaching(prog, func(p *types.Package) bool {
		return slices.ContainsFunc(s.pkgs, func(q *packages.Package) bool { return q.Types == p })
	})
	r.from(roots(built, func(path string) bool { return slices.Contains(supports, s.dir(path)) })...)
	for o := range s.other {
		if f, ok := o.(*types.Func); ok {
			r.from(prog.FuncValue(f))
		}
	}
	s.live = r.live
}

// dead are the declarations of a file that are not reached.
func (s *survey) dead(p *packages.Package, f *ast.File) (out []declaration) {
	for _, id := range declared(f) {
		o := p.TypesInfo.Defs[id]
		reached := s.used[o.Pos()]
		if _, function := o.(*types.Func); function {
			reached = s.live[o.Pos()]
		}
		at := p.Fset.Position(id.Pos())
		if file, err := filepath.Rel(s.root, at.Filename); err == nil && !reached {
			out = append(out, declaration{file + ":" + strconv.Itoa(at.Line), s.dir(p.PkgPath) + "." + fullName(o)})
		}
	}
	return out
}

// receivers are the words that say whose method a method is.
func receivers(files []*ast.File) map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				ast.Inspect(fn.Recv, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						out[id] = true
					}
					return true
				})
			}
		}
	}
	return out
}

// fullName is o's name, a method's after that of its type.
func fullName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return o.Name()
	}
	t := f.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.(*types.Named).Obj().Name() + "." + o.Name()
}

// declared are the names a file declares at its top, but for typed constants.
func declared(f *ast.File) (out []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !slices.Contains([]string{"main", "init", "_"}, d.Name.Name) {
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
	return slices.DeleteFunc(out, func(id *ast.Ident) bool { return id.Name == "_" })
}

// TestNothingIsUnreached keeps LIF-7. What tests alone reach so far is listed in
// unreached.txt, which only shrinks; -update writes that down.
func TestNothingIsUnreached(t *testing.T) {
	keep.Rule(t, "LIF-7")
	if _, err := tree(); err != nil { // opens every source file: what the go command reads for this test is unknown to the cache of test results
		t.Fatal(err)
	}
	text, err := os.ReadFile("unreached.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed, seen := strings.Fields(string(text)), []string{}
	for _, d := range unreached(t, "..") {
		if slices.Contains(listed, d.name) {
			seen = append(seen, d.name)
		} else {
			t.Error(Finding{d.at, d.name + " is reached by no program (LIF-7)", "delete it, or move it into the test"})
		}
	}
	if *update {
		if err := os.WriteFile("unreached.txt", []byte(strings.Join(append(seen, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnreachedIsFound feeds a program with one of each kind that is dead.
func TestUnreachedIsFound(t *testing.T) {
	keep.Rule(t, "LIF-7")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a/a_test.go": "package a\n\nvar _ = OnlyTested\n", "a/a.go": `package a

func OnlyTested() {}

func called() { seeded() }

func seeded() {}

type Shape interface{ Area() int }

type Square struct{}

func (Square) Area() int      { return side }
func (Square) Perimeter() int { return 4 * side }
func (Square) String() string { return "square" } // fmt calls it

const side, unused = 2, 3

func (Unused) Area() int { return 1 } // of a type that nobody makes

type Unused struct{}

func Each[T any](in []T, f func(T)) {
	for _, x := range in {
		f(x)
	}
}
`, "cmd/x/js.go": "//go:build js\n\npackage main\n\nvar _ = other\n", "cmd/x/main.go": `package main

import (
	"fmt"

	"m/a"
)

func main() {
	a.Each([]a.Shape{a.Square{}}, func(s a.Shape) { fmt.Println(s, s.Area()) })
}

func other() {}
`} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := unreached(t, dir)
	want := []declaration{{"a/a.go:3", "a.OnlyTested"}, {"a/a.go:14", "a.Square.Perimeter"}, {"a/a.go:21", "a.Unused"}, {"a/a.go:19", "a.Unused.Area"},
		{"a/a.go:5", "a.called"}, {"a/a.go:7", "a.seeded"}, {"a/a.go:17", "a.unused"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
