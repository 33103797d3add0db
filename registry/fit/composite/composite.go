// Package composite fits the few coefficients that only whole runs can show: the
// host's share of a step, launches without a graph, kernels no plan lists, and
// the way of a request to the engine.
//
// In: measured runs of role fit, and a function that simulates them at given
// values. Out: values with 95% intervals, whether the data determine each, and
// the error on every lane when that lane takes no part in the fit. Runs of any
// other role never enter. The number of parameters is small and each is a
// physical cost; nothing is fitted per model (VAL-7). Rules kept: VAL-7, VAL-10,
// VAL-11, D1 of the Target Design.
package composite

import (
	"fmt"
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Parameter is one coefficient to fit. It is never negative.
type Parameter struct {
	Key     registry.Key
	Chips   []string // chips it holds on, all of which share its value; nil: every chip
	Unit    string
	Start   float64
	Scale   float64 // a plausible size: the step of a finite difference
	Meaning string
}

// Observation is one measured figure of one run.
type Observation struct {
	Unit     string  // ledger unit id
	Curve    string  // runs that share all but concurrency: resampled together
	Lane     string  // engine, model, chip, precision: left out together
	Metric   string  // "ttft_mean", "tpot_mean"
	Measured float64 // seconds
	Weight   float64
	Capacity bool // limited by KV capacity: shown apart, not fitted
}

// Simulate predicts the observations of indices which, in that order, at values.
type Simulate func(values []float64, which []int) ([]float64, error)

// Problem is a fit to do.
type Problem struct {
	Parameters   []Parameter
	Observations []Observation
	Simulate     Simulate
	// Slopes simulates every observation and differentiates it by the parameters it
	// knows; the others' derivatives are NaN and are found by simulating. Nil: all are.
	Slopes func(values []float64) (predicted []float64, derivative [][]float64, err error)
	Rounds int // Gauss-Newton rounds, at least 1; each simulates once a parameter and twice more
}

// Fit is what came out.
type Fit struct {
	Values    []float64
	Low, High []float64 // 95%, bootstrap over curves with the linearised model
	Predicted []float64 // at Values
	LeftOut   []float64 // by full simulation at values fitted without the observation's lane
	ByLane    map[string][]float64
}

// Run fits p. The error is Simulate's, or a refusal of a problem that has fewer
// observations than parameters.
func Run(p *Problem) (*Fit, error) {
	if len(p.Observations) <= len(p.Parameters) {
		return nil, &diag.Refusal{Field: "observations", Value: fmt.Sprint(len(p.Observations)), Problem: "are too few to fit",
			Accept: fmt.Sprintf("more than the %d parameters", len(p.Parameters)), Rule: "VAL-10"}
	}
	f := &Fit{ByLane: map[string][]float64{}}
	for _, q := range p.Parameters {
		f.Values = append(f.Values, q.Start)
	}
	var model *linear
	var err error
	for range p.Rounds {
		if model, err = p.linearise(f.Values); err != nil {
			return nil, err
		}
		if err = p.descend(model); err != nil {
			return nil, err
		}
		f.Values = model.at
	}
	f.Predicted = model.predicted
	f.Low, f.High = model.bootstrap()
	return f, p.leaveLanesOut(model, f)
}

// descend moves m to the longest of the step, its half and its quarter that lowers
// the objective in full simulation, or leaves it. The derivatives stay those of
// where the step began: they change little over it.
func (p *Problem) descend(m *linear) error {
	target := m.solve(m.base)
	for share := 1.0; share >= 0.25; share /= 2 {
		v := make([]float64, len(target))
		for j := range v {
			v[j] = m.at[j] + share*(target[j]-m.at[j])
		}
		got, err := p.Simulate(v, p.all())
		if err != nil {
			return err
		}
		if p.objective(got) < p.objective(m.predicted) {
			m.at, m.predicted = v, got
			return nil
		}
	}
	return nil
}

// objective is the robust sum of squared log errors.
func (p *Problem) objective(predicted []float64) float64 {
	sum := 0.0
	for i := range p.Observations {
		o := &p.Observations[i]
		r := math.Abs(math.Log(predicted[i] / o.Measured))
		if r > huber {
			r = math.Sqrt(2*huber*r - huber*huber)
		}
		sum += o.weight() * r * r
	}
	return sum
}

func (o *Observation) weight() float64 {
	if o.Capacity {
		return 0
	}
	return o.Weight
}

// linearise simulates at values, and at one step in each parameter whose
// derivative Slopes does not give.
func (p *Problem) linearise(values []float64) (*linear, error) {
	m := &linear{p: p, at: values}
	derivative, err := p.slopes(m)
	if err != nil {
		return nil, err
	}
	m.base = make([]float64, len(p.Observations))
	m.jacobian = make([][]float64, len(p.Observations))
	for i := range p.Observations {
		m.base[i] = p.Observations[i].weight()
		m.jacobian[i] = make([]float64, len(values))
		for j := range values {
			m.jacobian[i][j] = derivative[i][j] / m.predicted[i]
		}
	}
	for j := range values {
		if err := p.difference(m, j, derivative); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// slopes sets m.predicted and returns the derivatives Slopes knows.
func (p *Problem) slopes(m *linear) (derivative [][]float64, err error) {
	if p.Slopes != nil {
		m.predicted, derivative, err = p.Slopes(m.at)
		return derivative, err
	}
	if m.predicted, err = p.Simulate(m.at, p.all()); err != nil {
		return nil, err
	}
	for range p.Observations {
		derivative = append(derivative, slices.Repeat([]float64{math.NaN()}, len(m.at)))
	}
	return derivative, nil
}

// difference fills in column j of the Jacobian where it is not known.
func (p *Problem) difference(m *linear, j int, derivative [][]float64) error {
	var which []int
	for i := range derivative {
		if math.IsNaN(derivative[i][j]) {
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return nil
	}
	v := slices.Clone(m.at)
	v[j] += p.Parameters[j].Scale
	moved, err := p.Simulate(v, which)
	if err != nil {
		return err
	}
	for k, i := range which {
		m.jacobian[i][j] = math.Log(moved[k]/m.predicted[i]) / (v[j] - m.at[j])
	}
	return nil
}

func (p *Problem) all() []int {
	out := make([]int, len(p.Observations))
	for i := range out {
		out[i] = i
	}
	return out
}

// leaveLanesOut refits the linearised model without each lane and simulates that
// lane's runs in full at what came out.
func (p *Problem) leaveLanesOut(m *linear, f *Fit) error {
	f.LeftOut = make([]float64, len(p.Observations))
	for _, lane := range p.lanes() {
		weight := make([]float64, len(m.base))
		var which []int
		for i := range p.Observations {
			if p.Observations[i].Lane == lane {
				which = append(which, i)
				continue
			}
			weight[i] = m.base[i]
		}
		f.ByLane[lane] = m.solve(weight)
		got, err := p.Simulate(f.ByLane[lane], which)
		if err != nil {
			return err
		}
		for k, i := range which {
			f.LeftOut[i] = got[k]
		}
	}
	return nil
}
