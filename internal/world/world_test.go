package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// A refusal of data names the directory it stands in, one among several too.
func TestTheDirectoryAtFaultIsNamed(t *testing.T) {
	keep.Rule(t, "SIM-2", "SUB-9")
	good, empty, broken := t.TempDir(), t.TempDir(), t.TempDir()
	chip, err := os.ReadFile("../../catalog/data/hardware/h100_sxm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for dir, text := range map[string]string{good: string(chip), broken: "schema: nothing\n"} {
		if err := os.Mkdir(filepath.Join(dir, "hardware"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "hardware", "h100_sxm.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		paths Paths
		want  string
	}{
		{Paths{CatalogOverlays: []string{good}}, ""},
		{Paths{CatalogOverlays: []string{good, empty}}, empty + ": holds no catalog entry"},
		{Paths{CatalogOverlays: []string{good, broken}}, filepath.Join(broken, "hardware", "h100_sxm.yaml") + ":"},
		{Paths{Catalog: empty, CatalogOverlays: []string{good}}, empty + ": holds no catalog entry"},
		{Paths{RegistryOverlays: []string{empty}}, empty + ": holds no coefficient"},
	} {
		if _, err := Open(c.paths); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.paths, err, c.want)
		}
	}
}
