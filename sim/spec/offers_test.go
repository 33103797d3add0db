package spec

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestWhatIsNotModelledIsRefusedByName keeps RTR-4, RTR-5, T-R3 and SIM-14: a scenario
// reaches no plugin of llm-d, no split of a request into legs and no control loop, since
// none of them is offered.
func TestWhatIsNotModelledIsRefusedByName(t *testing.T) {
	keep.Rule(t, "RTR-4", "RTR-5", "SIM-14", "T-R3", "X4")
	const whole = "schema: blis.scenario/1\nengine: {kind: vllm, version: v}\nmodel: m\nhardware: h\ncluster: {instances: 2}\nrouter: {policy: round_robin}\nworkload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}]}\n"
	if _, err := Parse("s.yaml", []byte(whole)); err != nil {
		t.Fatalf("closest accepted: %v", err)
	}
	for _, c := range []struct{ from, to, names string }{
		{"policy: round_robin", "policy: prefix-cache-scorer", "prefix-cache-scorer"},
		{"policy: round_robin", "policy: pd-profile-handler", "pd-profile-handler"},
		{"policy: round_robin", "policy: round_robin, plugins: [{type: queue-scorer}]", "plugins"},
		{"policy: round_robin", "policy: round_robin, flags: [--config-file=x]", "flags"},
		{"instances: 2", "instances: 2, prefill: 1, decode: 1", "prefill"},
		{"instances: 2", "instances: 2, autoscaler: {min: 1, max: 4}", "autoscaler"},
		{"router:", "adapters: {placement: spread}\nrouter:", "adapters"},
	} {
		_, err := Parse("s.yaml", []byte(strings.Replace(whole, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: got %v, want a refusal that names it", c.to, err)
		}
	}
	if got := Policies(); len(got) != 1 || got[0] != "round_robin" {
		t.Errorf("the router offers %q: each policy that follows llm-d needs its recorded decisions", got)
	}
}
