package mutate

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const source = `package p

var untouched = 3

func f(a, b int) int {
	if a < b {
		a++
	}
	g(a)
	b = min(a, b)
	return a + 1
}

func spared() { g(1) }

func g(int) {}
`

func TestMutantsBreakOneLineEach(t *testing.T) {
	list, err := Mutants("p.go", []byte(source), "spared")
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, m := range list {
		lines = append(lines, m.Line)
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", m.Source, 0); err != nil {
			t.Errorf("line %d: %s: does not parse: %v", m.Line, m.What, err)
		}
		changed := 0
		was, is := strings.Split(source, "\n"), strings.Split(string(m.Source), "\n")
		for i := range was {
			if was[i] != is[i] {
				changed++
			}
		}
		if changed != 1 || m.Function != "f" {
			t.Errorf("%d %s %s: got %d changed lines, want 1 in f", m.Line, m.Function, m.What, changed)
		}
	}
	if got, want := lines, []int{6, 7, 9, 10, 11}; len(got) != len(want) || got[0] != want[0] || got[4] != want[4] {
		t.Errorf("lines: got %v, want %v", got, want)
	}
}
