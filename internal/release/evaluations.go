package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
)

// Evaluations lists how often each change was judged on held units up to this release's own
// verdict, for those judged since the verdict on the release before (§10.2).
func Evaluations(file string, data []byte) (string, error) {
	log, err := gate.ReadLog(file, data)
	if err != nil {
		return "", err
	}
	held := slices.DeleteFunc(log.Evaluations, func(e gate.Evaluation) bool { return e.Role != ledger.Held || e.Report == nil })
	since, verdicts := 0, 0
	for i := len(held) - 1; i >= 0 && verdicts < 2; i-- {
		if held[i].Change == "release" {
			if verdicts++; verdicts == 2 {
				since = i + 1
			}
		}
	}
	last := map[string]gate.Evaluation{}
	for _, e := range held[since:] {
		last[e.Change] = e
	}
	var b strings.Builder
	b.WriteString("## Evaluations on held units\n\n")
	if len(last) == 0 {
		b.WriteString("None.\n")
	}
	for _, change := range names(last, nil) {
		e := last[change]
		verdict := "not passed"
		if e.Report.Passed {
			verdict = "passed"
		}
		fmt.Fprintf(&b, "- %s: %d in all, the last %s: %s\n", change, e.Number, verdict, e.Report.Why)
	}
	return b.String() + "\n", nil
}
