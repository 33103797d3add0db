package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// reader is a part of the module, and the roles whose units it may name.
type reader struct {
	folder string
	roles  []string
}

// readers are taken in order. Programs choose among roles by flag; the seed's jobs are
// commands of blis-score.
var readers = []reader{
	{"registry", []string{"Fit"}}, {"scorer/snapshot", []string{"Anchor"}}, {"scorer/gate", []string{"Unlisted", "Select", "Validate", "Held"}},
	{"scorer", nil}, {"site", nil}, {"harness", nil}, {"sim", nil}, {"cost", nil}, {"engines", nil}, {"catalog", nil}, {"docgen", nil},
}

// TestEachReaderReadsItsOwnRole keeps D1, D2 and X8: what fits reads fit units, what is
// published reads anchor units, and nothing else asks for a unit by its role.
func TestEachReaderReadsItsOwnRole(t *testing.T) {
	keep.Rule(t, "D1", "D2", "X8")
	roles := []string{"Fit", "Anchor", "Unlisted", "Select", "Validate", "Held", "Published"}
	rule := each(func(f *GoFile) bool { return !f.Test() }, func(f *GoFile, n ast.Node, add finder) {
		role, ok := strings.CutPrefix(qualified(n), "ledger.")
		at := slices.IndexFunc(readers, func(r reader) bool { return f.Below(r.folder) })
		if ok && at >= 0 && slices.Contains(roles, role) && !slices.Contains(readers[at].roles, role) {
			add(fmt.Sprintf("%s reads units of role %s (D1, D2, X8)", readers[at].folder, role), "take the units, or the role, from the program that asks")
		}
	})
	hold(t, rule,
		bad{"a fit on anchor units", files{"registry/fit/a.go": "package fit\nvar u = l.ByRole(ledger.Anchor)\n"}, "registry/fit/a.go:2: registry reads units of role Anchor"},
		bad{"publishing fit units", files{"scorer/snapshot/a.go": "package snapshot\nvar u = l.ByRole(ledger.Fit)\n"}, "reads units of role Fit"},
		bad{"a fit on fit units", files{"registry/fit/a.go": "package fit\nvar u = l.ByRole(ledger.Fit)\n"}, ""})
}

// TestErrorsAreComputedByTheScorerAlone keeps COV-1. A composite fit minimises its own
// residuals over fit units, and its figures are of the registry, not of the site.
func TestErrorsAreComputedByTheScorerAlone(t *testing.T) {
	keep.Rule(t, "COV-1")
	others := func(f *GoFile) bool {
		return !f.Test() && !f.Below("scorer", "registry/fit/composite", "site/sitetest")
	}
	rule := each(others, func(_ *GoFile, n ast.Node, add finder) {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.SUB || b.Op == token.QUO) && selects(b, "Measured") && selects(b, "Simulated") {
			add("compares a simulation with a measurement (COV-1)", "read RelativeError, which the scorer wrote")
		}
	})
	hold(t, rule,
		bad{"an error on the site", files{"site/page/a.go": "package page\nvar e = (m.Simulated - m.Measured) / m.Measured\n"}, "site/page/a.go:2: compares a simulation"},
		bad{"both shown", files{"site/page/a.go": "package page\nvar a, b = m.Simulated, m.Measured\n"}, ""},
		bad{"the scorer", files{"scorer/a.go": "package scorer\nvar e = m.Simulated/m.Measured - 1\n"}, ""})
}

func selects(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == name
		return true
	})
	return found
}

// switches are the variables a test may read.
var switches = []string{NightlySwitch, RequiredSwitch, "BLIS_FUZZ_SCENARIOS", "BLIS_SCORE_AS_PROGRAM", "UPDATE_GOLDEN", "PLOT_OUT"}

// TestTestsReadWhatTheyDeclare keeps X25: no test asks for the user's surroundings or
// names a file above the module.
func TestTestsReadWhatTheyDeclare(t *testing.T) {
	keep.Rule(t, "X25")
	surroundings := regexp.MustCompile(`^(os\.(UserHomeDir|UserConfigDir|UserCacheDir|Hostname)|user\.Current|net\.Dial|http\.(Get|Post))$`)
	rule := each((*GoFile).Test, func(f *GoFile, n ast.Node, add finder) {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && strings.HasPrefix(text, "../") && !strings.ContainsAny(text, " \n") && strings.HasPrefix(path.Join(f.Dir(), text), "..") {
				add(fmt.Sprintf("names a file above the module, %q (X25)", text), "put the file in testdata")
			}
		case *ast.CallExpr:
			name := qualified(n.Fun)
			if surroundings.MatchString(name) {
				add(name+" reads the surroundings of a test (X25)", "use testdata or t.TempDir")
			}
			if name == "os.Getenv" || name == "os.LookupEnv" {
				if l, ok := n.Args[0].(*ast.BasicLit); ok && !slices.Contains(switches, strings.Trim(l.Value, `"`)) {
					add("reads the variable "+l.Value+", which no test declares (X25)", "pass the value, or list the switch in `switches`")
				}
			}
		}
	})
	hold(t, rule,
		bad{"a home", files{"a/a_test.go": "package a\nfunc f() { os.UserHomeDir() }\n"}, "a/a_test.go:2: os.UserHomeDir reads the surroundings"},
		bad{"a variable", files{"a/a_test.go": "package a\nfunc f() { os.Getenv(\"DATA\") }\n"}, "reads the variable \"DATA\""},
		bad{"a neighbour", files{"a/a_test.go": "package a\nvar p = \"../../other/data\"\n"}, "names a file above the module"},
		bad{"a declared switch and a file of the module", files{"a/b/a_test.go": "package a\nvar p, q = \"../data\", os.Getenv(\"BLIS_NIGHTLY\")\n"}, ""})
}
