package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// MaxFigure bounds a figure of a run in its metric's unit, far above any that one can have, so that
// no error or mean of figures overflows.
const MaxFigure = 1e12

// Check refuses a trial that no run leaves behind: either the reason it was not run, or what was
// run and figures that can be compared.
func (t *Trial) Check() error {
	if r := t.Refusal; r != nil {
		if !slices.Contains(Reasons(), r.Reason) {
			return &diag.Refusal{Field: "trial.refusal.reason", Value: string(r.Reason), Problem: "is not a reason of §11.4", Accept: fmt.Sprint(Reasons()), Rule: "COV-5"}
		}
		return nil
	}
	switch {
	case t.Scenario == nil || t.Result == nil:
		return &diag.Refusal{Field: "trial", Problem: "holds neither a refusal nor a scenario with its result", Accept: "one of them", Rule: "COV-1"}
	case t.Result.Accepted && len(t.Result.Engines) == 0:
		return &diag.Refusal{Field: "trial.result.engines", Problem: "is empty", Accept: "one entry an instance"}
	}
	for i, f := range t.Result.Figures {
		if !(math.Abs(f.Value) <= MaxFigure) {
			return &diag.Refusal{Field: fmt.Sprintf("trial.result.figures[%d].value", i), Value: fmt.Sprint(f.Value), Problem: "is no figure of a run", Accept: fmt.Sprintf("at most %g %s", MaxFigure, f.Unit)}
		}
	}
	return nil
}
