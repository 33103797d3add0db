package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// RegistrationSchema names the layout of a pre-registration file.
const RegistrationSchema = "blis.preregistration/1"

// MaxRegistration is the size limit of a pre-registration file, in bytes.
const MaxRegistration = 64 << 10

// Registration says, before any held-out figure is read, what a change is judged
// on (Target Design §12.3). It lies in the change itself, so it cannot hold the id of the
// commit that is judged: Trees asks that of the predictions.
type Registration struct {
	Schema     string   `yaml:"schema"`
	Change     string   `yaml:"change"` // name of the change; its evaluations are counted under it
	Hypothesis string   `yaml:"hypothesis"`
	Layer      string   `yaml:"layer"` // what is changed, of Layers
	Target     Target   `yaml:"target"`
	Criteria   Criteria `yaml:"criteria"`
	Predicted  Range    `yaml:"predicted_change"` // of the target's published mean error
	SHA256     string   `yaml:"-"`                // of the file: which registration an evaluation was of
}

// Layers lists what a change may change.
var Layers = []string{"coefficient", "method", "pricing form", "engine behaviour"}

// Criteria is what the gate will ask. The test is fixed (VAL-6), so a file can only
// choose what it promises of the target lane.
type Criteria struct {
	Target string `yaml:"target"` // "better", or "not worse" where nothing is promised of whole runs
	Others string `yaml:"others"` // "not worse"
}

// Range is relative: [-0.05, -0.01] is an error lower by 1 to 5 percent points.
type Range struct {
	Low  float64 `yaml:"low"`
	High float64 `yaml:"high"`
}

var changeName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{2,79}$`)

// ReadRegistration reads and checks a pre-registration file.
func ReadRegistration(file string, data []byte) (*Registration, error) {
	if len(data) > MaxRegistration {
		return nil, &diag.Refusal{File: file, Problem: fmt.Sprintf("is larger than %d bytes", MaxRegistration), Rule: "D7"}
	}
	r := &Registration{SHA256: canon.Sum(data)}
	if err := strict.YAML(file, data, r); err != nil {
		return nil, err
	}
	return r, diag.In(file, r.check())
}

func (r *Registration) check() error {
	metrics := append(slices.Clone(Means), DistanceMetric)
	for _, f := range []struct {
		field, value string
		holds        bool
		accept       string
	}{
		{"schema", r.Schema, r.Schema == RegistrationSchema, RegistrationSchema},
		{"change", r.Change, changeName.MatchString(r.Change), "a name of a-z, 0-9, dot and dash, 3 to 80 long"},
		{"hypothesis", r.Hypothesis, strings.TrimSpace(r.Hypothesis) != "", "why the change should help"},
		{"layer", r.Layer, slices.Contains(Layers, r.Layer), diag.OneOf(r.Layer, Layers)},
		{"target.lane", r.Target.Lane, strings.TrimSpace(r.Target.Lane) != "", `words of a lane's name, e.g. "vllm h200"`},
		{"target.metric", r.Target.Metric, slices.Contains(metrics, r.Target.Metric), diag.OneOf(r.Target.Metric, metrics)},
		{"criteria.target", r.Criteria.Target, r.Criteria.Target == "better" || r.Criteria.Target == "not worse", "better, or not worse"},
		{"criteria.others", r.Criteria.Others, r.Criteria.Others == "not worse", "not worse"},
		{"predicted_change", fmt.Sprintf("%v to %v", r.Predicted.Low, r.Predicted.High), r.Predicted.Low <= r.Predicted.High && r.Predicted.Low >= -1, "low and high, low first, as parts of 1"},
	} {
		if !f.holds {
			return &diag.Refusal{Field: f.field, Value: f.value, Problem: "is missing or not accepted", Accept: f.accept, Rule: "VAL-6"}
		}
	}
	return nil
}

// Promise is the target the gate holds the candidate to, nil when none is promised.
func (r *Registration) Promise() *Target {
	if r.Criteria.Target != "better" {
		return nil
	}
	return &r.Target
}
