package gate

import (
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

// Typical is one lane's error of a single build: what the error job gives out.
type Typical struct {
	Name     string     `json:"lane"`
	Metric   string     `json:"metric"`
	Units    int        `json:"units"`
	Error    float64    `json:"error"`    // mean over units: absolute relative error, or distance
	Interval [2]float64 `json:"interval"` // 95%, over role keys
}

// TypicalReport is all the error job gives out.
type TypicalReport struct {
	Role     ledger.Role `json:"role"`
	Lanes    []Typical   `json:"lanes"`
	NotBlind []Typical   `json:"lanes_not_blind"`
}

// TypicalError measures one build's error over the units of role (VAL-5). It decides
// nothing.
func TypicalError(l *ledger.Ledger, seed []byte, role ledger.Role, p *Predictions) (*TypicalReport, error) {
	blind, public, err := collect(l, seed, role, p, p)
	if err != nil {
		return nil, err
	}
	return &TypicalReport{Role: role, Lanes: typical(blind), NotBlind: typical(public)}, nil
}

func typical(by lanes) []Typical {
	out := []Typical{}
	for _, g := range merge(by) {
		for i := range g.pairs {
			g.pairs[i].base = 0 // so that the difference is the error itself
		}
		lane, draws := resample(g)
		out = append(out, Typical{Name: lane.Name, Metric: lane.Metric, Units: lane.Units, Error: lane.Candidate,
			Interval: [2]float64{quantile(draws, 0.025), quantile(draws, 0.975)}})
	}
	return out
}
