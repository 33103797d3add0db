package wasm

import (
	"os/exec"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

func TestThePagesScriptsOutliveTheirWorker(t *testing.T) {
	node := need.Tool(t, "node", "make test needs it")
	if out, err := exec.CommandContext(t.Context(), node, "--test", "../browser/scripts.mjs").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
