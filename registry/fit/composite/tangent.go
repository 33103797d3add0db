package composite

import (
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// tangent watches one run and differentiates its mean TPOT and TTFT by each
// universal cost: every step's price is differentiated when it is asked for, and
// a request's times are sums of the steps it waited for. What a change of price
// would do to the schedule itself is left out; Run corrects it by simulating.
type tangent struct {
	*sim.Environment
	priced   []cost.Sensitivity // in order of launch
	ends     []des.Time         // of batches, in order
	requests []sim.RequestRecord
	runs     map[registry.Key]bool // kernels of the plan, with the chip alone
}

// slopes is the derivative of each metric by each cost, by the cost's name, and
// the kernels that ran: no other kernel's factor moves a metric.
type slopes struct {
	metric map[string]map[plan.Primitive]float64
	runs   map[registry.Key]bool
}

// by is the derivative of a metric by a parameter; NaN when it must be simulated.
func (s *slopes) by(metric string, q *Parameter) float64 {
	d, known := s.metric[metric][q.Key.Primitive]
	if known {
		return d
	}
	if q.Chips == nil {
		return math.NaN()
	}
	for _, chip := range q.Chips {
		if s.runs[registry.Key{Kernel: q.Key.Kernel, Chip: chip}] {
			return math.NaN()
		}
	}
	return 0
}

// Pricer returns a pricer that notes what each step pays.
func (t *tangent) Pricer(p *plan.PoolPlan) (engines.Pricer, error) {
	pr, err := t.Environment.Pricer(p)
	if err != nil {
		return nil, err
	}
	for i := range p.Layers {
		t.runs[registry.Key{Kernel: registry.ForKernel(p.Layers[i].Kernel), Chip: p.Hardware}] = true
	}
	return &noting{pr.(*cost.Pricer), t}, nil
}

type noting struct {
	*cost.Pricer
	t *tangent
}

func (n *noting) Price(step *plan.StepShape) plan.StepEstimate {
	n.t.priced = append(n.t.priced, n.Sensitivity(step))
	return n.Pricer.Price(step)
}

// Batch, Request and Instant make it an observer.
func (t *tangent) Batch(b sim.BatchRecord) { t.ends = append(t.ends, b.End) }

func (t *tangent) Request(r sim.RequestRecord) { t.requests = append(t.requests, r) }

func (t *tangent) Instant(des.Time, sim.Load) {}

// run simulates s under w and returns the slopes of TPOT and TTFT. A run whose
// steps and batches do not correspond one to one, as with pipeline stages, has
// no slopes of step costs.
func run(w *world.World, s *spec.Scenario) (r *spec.Result, d slopes, err error) {
	t := &tangent{Environment: w.Environment(), runs: map[registry.Key]bool{}}
	sw := w.Sim()
	sw.Environment, sw.Observer = t, t
	r, err = sim.Run(s, sw)
	d.runs = t.runs
	if err == nil && len(t.priced) == len(t.ends) {
		d.metric = t.slopes()
	}
	return r, d, err
}

// costs are the step costs in the order of sums' columns.
var costs = [...]plan.Primitive{registry.HostStep, registry.HostSequence, registry.HostLaunch, registry.StreamLaunch}

func columns(s cost.Sensitivity) [len(costs)]float64 {
	return [...]float64{s.Steps, s.Sequences, s.HostLaunches, s.StreamLaunches}
}

// slopes sums what the steps between two tokens, or before the first, paid. The
// front end's costs are not in it: whether a request that is ready a little later
// misses a step is not a derivative.
func (t *tangent) slopes() map[string]map[plan.Primitive]float64 {
	sums := make([][len(costs)]float64, len(t.ends)+1) // paid up to and with the k-th batch
	for k := range t.ends {
		for j, v := range columns(t.priced[k]) {
			sums[k+1][j] = sums[k][j] + v
		}
	}
	paid := func(at des.Time) *[len(costs)]float64 {
		k, _ := slices.BinarySearch(t.ends, at+1) // batches that ended by then
		return &sums[k]
	}
	tpot, ttft := map[plan.Primitive]float64{}, map[plan.Primitive]float64{}
	n := 0.0
	for i := range t.requests {
		r := &t.requests[i]
		if !r.Measured || r.Output < 2 {
			continue
		}
		n++
		sent, first, last := paid(r.Sent), paid(r.First), paid(r.Last)
		for j, c := range costs {
			ttft[c] += first[j] - sent[j]
			tpot[c] += (last[j] - first[j]) / float64(r.Output-1)
		}
	}
	for _, s := range []map[plan.Primitive]float64{tpot, ttft} {
		for c := range s { //determinism:any-order each entry is scaled alone
			s[c] /= math.Max(1, n)
		}
	}
	return map[string]map[plan.Primitive]float64{"tpot_mean": tpot, "ttft_mean": ttft}
}
