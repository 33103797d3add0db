package connector

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestEveryConnectorAndTierIsRefusedByName(t *testing.T) {
	keep.Rule(t, "VLM-6")
	for _, c := range []struct{ name, want string }{
		{"NixlConnector", "NixlConnector: this connector is not modelled"},
		{"OffloadingConnector", "OffloadingConnector: this connector is not modelled"},
		{"NixlConector", "NixlConector: vLLM registers no such name"},
	} {
		if _, err := Open(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	for _, name := range connectors {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, name := range tiers {
		if _, err := OpenTier(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNoConnectorIsAccepted(t *testing.T) {
	if c, err := Open(""); c != nil || err != nil {
		t.Errorf("got %v, %v, want neither", c, err)
	}
}
