package main

import (
	"context"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// simulate is how every command runs a scenario: until it ends, or until ctx does.
// A refusal names file.
func simulate(ctx context.Context, file string, s *spec.Scenario, w sim.World) (*spec.Result, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	w.Stop = func(sim.Load) error { return canceled(ctx) }
	r, err := sim.Run(s, w)
	return r, diag.In(file, err)
}

// replications runs s with seeds first, first+1, ... for as long as each wants more.
func replications(ctx context.Context, file string, s *spec.Scenario, w sim.World, first uint64, each func(*spec.Result) (more bool, err error)) error {
	for s.Frame.Seed = first; ; s.Frame.Seed++ {
		r, err := simulate(ctx, file, s, w)
		if err != nil {
			return err
		}
		if more, err := each(r); err != nil || !more {
			return err
		}
	}
}

// canceled is the error of a run that was interrupted.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("interrupted: %w", ctx.Err())
}
