package invariants

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

const module = "github.com/inference-sim/accuracy-dashboard"

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
	imports, err := Imports(os.DirFS(".."), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range l.Check(imports) {
		t.Error(v)
	}
}

func TestLayersRefuses(t *testing.T) {
	policy := "NONE < a, b; a < c < d;\n b !< d; # d must not know b\n"
	cases := []struct{ name, file, src, want string }{
		{"allowed", "d/x.go", `import "m/a"; import "m/c"`, ""},
		{"upward import", "a/x.go", `import "m/c"`, "a imports m/c"},
		{"policy line", "c/y.go", `import "m/b"`, "d reaches b, which policy forbids (d must not know b)"},
		{"unlisted package", "e/x.go", ``, "e: has no line"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := ParseLayers("layers.txt", policy)
			if err != nil {
				t.Fatal(err)
			}
			root := fstest.MapFS{}
			for _, p := range []string{"a", "b", "c"} {
				root[p+"/p.go"] = &fstest.MapFile{Data: []byte("package p\n")}
			}
			root["d/p.go"] = &fstest.MapFile{Data: []byte("package p\nimport \"m/c\"\n")}
			root[c.file] = &fstest.MapFile{Data: []byte("package p\n" + strings.ReplaceAll(c.src, "; ", "\n"))}
			imports, err := Imports(root, "m")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(l.Check(imports), "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, strings.ReplaceAll(c.want, "m/", "")) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
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
