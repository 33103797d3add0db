// Package mutate breaks Go source one line at a time, to show that a check would
// notice.
//
// In: the source of a file. Out: the same source with every break planted, each
// asleep until Awake names it, and the list of breaks. A line gets one break, its
// outermost: a statement is skipped, a condition turned round, a number is one more;
// init functions, which run before any break can wake, get none. Planting only
// inserts text and keeps every line where it was. The package runs nothing and
// writes nothing.
package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// support is what planted source imports to ask whether a break is awake.
const support = "github.com/inference-sim/accuracy-dashboard/internal/mutate"

// Break is one broken line.
type Break struct {
	ID       int
	File     string
	Line     int
	Function string
	What     string
	Text     string // the line as it stands
}

// Plant returns src with its breaks planted and their list, numbered from first.
// Functions named in spare and lines in dead are left alone.
func Plant(file string, src []byte, first int, spare []string, dead map[int]bool) ([]byte, []Break, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	lines := strings.Split(string(src), "\n")
	used := make(map[int]bool)
	var breaks []Break
	var inserts []insertion
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" || slices.Contains(spare, fn.Name.Name) {
			continue
		}
		for _, w := range wraps(fn.Body) {
			from, to := fset.Position(w.node.Pos()), fset.Position(w.node.End())
			if used[from.Line] || dead[from.Line] {
				continue
			}
			used[from.Line] = true
			id := first + len(breaks)
			inserts = append(inserts, insertion{from.Offset, len(inserts), fmt.Sprintf(w.before, id)},
				insertion{to.Offset, -len(inserts), w.after})
			breaks = append(breaks, Break{id, file, from.Line, fn.Name.Name, w.what, strings.TrimSpace(lines[from.Line-1])})
		}
	}
	if len(breaks) > 0 {
		end := fset.Position(f.Name.End()).Offset
		inserts = append(inserts, insertion{end, 0, fmt.Sprintf("; import mutate %q", support)})
	}
	return apply(src, inserts), breaks, nil
}

// insertion puts text at an offset. Of several at one offset, closing texts come
// first, the inner node's before the outer's, then opening ones, outer before inner.
type insertion struct {
	offset, order int
	text          string
}

func apply(src []byte, inserts []insertion) []byte {
	slices.SortStableFunc(inserts, func(a, b insertion) int {
		if a.offset != b.offset {
			return a.offset - b.offset
		}
		return a.order - b.order
	})
	var out []byte
	at := 0
	for _, in := range inserts {
		out = append(out, src[at:in.offset]...)
		out = append(out, in.text...)
		at = in.offset
	}
	return append(out, src[at:]...)
}

// wrap is a break that encloses a node.
type wrap struct {
	node          ast.Node
	before, after string // before takes the ID
	what          string
}

// wraps lists the breaks below a node, outer before inner.
func wraps(body ast.Node) []wrap {
	var out []wrap
	header := make(map[ast.Node]bool) // statements of a for, if or switch header
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeclStmt, *ast.FuncLit:
			return false
		case *ast.ForStmt:
			header[n.Init], header[n.Post] = true, true
			out = appendCondition(out, n.Cond)
		case *ast.IfStmt:
			header[n.Init] = true
			out = appendCondition(out, n.Cond)
		case *ast.SwitchStmt:
			header[n.Init] = true
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && !header[n] {
				out = append(out, skip(n))
			}
		case *ast.IncDecStmt:
			if !header[n] {
				out = append(out, skip(n))
			}
		case *ast.ExprStmt:
			out = append(out, skip(n))
		case ast.Expr:
			out = appendValue(out, n)
		}
		return true
	})
	return out
}

func skip(n ast.Node) wrap {
	return wrap{n, `if !mutate.On(%d) { `, " }", "statement skipped"}
}

func appendCondition(out []wrap, cond ast.Expr) []wrap {
	if cond == nil {
		return out
	}
	return append(out, turn(cond))
}

func turn(n ast.Expr) wrap {
	return wrap{n, `(mutate.On(%d) != (`, "))", "condition turned round"}
}

// appendValue breaks expressions whose kind shows without types.
func appendValue(out []wrap, n ast.Expr) []wrap {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ, token.LAND, token.LOR:
			return append(out, turn(n))
		case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
			return append(out, oneMore(n))
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max" || id.Name == "len" || id.Name == "ceilDiv") {
			return append(out, oneMore(n))
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			return append(out, turn(n))
		}
	}
	return out
}

func oneMore(n ast.Expr) wrap {
	return wrap{n, `mutate.Off(%d, `, ")", "one more"}
}
