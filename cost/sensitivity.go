package cost

import "github.com/inference-sim/accuracy-dashboard/cost/plan"

// Sensitivity is the derivative of a step's total time by each cost that no
// operator carries: how often the step pays it.
type Sensitivity struct {
	Steps          float64 // of host.step
	Sequences      float64 // of host.sequence
	HostLaunches   float64 // of host.launch: only where the launches decide the time
	StreamLaunches float64 // of launch.stream: only where they do not
}

// Sensitivity differentiates Price at a step. A step the host's own work decides
// pays none of them.
func (p *Pricer) Sensitivity(step *plan.StepShape) Sensitivity {
	device, launches := p.device(step)
	price := p.Price(step)
	if p.plan.Host.Overlapped && price.Total <= price.Host {
		return Sensitivity{}
	}
	s := Sensitivity{Steps: 1, Sequences: busiest(step)}
	st := p.stages[step.Stage]
	switch {
	case float64(launches*p.over.eager.value) > device.seconds:
		s.HostLaunches = launches
	case step.Mode != plan.Prebuilt:
		s.StreamLaunches = st.target.launches
		if step.Drafts.Proposed > 0 {
			s.StreamLaunches += float64(st.draft.launches * float64(p.plan.Drafts.Tokens))
		}
	}
	return s
}
