// Package connector is the scheduler's side of KV transfer and offloading: what a
// connector and an offload tier answer, and which of vLLM's this port runs.
//
// In: a connector's or tier's upstream name. Out: the thing itself, or a refusal
// that names it. No connector is ported yet, so every name is refused; the
// scheduler's other states are independent of them. Rules kept: VLM-6, X1.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec
// vllm/distributed/kv_transfer/kv_connector/v1/base.py, factory.py;
// vllm/v1/kv_offload/base.py, factory.py, tiering/factory.py.
package connector

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Connector moves KV blocks in and out of an engine.
type Connector interface {
	// Match says how many tokens beyond local the connector can supply for s. known is
	// false when it must be asked again; async when they arrive after a while.
	Match(s *kv.Sequence, local int) (tokens int, async, known bool)
	// Allocated tells which blocks s got and how many of its tokens will be supplied.
	Allocated(s *kv.Sequence, tokens int)
	// Finished reports whether the blocks of an ended s must be kept for a while.
	Finished(s *kv.Sequence) (keep bool)
	// Delivers reports whether a preempted request's output in flight is dropped.
	Delivers() bool
}

// Lookup is a tier's answer for one block.
type Lookup uint8

const (
	Miss Lookup = iota
	Pending
	Hit
	Retry
)

// Tier stores blocks below GPU memory.
type Tier interface {
	Lookup(h kv.BlockHash, group int) Lookup
	// Store reserves a slot; it reports false when no slot can be made.
	Store(h kv.BlockHash, group int) bool
	// Load pins a stored block until Loaded.
	Load(h kv.BlockHash, group int)
	Loaded(h kv.BlockHash, group int)
}

// The upstream's registered names.
var (
	connectors = []string{"DecodeBenchConnector", "ExampleConnector", "ExampleHiddenStatesConnector", "FlexKVConnectorV1", "HF3FSKVConnector",
		"LMCacheConnectorV1", "LMCacheMPConnector", "MoRIIOConnector", "MooncakeConnector", "MooncakeStoreConnector", "MultiConnector",
		"NixlConnector", "NixlPullConnector", "NixlPushConnector", "OffloadingConnector", "SimpleCPUOffloadConnector"}
	tiers = []string{"example", "fs", "obj", "p2p"}
)

// Open returns the connector of a kv_connector name, nil for none.
func Open(name string) (Connector, error) {
	if name == "" {
		return nil, nil
	}
	return nil, refuse("kv_transfer_config.kv_connector", name, connectors, "this connector is not modelled")
}

// OpenTier returns the secondary offload tier of a type name.
func OpenTier(name string) (Tier, error) {
	return nil, refuse("secondary_tiers.type", name, tiers, "this offload tier is not modelled")
}

func refuse(field, name string, known []string, problem string) error {
	r := &diag.Refusal{Field: field, Value: name, Problem: problem, Accept: "left out", Rule: "VLM-6"}
	if !slices.Contains(known, name) {
		r.Problem, r.Accept = "vLLM registers no such name", diag.OneOf(name, known)
	}
	return r
}
