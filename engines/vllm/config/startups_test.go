package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestStartupsReplay(t *testing.T) {
	keep.Rule(t, "SIM-9", "VLM-1", "VLM-7", "X1")
	for _, c := range []struct {
		file    string
		checked int
	}{{"config.jsonl", 179}, {"backends.jsonl", 109}, {"defaults.json", 57}} {
		t.Run(c.file, func(t *testing.T) {
			f, err := os.Open(filepath.Join("..", "testdata", "startup", c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rep, err := CheckStartups(c.file, f)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Checked != c.checked {
				t.Errorf("checked: got %d, want %d", rep.Checked, c.checked)
			}
			for _, d := range rep.Differences {
				t.Error(d)
			}
		})
	}
}
