package fit

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
)

const lengths = `{"_file": "qwen3.5_mtp.yaml", "_comments": ["# Source GitHub Actions run: https://example.org/1", "# thinking_on : temp 0.6"], "qwen3.5-397b-a17b-nvfp4": {"thinking_on": {"1": 1.93, "2": 2.73, "4": 3.9}}}
{"_file": "other_mtp.yaml", "_comments": [], "unheard-of": {"thinking_on": {"1": 1.5}}}
`

// TestAcceptanceWriter: a curve of a catalog model is carried up to the first gap;
// another is skipped by name.
func TestAcceptanceWriter(t *testing.T) {
	keep.Rule(t, "SUB-4")
	cat, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	file, skipped, err := Acceptance(cat, strings.NewReader(lengths))
	if err != nil {
		t.Fatal(err)
	}
	if len(skipped) != 1 || !strings.Contains(skipped[0], "unheard-of") {
		t.Errorf("got skipped %v, want unheard-of alone", skipped)
	}
	s, err := acceptance.Parse("written", file)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Profiles[0]
	if len(s.Profiles) != 1 || p.Target != "qwen3.5-397b-a17b" || p.Method != "mtp" || p.Workload != "coding/thinking_on" || p.Sampling != "temp 0.6" {
		t.Errorf("got %+v", s.Profiles)
	}
	if len(p.Lengths) != 2 || p.Lengths[1] != 2.73 {
		t.Errorf("got lengths %v, want the two before the gap", p.Lengths)
	}
	if !strings.HasSuffix(p.Source, "https://example.org/1") {
		t.Errorf("got source %q, want the run's address", p.Source)
	}
}

func TestAcceptanceWriterRefuses(t *testing.T) {
	cat, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"two models":   `{"_file": "x_mtp.yaml", "_comments": [], "a": {}, "b": {}}`,
		"no name":      `{"_comments": [], "a": {}}`,
		"cut short":    `{"_file": "x_mtp.yaml", "_comments": [`,
		"not a length": `{"_file": "q_mtp.yaml", "_comments": [], "qwen3.5-397b-a17b": {"thinking_on": {"1": "two"}}}`,
	} {
		if _, _, err := Acceptance(cat, strings.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted, want a refusal", name)
		}
	}
}
