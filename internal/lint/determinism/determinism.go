// Package determinism is an analyzer that keeps the deterministic core of the
// module free of anything that differs from run to run or machine to machine:
// clock, environment, goroutines, global randomness, map order and the functions
// of math whose bits vary by platform.
//
// Rules kept: X6, DEV-6 of the Target Design. Known-bad input: testdata/src/a.
package determinism

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const module = "github.com/inference-sim/accuracy-dashboard/"

// Core is the part of the module the rule covers, as path prefixes.
var Core = []string{"sim", "engines", "cost", "catalog", "registry", "ledger", "harness", "scorer", "internal/fmath", "internal/canon",
	"internal/diag", "internal/strict", "internal/quantity", "internal/substream"}

// outside are parts of Core that run only on a maintainer's machine or, for the
// harness, own the worker pool; the value is what is allowed there.
var outside = map[string]string{
	"registry/fit": "goroutine math", // writers; their output is committed and compared byte for byte
	"harness":      "goroutine",      // the worker pool; results are ordered by unit
	"sim/analysis": "math",           // statistics over finished Results
}

// Analyzer reports each use with what to write instead.
var Analyzer = &analysis.Analyzer{Name: "determinism", Doc: "no clock, environment, goroutine, global randomness, map order or platform-varying math in the core (X6)", Run: run}

// banned maps a package to its banned names; nil bans every package-level function
// but the allowed ones.
var banned = map[string]struct {
	kind, instead string
	names         *regexp.Regexp
}{
	"time":         {"clock", "pass simulated time in", regexp.MustCompile(`^(Now|Since|Until|Sleep|After|AfterFunc|Tick|NewTimer|NewTicker)$`)},
	"os":           {"environment", "take the value as an argument", regexp.MustCompile(`^(Getenv|LookupEnv|Environ|Hostname|Getpid|Getwd|UserHomeDir|Exit)$`)},
	"math/rand":    {"randomness", "use internal/substream", regexp.MustCompile(`^[A-Z]`)},
	"math/rand/v2": {"randomness", "use internal/substream", regexp.MustCompile(`^(Int|Uint|Float|Exp|Norm|Perm|Shuffle|N$)`)},
	"crypto/rand":  {"randomness", "use internal/substream", regexp.MustCompile(`^[A-Z]`)},
	"math":         {"math", "use internal/fmath", regexp.MustCompile(`^(Exp|Exp2|Expm1|Log|Log2|Log10|Log1p|Pow|Pow10|Sin|Cos|Tan|Sincos|Asin|Acos|Atan|Atan2|Sinh|Cosh|Tanh|Asinh|Acosh|Atanh|Cbrt|Hypot|Gamma|Lgamma|Erf|Erfc|Erfinv|Erfcinv)$`)},
}

func run(pass *analysis.Pass) (any, error) {
	allowed, covered := scope(pass.Pkg.Path())
	if !covered {
		return nil, nil
	}
	for _, f := range pass.Files {
		if strings.HasSuffix(pass.Fset.File(f.Pos()).Name(), "_test.go") {
			continue
		}
		reasons := directives(pass, f)
		ast.Inspect(f, func(n ast.Node) bool {
			inspect(pass, n, allowed, reasons)
			return true
		})
	}
	return nil, nil
}

// scope says whether path lies in the core and which kinds it may use.
func scope(path string) (allowed string, covered bool) {
	rel, ok := strings.CutPrefix(path, module)
	if !ok {
		return "", !strings.Contains(path, "/") // analysistest packages
	}
	for prefix, kinds := range outside { //determinism:any-order prefixes are disjoint
		if under(rel, prefix) {
			allowed = kinds
		}
	}
	for _, c := range Core {
		if under(rel, c) {
			return allowed, true
		}
	}
	return "", false
}

func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func inspect(pass *analysis.Pass, n ast.Node, allowed string, reasons map[int]bool) {
	switch n := n.(type) {
	case *ast.GoStmt:
		if !strings.Contains(allowed, "goroutine") {
			pass.Reportf(n.Pos(), "goroutine in the deterministic core (X6): keep the work in one thread, the harness pools runs")
		}
	case *ast.RangeStmt:
		if _, isMap := pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); isMap && !reasons[pass.Fset.Position(n.Pos()).Line] {
			pass.Reportf(n.Pos(), "map order in the deterministic core (X6): range over slices.Sorted(maps.Keys(m)), or give a reason after //determinism:any-order")
		}
	case *ast.SelectorExpr:
		fn, ok := pass.TypesInfo.Uses[n.Sel].(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
			return
		}
		if b, ok := banned[fn.Pkg().Path()]; ok && b.names.MatchString(fn.Name()) && !strings.Contains(allowed, b.kind) {
			pass.Reportf(n.Pos(), "%s.%s in the deterministic core (X6): %s", fn.Pkg().Name(), fn.Name(), b.instead)
		}
	}
}

var directive = regexp.MustCompile(`^//determinism:any-order \S+`)

// directives gives the lines a reasoned directive covers: its own and the next.
func directives(pass *analysis.Pass, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if directive.MatchString(c.Text) {
				line := pass.Fset.Position(c.Pos()).Line
				lines[line], lines[line+1] = true, true
			}
		}
	}
	return lines
}

// Covers reports whether the package at path belongs to the core and may not use
// platform-varying arithmetic.
func Covers(path string) bool {
	allowed, covered := scope(path)
	return covered && !strings.Contains(allowed, "math")
}
