package harness

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Every way in which the run's client may have sent other requests is named.
func TestDifferencesOfTheClientAreNamed(t *testing.T) {
	keep.Rule(t, "COV-12")
	_, pin, _ := strings.Cut(spec.ClientBenchServing, "-")
	other := "0123456789"
	for _, c := range []struct {
		name    string
		client  ledger.Client
		release string
		want    []string
	}{
		{"the modelled release", ledger.Client{Commit: &pin}, spec.ClientBenchServing, []string{"tokenizer at a pinned revision", "vocabulary", "re-encodes and cuts prompts"}},
		{"not recorded", ledger.Client{}, spec.ClientBenchServing, []string{"tokenizer at a pinned revision", "vocabulary", "release not recorded", "re-encodes"}},
		{"another commit", ledger.Client{Commit: &other}, "vllm-1", []string{"tokenizer at a pinned revision", "vocabulary", "client of commit " + other}},
		{"a chat template", ledger.Client{Commit: &pin, UseChatTemplate: true}, spec.ClientBenchServing, []string{"tokenizer at a pinned revision", "vocabulary", "re-encodes", "chat template's tokens"}},
	} {
		got := differences(&c.client, c.release)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %q, want %d differences", c.name, got, len(c.want))
			continue
		}
		for i, w := range c.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%s: got %q, want %q", c.name, got[i], w)
			}
		}
	}
}
