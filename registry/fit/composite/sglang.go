package composite

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Parameters are the costs fitted on an engine's runs: vLLM's runs, which are most,
// give those any host pays; another engine's give what its own loop pays.
func Parameters(engine string) []Parameter {
	if engine == "vllm" {
		return Standard()
	}
	p := func(name plan.Primitive, start, scale float64, meaning string) Parameter {
		return Parameter{Key: registry.Key{Primitive: name, Kernel: registry.ForHost(engine)}, Unit: "s", Start: start, Scale: scale, Meaning: meaning}
	}
	return []Parameter{
		p(registry.HostStep, 0, 5e-4, "time between a step's result and the next launch that this engine's loop does not hide"),
		p(registry.HostSequence, 11e-6, 1e-5, "this engine's host and sampler work of a running sequence, a step"),
		p(registry.HostLaunch, 5e-5, 2e-5, "this engine's launch of one kernel without a graph"),
		p(registry.HostRequest, 5e-3, 2e-2, "this engine's work on one request outside its steps: HTTP, tokenizer, scheduler and detokenizer processes"),
		p(registry.HostBurst, 0, 3e-3, "this engine's front end takes requests one after the other"),
	}
}

// setName names the set and file of a fit: by library when it holds for one alone.
func setName(params []Parameter) string {
	for i := range params {
		if library, ok := strings.CutSuffix(params[i].Key.Kernel, "/host"); ok {
			return "composite-" + library
		}
	}
	return "composite"
}
