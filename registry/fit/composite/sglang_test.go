package composite

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/ledger"
)

// A run counts as cold only where the engine builds kernels late and its client had
// no warm-ups.
func TestColdRuns(t *testing.T) {
	warmups := 8
	for _, c := range []struct {
		name, engine string
		client       *ledger.Client
		want         bool
	}{
		{"no warm-ups", "sglang", &ledger.Client{}, true},
		{"warm-ups", "sglang", &ledger.Client{NumWarmups: &warmups}, false},
		{"client not on record", "sglang", nil, false},
		{"engine that builds its kernels at start-up", "vllm", &ledger.Client{}, false},
	} {
		u := &ledger.Unit{Configurations: []ledger.Configuration{{Client: c.client}}}
		u.Framework = c.engine
		if got := cold(u); got != c.want {
			t.Errorf("%s: cold = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSetsAreNamedByWhatTheyHoldFor(t *testing.T) {
	for engine, want := range map[string]string{"vllm": "composite", "sglang": "composite-sglang"} {
		if got := setName(Parameters(engine)); got != want {
			t.Errorf("set of %s's fit: got %s, want %s", engine, got, want)
		}
	}
}
