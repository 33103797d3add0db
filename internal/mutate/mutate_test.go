package mutate

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

const source = `package p

var untouched = 3

func f(a, b int) int {
	if a < b && b > 2 {
		a++
	}
	for i := 0; i < a; i++ {
		g(a)
	}
	b = min(a, b)
	c := a + b*2
	return c - 1
}

func spared() { g(1) }

func g(int) {}
`

func TestPlantBreaksEveryLineOnceAndMovesNone(t *testing.T) {
	keep.Rule(t, "FID-4", "X5", "X13", "X18")
	planted, breaks, err := Plant("p.go", []byte(source), 10, []string{"spared"}, map[int]bool{10: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", planted, 0); err != nil {
		t.Fatalf("does not parse: %v\n%s", err, planted)
	}
	var lines []int
	for i, b := range breaks {
		lines = append(lines, b.Line)
		if b.ID != 10+i || b.Function != "f" {
			t.Errorf("got break %d in %s, want %d in f", b.ID, b.Function, 10+i)
		}
	}
	if want := []int{6, 7, 9, 12, 13, 14}; !slices.Equal(lines, want) {
		t.Errorf("lines: got %v, want %v", lines, want)
	}
	was, is := strings.Split(source, "\n"), strings.Split(string(planted), "\n")
	if len(was) != len(is) {
		t.Fatalf("got %d lines, want %d", len(is), len(was))
	}
	for i := range was {
		if broken := i == 0 || slices.Contains(lines, i+1); (was[i] != is[i]) != broken {
			t.Errorf("line %d: got %q from %q", i+1, is[i], was[i])
		}
	}
}
