package invariants

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// replays are the tests that replay recordings, and the packages whose decisions the
// recordings hold.
var replays = []struct{ tests, decides []string }{
	{[]string{"engines/vllm/oracle", "engines/vllm/config"}, []string{"engines/vllm/sched", "engines/vllm/kv", "engines/vllm/config"}},
	{[]string{"engines/sglang/oracle"}, []string{"engines/sglang/sched", "engines/sglang/kv"}},
}

// span is where statements stand that a profile counted.
type span struct {
	line, col int
	ran       bool
}

// counted reads a coverage profile: spans by file, relative to the module's root.
func counted(profile []byte, module string) (map[string][]span, error) {
	out := map[string][]span{}
	lines := bufio.NewScanner(bytes.NewReader(profile))
	for lines.Scan() {
		file, rest, ok := strings.Cut(strings.TrimPrefix(lines.Text(), module+"/"), ":")
		if !ok || file == "mode" {
			continue
		}
		var s span
		var toLine, toCol, statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &s.line, &s.col, &toLine, &toCol, &statements, &count); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		s.ran = count > 0
		out[file] = append(out[file], s)
	}
	return out, lines.Err()
}

// unrecorded are the functions of packages, as "folder.Type.Name", no statement of which
// ran. Functions without statements and files that follow no upstream are left out.
func unrecorded(m *Module, ran map[string][]span, packages []string) (out []string) {
	for _, f := range m.Go {
		if f.Test() || !slices.Contains(packages, f.Dir()) || slices.ContainsFunc(f.Comments, func(g *ast.CommentGroup) bool { return strings.Contains(g.Text(), "This file is the project's own") }) {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) == 0 || fn.Name.Name == "init" {
				continue
			}
			from, to := f.fset.Position(fn.Body.Lbrace).Line, f.fset.Position(fn.Body.Rbrace).Line
			reached := func(s span) bool { return s.ran && s.line >= from && s.line <= to }
			if !slices.ContainsFunc(ran[f.Path], reached) {
				out = append(out, f.Dir()+"."+receiver(fn)+fn.Name.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// receiver is "Type." of a method.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	x := fn.Recv.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	return x.(*ast.Ident).Name + "."
}

// TestEveryPortedFunctionRuns keeps FID-4: each function of what a port decides runs in
// the replay of some recording, or is listed in unrecorded.txt, which only shrinks;
// -update writes that down.
func TestEveryPortedFunctionRuns(t *testing.T) {
	keep.Rule(t, "FID-4")
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("unrecorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed, seen := strings.Fields(string(text)), []string{}
	for _, r := range replays {
		for _, name := range unrecorded(m, replay(t, m.Path, r.tests, r.decides), r.decides) {
			if slices.Contains(listed, name) || *update && len(listed) == 0 {
				seen = append(seen, name)
			} else {
				t.Error(Finding{"invariants/unrecorded.txt", name + " runs in no recorded scenario (FID-4)", "record a scenario that runs it, or mark its file as following no upstream"})
			}
		}
	}
	if *update {
		if err := os.WriteFile("unrecorded.txt", []byte(strings.Join(append(seen, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range listed {
		if !slices.Contains(seen, name) {
			t.Error(Finding{"invariants/unrecorded.txt", name + " is gone, or runs in a recorded scenario", "go test ./invariants -run TestEveryPortedFunctionRuns -update"})
		}
	}
}

// replay is what ran of packages while the tests of folders replayed recordings.
func replay(t *testing.T, module string, folders, packages []string) map[string][]span {
	t.Helper()
	within := func(list []string, prefix string) (out []string) {
		for _, p := range list {
			out = append(out, prefix+p)
		}
		return out
	}
	return tested(t, module, append([]string{"-run", "^TestEveryRecordedTraceReplays$|^TestStartupsReplay$",
		"-coverpkg", strings.Join(within(packages, module+"/"), ",")}, within(folders, "./")...)...)
}

// tested is what ran while go test ran with arguments, none of its tests nightly.
func tested(t *testing.T, module string, arguments ...string) map[string][]span {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	c := exec.Command("go", append([]string{"test", "-coverprofile", profile}, arguments...)...)
	c.Dir, c.Env = "..", append(os.Environ(), NightlySwitch+"=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	ran, err := counted(data, module)
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

// TestAFunctionThatNoRecordingRunsIsFound feeds the reading of a profile with a function
// of each kind.
func TestAFunctionThatNoRecordingRunsIsFound(t *testing.T) {
	keep.Rule(t, "FID-4")
	m, err := Load(fstest.MapFS{
		"go.mod": {Data: []byte("module m\n")},
		"p/a.go": {Data: []byte("package p\n\nfunc ran() {\n\tprintln()\n}\n\nfunc (*T) missed() {\n\tprintln()\n}\n\ntype T struct{}\n\nfunc bare() {}\n")},
		"p/b.go": {Data: []byte("package p\n\n// This file is the project's own.\n\nfunc own() { println() }\n")},
		"q/a.go": {Data: []byte("package q\n\nfunc elsewhere() { println() }\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const profile = "mode: set\nm/p/a.go:3.12,5.2 1 1\nm/p/a.go:7.20,9.2 1 0\nm/p/b.go:5.12,5.25 1 0\n"
	ran, err := counted([]byte(profile), "m")
	if err != nil {
		t.Fatal(err)
	}
	if got := unrecorded(m, ran, []string{"p"}); !slices.Equal(got, []string{"p.T.missed"}) {
		t.Errorf("got %q, want the one method that follows an upstream and did not run", got)
	}
	if _, err := counted([]byte("m/p/a.go:3.12 "+strconv.Itoa(1)), "m"); err == nil {
		t.Error("a profile that cannot be read was accepted")
	}
}
