package sim

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// profiled is an environment that remembers the acceptance profiles it gave.
type profiled interface{ Profiles() []cost.ProfileUse }

// acceptance lists each acceptance profile that an engine of the run was given (D8).
func acceptance(env engines.Environment) []spec.ProfileUse {
	p, ok := env.(profiled)
	if !ok {
		return nil
	}
	var out []spec.ProfileUse
	for _, u := range p.Profiles() {
		same := func(o spec.ProfileUse) bool {
			return o.Target == u.Target && o.Drafter == u.Drafter && o.Workload == u.Workload && o.Drafts == u.K
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, spec.ProfileUse{Target: u.Target, Drafter: u.Drafter, Workload: u.Workload, Drafts: u.K, Source: u.Source, Step: u.Step, Differs: u.Differs})
		}
	}
	return out
}
