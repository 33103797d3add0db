package composite

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/ledger"
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
		p(registry.HostRequest, 5e-3, 2e-2, "what a request takes in this engine besides the steps priced: its HTTP, tokenizer, scheduler and detokenizer processes, and prompt work no table times"),
	}
}

// roundsOf is how long an engine's fit goes on. SGLang's one cost settles in four. vLLM's
// stops after the first from physical starts: its host and request costs are poorly
// determined apart, further rounds drive them to their bounds, and lanes left out
// are then predicted worse (four rounds: TPOT 8.1%, TTFT 16.4%; one: 7.2%, 13.8%,
// of 220 fit runs).
func roundsOf(engine string) int {
	if engine == "vllm" {
		return 1
	}
	return 4
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

// cold says that a run's first requests waited for kernels to be built: SGLang builds
// some when a batch of their size first runs, and a client without warm-ups sends one
// request before the clock starts. What the wait adds to a mean TTFT depends on how
// many requests follow, so such a mean says nothing of a request's own cost.
func cold(u *ledger.Unit) bool {
	if u.Framework != "sglang" {
		return false
	}
	for i := range u.Configurations {
		if c := u.Configurations[i].Client; c != nil && c.NumWarmups == nil {
			return true
		}
	}
	return false
}
