// Package vllm is the vLLM engine port: one upstream release's decisions, from the
// arguments of a launch to the batches of a step.
//
// In: an engines.Spec and an engines.Environment. Out: an engines.Engine, its
// resolved settings and plan, or a refusal in vLLM's words. The port is in parts:
// config (start-up resolution), lower (what runs on a rank), kv and sched (the
// decisions of a step), oracle (replay of recorded runs). fields.json states what
// is known of every setting, surface.json of every registered feature. Rules kept:
// VLM-1 to VLM-7, X1, X9, LIF-5.
package vllm

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
)

// Version is what a scenario's engine.version must say.
const Version = "main-2f41c894"

//go:embed fields.json
var fieldsJSON []byte

var fieldList = sync.OnceValues(func() (*fields.List, error) { return fields.Parse("engines/vllm/fields.json", fieldsJSON) })

// Kind is the port as the simulator registers it.
type Kind struct{ fields *fields.List }

// New returns the port; its only error is a broken embedded field list.
func New() (*Kind, error) {
	l, err := fieldList()
	if err != nil {
		return nil, err
	}
	return &Kind{l}, nil
}

// Name is the engine kind.
func (*Kind) Name() string { return "vllm" }

// Upstream is the modelled release.
func (*Kind) Upstream() engines.Upstream {
	return engines.Upstream{
		Repository: "vllm-project/vllm", Commit: "2f41c894e320a07a46a360ee72149dd84d6f4bec", Date: "2026-08-20", Version: Version,
		Note: "the design asks for v0.32.0; this commit, after v0.28.0, is the latest whose own code could be run and recorded",
	}
}

// Fields is the field list (VLM-3).
func (k *Kind) Fields() *fields.List { return k.fields }
