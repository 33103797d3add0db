package invariants

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

var update = flag.Bool("update", false, "write the rises of the ratchets down")

// tree is this module, which every test of this package reads in its own process: a
// test that asked the go command would be answered from the test cache.
var tree = sync.OnceValues(func() (*Module, error) { return Load(os.DirFS("..")) })

// Below says that the file is in one of the folders, or under it.
func (f *GoFile) Below(folders ...string) bool {
	return slices.ContainsFunc(folders, func(d string) bool { return within(f.Dir(), d) })
}

// hold reports what rule finds in this module, then shows that it can fail: every
// bad tree must give a finding that says want, and "" stands for none.
func hold(t *testing.T, rule func(*Module) []Finding, bad ...bad) {
	t.Helper()
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	report(t, rule(m))
	if len(bad) == 0 {
		t.Fatal("the check has no input it must reject (X18)")
	}
	for _, b := range bad {
		files := fstest.MapFS{}
		for p, text := range b.files {
			files[p] = &fstest.MapFile{Data: []byte(text)}
		}
		m, err := Load(files)
		if err != nil {
			t.Fatal(err)
		}
		checkFindings(t, b.name, rule(m), b.want)
	}
}

// finder adds a finding at the place that is looked at.
type finder = func(problem, fix string)

// each is a rule about the nodes of the files that of picks. look calls add with what is
// wrong at the node, and what would mend it.
func each(of func(*GoFile) bool, look func(f *GoFile, n ast.Node, add finder)) func(*Module) []Finding {
	return func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if !of(f) {
				continue
			}
			ast.Inspect(f.File, func(n ast.Node) bool {
				if n != nil {
					look(f, n, func(problem, fix string) { out = append(out, Finding{f.At(n.Pos()), problem, fix}) })
				}
				return true
			})
		}
		return out
	}
}

// eachLine is a rule about the lines of the files whose paths of picks.
func eachLine(of func(p string) bool, look func(line string, add finder)) func(*Module) []Finding {
	return func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if !of(p) {
				continue
			}
			for i, line := range strings.Split(string(m.Files[p]), "\n") {
				look(line, func(problem, fix string) { out = append(out, Finding{fmt.Sprintf("%s:%d", p, i+1), problem, fix}) })
			}
		}
		return out
	}
}

// shipped picks the files below folders that are compiled into programs.
func shipped(folders ...string) func(*GoFile) bool {
	return func(f *GoFile) bool { return !f.Test() && f.Below(folders...) }
}

// qualified is x.Name for a selector of a plain name, and "" for any other node.
func qualified(n ast.Node) string {
	if sel, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok {
			return x.Name + "." + sel.Sel.Name
		}
	}
	return ""
}

type files = map[string]string

type bad struct {
	name  string
	files files
	want  string
}

