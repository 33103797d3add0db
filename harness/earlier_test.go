package harness

import (
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// A run of an older release runs with that release's defaults, and says so; one that
// states the field, is newer, or has no release number does not.
func TestEarlierDefaults(t *testing.T) {
	keep.Rule(t, "COV-3")
	for _, c := range []struct {
		version, image, env string
		want                string // the variable in the scenario
	}{
		{"0.19.1", "", "", "0"}, {"0.20.0", "", "", ""}, {"0.9.2", "", "", "0"}, {"0.19.1", "", "1", "1"},
		{"", "vllm/vllm-openai:v0.11.2", "", "0"}, {"", "vllm/vllm-openai:nightly", "", ""},
	} {
		u := unit(t, `{}`)
		for i := range u.Measurements {
			for j := range u.Measurements[i].Records {
				u.Measurements[i].Records[j].Version = c.version
			}
		}
		u.Configurations[0].Image = &c.image
		if c.env != "" {
			u.Configurations[0].Env = map[string]string{"E": c.env}
		}
		trial := try(t, world(t, port{name: "vllm", list: list(t,
			`{"name":"E","kind":"environment","status":"modelled","earlier":{"before":"0.20.0","value":"0","reason":"why"}}`)}), u)
		if trial.Refusal != nil {
			t.Fatalf("refused: %+v", trial.Refusal)
		}
		if got := trial.Scenario.Engine.Env["E"]; got != c.want {
			t.Errorf("%s%s with E=%q: got E=%q, want %q", c.version, c.image, c.env, got, c.want)
		}
		want := []record.Estimate{{Field: "E", Rule: "earlier default", StoodIn: "E=0", Reason: "why"}}
		if c.want != "0" {
			want = nil
		}
		if !slices.Equal(trial.Estimates, want) {
			t.Errorf("%s%s: estimates: got %+v, want %+v", c.version, c.image, trial.Estimates, want)
		}
	}
}
