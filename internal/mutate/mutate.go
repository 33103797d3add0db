// Package mutate breaks Go source one line at a time, to show that a check would
// notice.
//
// In: the source of a file. Out: one Mutant for each line that has something to
// break, with the whole changed source. The choice among the possible breaks of a
// line depends on the line's number alone, so the list is the same on every run. It
// runs nothing and writes nothing.
package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// Mutant is one broken line.
type Mutant struct {
	Line     int
	Function string
	What     string // e.g. "< becomes <="
	Source   []byte
}

// Mutants lists the mutants of a file, by line. Functions named in spare and
// declarations outside functions are left alone.
func Mutants(file string, src []byte, spare ...string) ([]Mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		return nil, err
	}
	found := make(map[int][]Mutant)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || slices.Contains(spare, fn.Name.Name) {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			for _, e := range edits(n) {
				m := e.apply(fset, src)
				m.Function = fn.Name.Name
				found[m.Line] = append(found[m.Line], m)
			}
			return true
		})
	}
	var lines []int
	for line := range found { // order: sorted below
		lines = append(lines, line)
	}
	slices.Sort(lines)
	var out []Mutant
	for _, line := range lines {
		out = append(out, found[line][line%len(found[line])])
	}
	return out, nil
}

// edit replaces the source between two positions.
type edit struct {
	from, to token.Pos
	with     string
	what     string
}

func (e edit) apply(fset *token.FileSet, src []byte) Mutant {
	at, end := fset.Position(e.from).Offset, fset.Position(e.to).Offset
	return Mutant{Line: fset.Position(e.from).Line, What: e.what,
		Source: slices.Concat(src[:at], []byte(e.with), src[end:])}
}

var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL, token.REM: token.QUO,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// edits are the breaks one node offers.
func edits(n ast.Node) []edit {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := swaps[n.Op]; ok {
			return []edit{swap(n.OpPos, n.Op, to)}
		}
	case *ast.AssignStmt:
		if to, ok := swaps[n.Tok]; ok {
			return []edit{swap(n.TokPos, n.Tok, to), remove(n)}
		}
		if n.Tok == token.ASSIGN {
			return []edit{remove(n)}
		}
	case *ast.IncDecStmt:
		return []edit{swap(n.TokPos, n.Tok, swaps[n.Tok]), remove(n)}
	case *ast.ExprStmt:
		return []edit{remove(n)}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			return []edit{{n.Pos(), n.End(), strconv.Itoa(v + 1), fmt.Sprintf("%d becomes %d", v, v+1)}}
		}
	case *ast.Ident:
		return word(n)
	case *ast.IfStmt:
		return negate(n.Cond)
	}
	return nil
}

func swap(at token.Pos, from, to token.Token) edit {
	return edit{at, at + token.Pos(len(from.String())), to.String(), fmt.Sprintf("%s becomes %s", from, to)}
}

func remove(n ast.Node) edit { return edit{n.Pos(), n.End(), "", "statement removed"} }

// negate turns a plain condition round; comparisons have their own swaps, and && and
// || bind less tightly than ==.
func negate(cond ast.Expr) []edit {
	if _, compound := cond.(*ast.BinaryExpr); compound {
		return nil
	}
	return []edit{{cond.End(), cond.End(), " == false", "condition negated"}}
}

// word swaps min and max, true and false.
func word(n *ast.Ident) []edit {
	for _, pair := range [][2]string{{"min", "max"}, {"true", "false"}} {
		for i, w := range pair {
			if n.Name == w {
				return []edit{{n.Pos(), n.End(), pair[1-i], w + " becomes " + pair[1-i]}}
			}
		}
	}
	return nil
}
