package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

// An output never takes the place of an input, of another output, or of what is no
// file; a link stays, and its target is written.
func TestOutputsReplaceNothingElse(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "old.json": "old"})
	t.Chdir(dir)
	for link, target := range map[string]string{"link.json": "old.json", "device": os.DevNull, "again.yaml": "s.yaml", "nowhere": "missing"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"run s.yaml --timeline " + os.DevNull:                     os.DevNull + ": is not a regular file",
		"run s.yaml --plot device":                                "device: is not a regular file",
		"run s.yaml --timeline nowhere":                           "is a link to a file that does not exist",
		"run s.yaml --timeline again.yaml":                        "--timeline: again.yaml: is an input of this command too",
		"run s.yaml --timeline x --plot ./x":                      "--plot: ./x: is the --timeline of this command too",
		"run s.yaml --timeline=":                                  "--timeline: is empty",
		"run s.yaml --plot=":                                      "--plot: is empty",
		"run s.yaml --plot p.png":                                 "--plot: p.png: does not end in .svg",
		"trace export s.yaml --out s.yaml":                        "--out: s.yaml: is an input of this command too",
		"trace export s.yaml --out=":                              "--out: is empty",
		"trace convert old.json --from sharegpt --out=./old.json": "--out: ./old.json: is an input of this command too",
		"trace export s.yaml --catalog none --out x":              "none",
	} {
		if code, out, complaint := blisIn(t, dir, strings.Fields(line)...); code != exit.Refused || out != "" || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %q, want %q", line, code, complaint, want)
		}
	}
	if err := os.Mkdir(".old.json.new-1", 0o755); err != nil { // of a killed process
		t.Fatal(err)
	}
	if code, _, complaint := blisIn(t, dir, "run", "s.yaml", "--timeline", "link.json"); code != exit.Done {
		t.Error(complaint)
	}
	if to, err := os.Readlink(filepath.Join(dir, "link.json")); err != nil || to != "old.json" {
		t.Errorf("the link: got %q, %v", to, err)
	}
	if b, err := os.ReadFile("old.json"); err != nil || !strings.HasPrefix(string(b), "{") {
		t.Errorf("its target: got %.20q, %v", b, err)
	}
	if left, _ := filepath.Glob(".*"); left != nil {
		t.Errorf("left %v", left)
	}
}
