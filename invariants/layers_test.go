package invariants

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestLayers holds the module to layers.txt. It parses the sources in this process:
// a test that asked the go command would be answered from the test cache.
func TestLayers(t *testing.T) {
	keep.Rule(t, "COV-1", "DEV-1", "SUB-1", "T-N1", "X2", "X3", "X7", "X10")
	text, err := os.ReadFile("layers.txt")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLayers("layers.txt", string(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	report(t, l.Check(m))
}

func TestLayersRefuses(t *testing.T) {
	policy := "NONE < a, b; a < c < d;\n b !< d; # d must not know b\n"
	for _, c := range []struct{ name, file, src, want string }{
		{"allowed", "d/x.go", "import \"m/a\"\nimport \"m/c\"", ""},
		{"upward import", "a/x.go", `import "m/c"`, "a: imports c"},
		{"upward import of a test", "a/x_test.go", `import "m/c"`, ""},
		{"policy line", "c/y.go", `import "m/b"`, "d: reaches b, which policy forbids: d -> c -> b (X10)\n\tfix: d must not know b"},
		{"unlisted package", "e/x.go", ``, "e: has no line"},
	} {
		l, err := ParseLayers("layers.txt", policy)
		if err != nil {
			t.Fatal(err)
		}
		root := fstest.MapFS{"go.mod": {Data: []byte("module m\n")}, "d/p.go": {Data: []byte("package p\nimport \"m/c\"\n")}, c.file: {Data: []byte("package p\n" + c.src)}}
		for _, p := range []string{"a", "b", "c"} {
			root[p+"/p.go"] = &fstest.MapFile{Data: []byte("package p\n")}
		}
		m, err := Load(root)
		if err != nil {
			t.Fatal(err)
		}
		checkFindings(t, c.name, l.Check(m), c.want)
	}
}

func TestParseLayersRefuses(t *testing.T) {
	for _, c := range []struct{ policy, want string }{
		{"NONE < a; a < b; b < c;", ""},
		{"a < b;", "a: is used below another package"},
		{"NONE < a; a < b; b < a;", "may import itself"},
		{"a b;", "has no <"},
	} {
		_, err := ParseLayers("f", c.policy)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.policy, err, c.want)
		}
	}
}
