package gate

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// PredictionsSchema names the layout of a predictions file.
const PredictionsSchema = "blis.predictions/1"

// MaxValue bounds a predicted figure in its metric's unit, far above any that a run can have, so
// that no error computed from it overflows.
const MaxValue = 1e9

// MaxPredictions is the size limit of a predictions file, in bytes.
const MaxPredictions = 16 << 20

// Predictions is all that a candidate job hands over.
type Predictions struct {
	Schema string       `json:"schema"`
	Build  record.Build `json:"build"`
	Units  []Prediction `json:"units"` // by unit id, each once
}

// Prediction is one unit's simulated figures, or the reason there are none.
type Prediction struct {
	UnitID  string             `json:"unit_id"`
	Metrics map[string]float64 `json:"metrics,omitempty"` // by metric id, in the registry's unit
	Reason  record.Reason      `json:"reason,omitempty"`
}

// Predict reduces a candidate's trials to what it hands over. It reads figures alone,
// so trials of units without measured values give the same bytes.
func Predict(build record.Build, trials []record.Trial) *Predictions {
	p := &Predictions{Schema: PredictionsSchema, Build: build, Units: make([]Prediction, len(trials))}
	for i := range trials {
		t := &trials[i]
		u := &p.Units[i]
		u.UnitID = t.Unit.ID
		if t.Refusal != nil {
			u.Reason = t.Refusal.Reason
			continue
		}
		u.Metrics = map[string]float64{}
		for _, id := range ledger.Metrics() {
			if f, ok := t.Result.Figure(id, "cluster"); ok && f.Value > 0 {
				u.Metrics[id] = f.Value
			}
		}
	}
	slices.SortFunc(p.Units, func(a, b Prediction) int { return cmp.Compare(a.UnitID, b.UnitID) })
	return p
}

// Write returns the canonical bytes of p.
func (p *Predictions) Write() ([]byte, error) { return canon.Indent(p) }

// ReadPredictions reads an untrusted predictions file: bounded size, known keys,
// sorted unique ids, finite positive values, listed reasons.
func ReadPredictions(file string, r io.Reader) (*Predictions, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxPredictions+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxPredictions {
		return nil, &diag.Refusal{File: file, Problem: fmt.Sprintf("is larger than %d bytes", MaxPredictions), Rule: "D7"}
	}
	p := new(Predictions)
	if err := strict.JSON(file, data, p); err != nil {
		return nil, err
	}
	return p, diag.In(file, p.check())
}

func (p *Predictions) check() error {
	if p.Schema != PredictionsSchema {
		return &diag.Refusal{Field: "schema", Value: p.Schema, Problem: "is not a predictions file", Accept: PredictionsSchema}
	}
	for i := range p.Units {
		u := &p.Units[i]
		field := fmt.Sprintf("units[%d]", i)
		switch {
		case len(u.UnitID) != 64:
			return &diag.Refusal{Field: field + ".unit_id", Value: fmt.Sprintf("%.70q", u.UnitID), Problem: "is not a unit id", Accept: "64 hex digits"}
		case i > 0 && u.UnitID <= p.Units[i-1].UnitID:
			return &diag.Refusal{Field: field + ".unit_id", Value: u.UnitID, Problem: "is out of order or repeated", Accept: "ids in ascending order, each once"}
		case (len(u.Metrics) == 0) == (u.Reason == ""):
			return &diag.Refusal{Field: field, Problem: "must hold either metrics or a reason", Accept: "one of the two"}
		case u.Reason != "" && !slices.Contains(record.Reasons(), u.Reason):
			return &diag.Refusal{Field: field + ".reason", Value: fmt.Sprintf("%.70q", string(u.Reason)), Problem: "is not a reason of §11.4", Accept: fmt.Sprint(record.Reasons()), Rule: "COV-5"}
		}
		for id, v := range u.Metrics { //determinism:any-order the first fault found is enough, and none is accepted
			if !slices.Contains(ledger.Metrics(), id) {
				return &diag.Refusal{Field: field + ".metrics", Value: fmt.Sprintf("%.70q", id), Problem: "is not a metric that runs are measured by", Accept: fmt.Sprint(ledger.Metrics())}
			}
			if !(v > 0 && v <= MaxValue) {
				return &diag.Refusal{Field: field + ".metrics." + id, Value: fmt.Sprint(v), Problem: "is not a positive finite number", Accept: fmt.Sprintf("above 0, at most %g", MaxValue)}
			}
		}
	}
	return nil
}

// Trees refuses predictions of other trees than the two compared, by full commit id: base
// is where the change left the main branch, candidate its head. Who calls finds both in the
// repository, since a prediction only says what it is of.
func Trees(base, candidate *Predictions, baseCommit, candidateCommit string) error {
	for _, p := range []struct{ side, want, got string }{{"base", baseCommit, base.Build.Commit}, {"candidate", candidateCommit, candidate.Build.Commit}} {
		switch {
		case !commitID.MatchString(p.want):
			return &diag.Refusal{Field: p.side + " commit", Value: p.want, Problem: "is no full commit id", Accept: "40 hex digits", Rule: "VAL-6"}
		case p.got != p.want:
			return &diag.Refusal{Field: p.side + ".build.commit", Value: p.got, Problem: "is not the commit that is judged", Accept: p.want + ", built without local changes", Rule: "VAL-6"}
		}
	}
	return nil
}

var commitID = regexp.MustCompile(`^[0-9a-f]{40}$`)
