package doccheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// told is a command that a text tells its reader to run: a line that begins with go run,
// or what stands between backticks, up to the end where another string goes on.
var told = regexp.MustCompile("(?m)^\\s*(go run \\./.*)|`([^`]+)(?:`|$)")

// Strings finds the commands that the module's strings tell a reader to run, as pages and
// messages do, and the programs do not have. What a text is joined with stands as X.
func Strings(t *Tree) (out []invariants.Finding) {
	for _, f := range t.Module.Go {
		if f.Test() {
			continue
		}
		operands := map[ast.Expr]bool{} // of sums that were read
		ast.Inspect(f.File, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || operands[e] {
				return true
			}
			text, literal := joined(e, operands)
			for _, m := range told.FindAllStringSubmatch(text, -1) {
				words := shellWords(m[1] + m[2])
				if !literal || len(words) == 0 {
					continue
				}
				if problem, _ := t.command(words); problem != "" {
					out = append(out, invariants.Finding{Where: f.At(e.Pos()), Problem: fmt.Sprintf("%q: %s (X26)", m[1]+m[2], problem), Fix: "write the command as it is now"})
				}
			}
			return true
		})
	}
	return out
}

// joined is the text of a string or of a sum with one, with X for each operand that is
// not written out; it adds the operands of sums to operands.
func joined(e ast.Expr, operands map[ast.Expr]bool) (text string, literal bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			break
		}
		operands[e.X], operands[e.Y] = true, true
		left, l := joined(e.X, operands)
		right, r := joined(e.Y, operands)
		if l || r {
			return left + right, true
		}
	}
	return "X", false
}
