package harness

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Fingerprints are one build's simulations by hash: what a refactor must leave as
// it was (X13). No measured value has a part in them.
type Fingerprints struct {
	Schema string        `json:"schema"`
	Units  []Fingerprint `json:"units"` // by unit id
}

// Fingerprint is one unit's simulation.
type Fingerprint struct {
	UnitID   string `json:"unit_id"`
	Scenario string `json:"scenario_sha256,omitempty"`
	Result   string `json:"result_sha256,omitempty"`
	Refusal  string `json:"refusal,omitempty"` // reason and detail
}

const fingerprintsSchema = "blis.fingerprints/1"

// NewFingerprints reduces trials to hashes. The hashes of the data the build loaded are
// left out: what they changed shows in the figures.
func NewFingerprints(trials []record.Trial) (*Fingerprints, error) {
	f := &Fingerprints{Schema: fingerprintsSchema, Units: make([]Fingerprint, len(trials))}
	for i := range trials {
		t := &trials[i]
		f.Units[i].UnitID = t.Unit.ID
		if t.Refusal != nil {
			f.Units[i].Refusal = fmt.Sprintf("%s: %s", t.Refusal.Reason, t.Refusal.Detail)
			continue
		}
		r := *t.Result
		r.Inputs.Data = nil
		var err error
		if f.Units[i].Scenario, err = canon.Hash(t.Scenario); err != nil {
			return nil, err
		}
		if f.Units[i].Result, err = canon.Hash(r); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.Units, func(a, b Fingerprint) int { return cmp.Compare(a.UnitID, b.UnitID) })
	return f, nil
}

// ReadFingerprints reads a file that NewFingerprints gave.
func ReadFingerprints(file string, data []byte) (*Fingerprints, error) {
	f := new(Fingerprints)
	if err := strict.JSON(file, data, f); err != nil {
		return nil, err
	}
	if f.Schema != fingerprintsSchema {
		return nil, &diag.Refusal{File: file, Field: "schema", Value: f.Schema, Problem: "is not a fingerprints file", Accept: fingerprintsSchema}
	}
	for i, u := range f.Units {
		switch {
		case i > 0 && f.Units[i-1].UnitID >= u.UnitID:
			return nil, &diag.Refusal{File: file, Field: fmt.Sprintf("units[%d].unit_id", i), Value: u.UnitID, Problem: "is out of order or repeated", Accept: "ids in ascending order, each once"}
		case (u.Result == "") == (u.Refusal == ""):
			return nil, &diag.Refusal{File: file, Field: fmt.Sprintf("units[%d]", i), Value: u.UnitID, Problem: "must hold either a result or a refusal"}
		}
	}
	return f, nil
}

// Differing lists the units whose simulations differ between two builds, with what
// differs; a unit that one side lacks differs.
func Differing(a, b *Fingerprints) []string {
	var out []string
	x, y := a.Units, b.Units
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].UnitID < y[0].UnitID:
			out, x = append(out, x[0].UnitID+": the second has no such unit"), x[1:]
		case len(x) == 0 || y[0].UnitID < x[0].UnitID:
			out, y = append(out, y[0].UnitID+": the first has no such unit"), y[1:]
		default:
			if d := x[0].differs(y[0]); d != "" {
				out = append(out, x[0].UnitID+": "+d)
			}
			x, y = x[1:], y[1:]
		}
	}
	return out
}

func (f Fingerprint) differs(g Fingerprint) string {
	switch {
	case f == g:
		return ""
	case f.Refusal != "" || g.Refusal != "":
		return fmt.Sprintf("%s, then %s", cmp.Or(f.Refusal, "scored"), cmp.Or(g.Refusal, "scored"))
	case f.Scenario != g.Scenario:
		return "its scenario differs"
	}
	return "its result differs"
}
