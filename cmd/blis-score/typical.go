package main

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// typicalSteps prices and explains two steps of a finished run: decoding at the
// concurrency it reached, and one mean prompt alone.
func typicalSteps(w *world.World, s *spec.Scenario, r *spec.Result) ([]record.TypicalStep, error) {
	p, pricer, err := w.Compile(s.Engine.Kind, sim.EngineSpec(s))
	if err != nil {
		return nil, err
	}
	done := max(1, r.Requests.Measured.Completed)
	prompt, output := int(r.Requests.PromptTokens/done), int(r.Requests.OutputTokens/done)
	running := 0
	for _, e := range r.Engines {
		running = max(running, e.MaxRunning)
	}
	decode := world.Batch{Decode: []world.Decoding{{Seqs: max(1, running/max(1, p.Layout.Data)), Context: prompt + output/2}}}
	prefill := world.Batch{Extend: []plan.Chunk{{Query: max(1, prompt)}}}
	return []record.TypicalStep{
		explained("decode at the concurrency reached, mean context", pricer, world.Step(p, decode, 0)),
		explained("prefill of one mean prompt alone", pricer, world.Step(p, prefill, 0)),
	}, nil
}

func explained(name string, pricer *cost.Pricer, step *plan.StepShape) record.TypicalStep {
	t := record.TypicalStep{Name: name, Seconds: float64(pricer.Price(step).Total), Parts: []record.StepPart{}}
	for _, part := range pricer.Explain(step) {
		t.Parts = append(t.Parts, record.StepPart{Name: part.Name, Primitive: string(part.Primitive),
			Kernel:  strings.Trim(part.Kernel.Library+"/"+part.Kernel.Variant, "/"),
			Seconds: float64(part.Seconds), Method: part.Method.String(), Entries: part.Entries, Flags: part.Flags})
	}
	return t
}
