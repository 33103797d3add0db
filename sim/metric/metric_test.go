package metric

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestEveryDefinitionIsWhole(t *testing.T) {
	keep.Rule(t, "DEV-8")
	seen := map[string]bool{}
	for _, d := range All() {
		for name, v := range map[string]string{"id": d.ID, "quantity": d.Quantity, "formula": d.Formula, "statistic": string(d.Statistic),
			"population": string(d.Population), "window": d.Window, "unit": d.Unit, "better": string(d.Better)} {
			if v == "" {
				t.Errorf("%s: no %s", d.ID, name)
			}
		}
		if seen[d.ID] {
			t.Errorf("%s: defined twice", d.ID)
		}
		seen[d.ID] = true
	}
}

func TestLookup(t *testing.T) {
	keep.Rule(t, "DEV-8")
	if d, err := Lookup("ttft_p99"); err != nil || d.Unit != "s" || d.Statistic != P99 {
		t.Errorf("ttft_p99: got %+v, %v", d, err)
	}
	if _, err := Lookup("ttft_p98"); err == nil || !strings.Contains(err.Error(), "ttft_p98: is not a metric") {
		t.Errorf("ttft_p98: got %v, want a refusal", err)
	}
}