func report(t *testing.T, findings []Finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

func records(t *testing.T) []Record {
	t.Helper()
	all, err := Records()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRecordsAndSourcesAgree(t *testing.T) {
	keep.Rule(t, "X14", "X16", "X18")
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	report(t, Verify(records(t), m))
}

// TestEveryRuleOfTheDesignHasARecord counts each family as the design's index does.
func TestEveryRuleOfTheDesignHasARecord(t *testing.T) {
	want := map[string]int{"X": 28, "SUB-": 20, "VLM-": 7, "SGL-": 6, "RTR-": 7, "SIM-": 14, "CFG-": 5, "FID-": 11, "DEV-": 13,
		"VAL-": 11, "D": 8, "COV-": 12, "LIF-": 7, "T-M": 3, "T-D": 4, "T-A": 4, "T-E": 6, "T-R": 5, "T-N": 2, "T-B": 3, "T-C": 1,
		"T-P": 1, "T-F": 1, "T-K": 1, "T-G": 2, "T-S": 1, "T-L": 1}
	got := map[string]int{}
	for _, r := range records(t) {
		prefix, n := splitID(r.ID)
		got[prefix] = max(got[prefix], n)
	}
	for p, n := range want {
		if got[p] != n {
			t.Errorf("%s: got %d records, want %d", p, got[p], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d families, want %d", len(got), len(want))
	}
}

// sound is a package whose rule X1 has a check that is proven.
const sound = `package a

func TestA(t *testing.T) {
	keep.Rule(t, "X1")
	if Check("good") != nil {
		t.Error("refused")
	}
}

func TestBad(t *testing.T) {
	if Check("bad") == nil {
		t.Error("accepted")
	}
}
`

func TestVerifyFinds(t *testing.T) {
	keep.Rule(t, "X14", "X16", "X18")
	const body = "\tif Check(\"bad\") == nil {\n\t\tt.Error(\"accepted\")\n\t}\n"
	with := func(from, to string) string { return strings.Replace(sound, from, to, 1) }
	one := Check{Test: "a.TestA", Bad: "a.TestBad"}
	for _, c := range []struct {
		name, src string
		check     Check
		want      string
	}{
		{"agreement", sound, one, ""},
		{"missing test", with("TestA", "TestB"), one, "names the test a.TestA, which does not exist"},
		{"missing bad test", with("TestBad", "TestGood"), one, "names the test a.TestBad, which does not exist"},
		{"missing record, in a comment", sound + "// Keeps X2.\n", one, "a/a_test.go:15: names the rule X2"},
		{"missing record, in a refusal", sound + "var r = \"X3\"\n", one, "names the rule X3"},
		{"skipped test", sound + "func TestC(t *testing.T) { t.Skip() }\n", one, "a/a_test.go:15: a test skips itself"},
		{"nightly test", sound + "func TestC(t *testing.T) { if os.Getenv(\"BLIS_NIGHTLY\") == \"\" { t.Skip() } }\n", one, ""},
		{"empty bad test", with(body, ""), one, "X1: has no check that is proven (X18): a.TestBad would pass"},
		{"bad test that wants nothing", with(body, "\tCheck(\"bad\")\n"), one, "a.TestBad would pass if its bad input were accepted"},
		{"bad test of something else", with("Check(\"bad\")", "Other(\"bad\")"), one, "a.TestBad calls nothing that a.TestA calls"},
		{"bad test behind a helper", with(body, "\trefuse(t)\n") + "func refuse(t *testing.T) {\n" + body + "}\n", one, ""},
		{"check that cannot fail", with("t.Error(\"refused\")", "t.Log(\"refused\")"), one, "a.TestA, which cannot fail"},
		{"failure that names no rule", with("\tkeep.Rule(t, \"X1\")\n", ""), one, "is not named by a.TestA"},
		{"no bad input at all", sound, Check{Test: "a.TestA", Bad: "a.TestA"}, "a.TestA would pass"},
		{"a break that fits", with(body, ""), Check{Test: "a.TestA", Bad: "a.TestA", Break: &Break{"a/a.go", "return err", "return nil"}}, ""},
		{"a break of no file", sound, Check{Test: "a.TestA", Bad: "a.TestBad", Break: &Break{"a/gone.go", "return errs", "return nil"}}, "breaks the file a/gone.go, which does not exist"},
		{"a break that fits nowhere", sound, Check{Test: "a.TestA", Bad: "a.TestBad", Break: &Break{"a/a.go", "return errs", "return nil"}}, "stands in 0 places"},
	} {
		m, err := Load(fstest.MapFS{"a/a_test.go": {Data: []byte(c.src)}, "a/a.go": {Data: []byte("package a\n\nfunc Check(s string) error { return err }\n\nfunc Other(s string) error { return nil }\n")}})
		if err != nil {
			t.Fatal(err)
		}
		r := Record{ID: "X1", Scope: []string{"a"}, Status: CI, Checks: []Check{c.check}}
		checkFindings(t, c.name, Verify([]Record{r}, m), c.want)
	}
}

func TestOneVariableMakesARunRequired(t *testing.T) {
	if need.Required != RequiredSwitch {
		t.Errorf("got %q, want %q", need.Required, RequiredSwitch)
	}
}

// checkFindings wants none for "", else one that says want.
func checkFindings(t *testing.T, name string, got []Finding, want string) {
	t.Helper()
	var text []string
	for _, f := range got {
		text = append(text, f.String())
	}
	all := strings.Join(text, "\n")
	if (all == "") != (want == "") || !strings.Contains(all, want) {
		t.Errorf("%s: got %q, want %q", name, all, want)
	}
}

func TestRatchet(t *testing.T) {
	text, err := os.ReadFile("ratchet.txt")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		text = []byte(raised(records(t), string(text)))
		if err := os.WriteFile("ratchet.txt", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report(t, Ratchet(records(t), string(text)))
}

// raised is the text of ratchet.txt with every rise written down and no fall.
func raised(records []Record, text string) string {
	held := map[string]Status{}
	for line := range strings.Lines(text) {
		id, status, _ := strings.Cut(strings.TrimSpace(line), " ")
		held[id] = Status(status)
	}
	var b strings.Builder
	for _, r := range records {
		best := r.Status
		if was, ok := held[r.ID]; ok && rank(was) > rank(best) {
			best = was
		}
		fmt.Fprintf(&b, "%s %s\n", r.ID, best)
	}
	return b.String()
}

func TestRatchetRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		status Status
		text   string
		want   string
	}{
		{"as it was", Partial, "X1 partial", ""},
		{"a rise not written down", CI, "X1 partial", "X1 is ci"},
		{"a fall", New, "X1 partial", "fell from partial to new"},
		{"a rule that went", Partial, "X1 partial\nX2 ci", "X2 is gone"},
		{"not a status", Partial, "X1 good\nX1 partial", "is not an id and a status"},
	} {
		rules := []Record{{ID: "X1", Status: c.status}}
		checkFindings(t, c.name, Ratchet(rules, c.text), c.want)
		if got := raised(rules, c.text); rank(c.status) > rank(Partial) && got != "X1 ci\n" || rank(c.status) < rank(Partial) && got != "X1 partial\n" {
			t.Errorf("%s: raised to %q", c.name, got)
		}
	}
}

func TestReadRecordsRefuses(t *testing.T) {
	const whole = "- {id: X1, title: t, statement: s, why: w, section: §4, scope: [a], kind: automated, status: ci, checks: [{test: a.TestA}]}\n"
	for _, c := range []struct{ name, from, to, want string }{
		{"whole", "", "", ""},
		{"unknown key", "title", "titel", "titel"},
		{"no such id", "X1", "XX", "is not an invariant id"},
		{"unknown status", "status: ci", "status: done", "unknown status"},
		{"partial without a target", "status: ci", "status: partial", "is empty for a rule that is partial"},
		{"no check", "checks: [{test: a.TestA}]", "checks: []", "is empty for a rule that is ci"},
		{"unknown kind", "automated", "automatic", "unknown kind"},
		{"a break that changes nothing", "a.TestA}", "a.TestA, break: {file: a.go, from: x, to: x}}", "changes nothing"},
		{"a practice beside another kind", "kind: automated", "kind: automated, practice: p, guidance: g", ""},
		{"a practice twice", "kind: automated", "kind: practice, practice: p", "says in a second field"},
		{"guidance twice", "kind: automated", "kind: agent guidance, guidance: g", "says in a second field"},
		{"when", "a.TestA}", "a.TestA, when: weekly}", "unknown"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		_, err := ReadRecords(fstest.MapFS{"records/X.yaml": {Data: []byte(text)}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	_, err := ReadRecords(fstest.MapFS{"records/X.yaml": {Data: []byte(whole + whole)}})
	if err == nil || !strings.Contains(err.Error(), "is recorded twice") {
		t.Errorf("got %v, want a refusal of the second X1", err)
	}
}

// TestRulesLookWhereThereIsSomething keeps X22 for the rules themselves: a folder that
// moved would leave a rule with nothing to judge.
func TestRulesLookWhereThereIsSomething(t *testing.T) {
	keep.Rule(t, "X22")
	own := func(f *GoFile) bool { return f.Test() && f.Dir() == "invariants" }
	rule := func(m *Module) []Finding {
		return each(own, func(_ *GoFile, n ast.Node, add finder) {
			c, ok := n.(*ast.CallExpr)
			if !ok || !mentions(c.Fun, "shipped") && !mentions(c.Fun, "Below") {
				return
			}
			for _, a := range c.Args {
				if l, ok := a.(*ast.BasicLit); ok && !m.Folders[strings.Trim(l.Value, `"`)] {
					add("judges "+l.Value+", which does not exist (X22)", "name the folder as it is now")
				}
			}
		})(m)
	}
	hold(t, rule,
		bad{"a folder that moved", files{"cost/a.go": "package cost\n", "invariants/a_test.go": "package invariants\n\nvar a, b = shipped(\"cost\", \"costs\"), f.Below(\"cost\")\n"}, `invariants/a_test.go:3: judges "costs"`},
		bad{"folders that are there", files{"cost/a.go": "package cost\n", "invariants/a_test.go": "package invariants\n\nvar a = shipped(\"cost\")\n"}, ""})
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		if !m.Folders[r.folder] {
			t.Errorf("readers: %s does not exist (X22)", r.folder)
		}
	}
	for name, sites := range lengthSites {
		for _, s := range sites {
			if _, file := m.Files[s]; !file && !m.Folders[s] {
				t.Errorf("lengthSites of %s: %s does not exist (X22)", name, s)
			}
		}
	}
}
