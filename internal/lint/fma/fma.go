// Package fma is an analyzer that refuses x*y + z in the deterministic core: the
// compiler may fuse it into one rounding on some platforms and two on others, so
// the product must be written float64(x*y), or the whole as math.FMA.
//
// Rules kept: X6 of the Target Design. Known-bad input: testdata/src/a.
package fma

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/lint/determinism"
	"golang.org/x/tools/go/analysis"
)

// Analyzer reports each product that could fuse with a sum.
var Analyzer = &analysis.Analyzer{Name: "fma", Doc: "no fusable x*y + z in the core (X6)", Run: run}

func run(pass *analysis.Pass) (any, error) {
	if !determinism.Covers(pass.Pkg.Path()) {
		return nil, nil
	}
	for _, f := range pass.Files {
		if strings.HasSuffix(pass.Fset.File(f.Pos()).Name(), "_test.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.ADD || n.Op == token.SUB {
					check(pass, n.X)
					check(pass, n.Y)
				}
			case *ast.AssignStmt:
				if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
					check(pass, n.Rhs[0])
				}
			}
			return true
		})
	}
	return nil, nil
}

// check reports e when it is a product of floats that is not a constant.
func check(pass *analysis.Pass, e ast.Expr) {
	mul, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || mul.Op != token.MUL {
		return
	}
	tv := pass.TypesInfo.Types[mul]
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsFloat == 0 || tv.Value != nil {
		return
	}
	pass.Reportf(mul.Pos(), "product may fuse with the sum on some platforms (X6): write float64(x*y), or math.FMA")
}
