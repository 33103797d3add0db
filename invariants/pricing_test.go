package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestPricesTakePlansOnly keeps SUB-6: what decides a price arrives in a plan, a step
// shape or a transfer.
func TestPricesTakePlansOnly(t *testing.T) {
	keep.Rule(t, "X2")
	handles := []string{"catalog.Catalog", "registry.Registry", "Model"}
	rule := func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if f.Test() || f.Dir() != "cost" {
				continue
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() {
					continue
				}
				for _, p := range fn.Type.Params.List {
					if name := typeName(p.Type); len(name) < 5 || name[:5] != "plan." && !slices.Contains(handles, name) {
						out = append(out, Finding{f.At(p.Pos()), fmt.Sprintf("%s takes %s, which is no plan, step shape or transfer (SUB-6)", fn.Name.Name, name), "let the engine resolve it into its plan"})
					}
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a setting", files{"cost/a.go": "package cost\n\nfunc (m *Model) Price(s *plan.StepShape, backend string) {}\n"}, "Price takes string"},
		bad{"an engine's settings", files{"cost/a.go": "package cost\n\nfunc Compile(c *config.Config) {}\n"}, "Compile takes config.Config"},
		bad{"a plan", files{"cost/a.go": "package cost\n\nfunc (m *Model) Memory(p *plan.PoolPlan) {}\n"}, ""})
}

// typeName is a type as written, without its stars.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

// TestLabelsDecideNothing keeps SUB-20: where prices are made and models are lowered, no
// branch compares a name that is kept for people.
func TestLabelsDecideNothing(t *testing.T) {
	labels := []string{"Name", "Label", "Role", "Title"}
	label := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && slices.Contains(labels, sel.Sel.Name)
	}
	rule := each(shipped("cost", "engines/vllm/lower", "engines/sglang/lower"), func(_ *GoFile, n ast.Node, add finder) {
		b, compares := n.(*ast.BinaryExpr)
		s, switches := n.(*ast.SwitchStmt)
		if compares && (b.Op == token.EQL || b.Op == token.NEQ) && (label(b.X) || label(b.Y)) || switches && s.Tag != nil && label(s.Tag) {
			add("a label decides (SUB-20)", "branch on a typed field with a closed set of values")
		}
	})
	hold(t, rule,
		bad{"a comparison", files{"cost/a.go": "package cost\n\nfunc f(l L) bool { return l.Name == \"mla\" }\n"}, "cost/a.go:3: a label decides"},
		bad{"a switch", files{"engines/vllm/lower/a.go": "package lower\n\nfunc f(l L) {\n\tswitch l.Label {\n\t}\n}\n"}, "a label decides"},
		bad{"a typed field", files{"cost/a.go": "package cost\n\nfunc f(l L) bool { return l.Kind == MLA }\n"}, ""})
}
