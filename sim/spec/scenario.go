// Package spec is the two documents at the ends of a run: the Scenario (what to
// simulate and how it is measured) and the Result (what came out, with every
// input that can change a byte of it).
//
// In: YAML, or the same keys as JSON. Out: a whole Scenario with every default
// written out, or a *diag.Refusal with file, line and field. Engine arguments
// are carried verbatim and judged by their owner, the engine. Units: seconds,
// tokens, requests per second. The package opens no file and draws nothing.
// Source: Target Design §8.5 to §8.7. Rules kept: SIM-1, SIM-2, SIM-10, SIM-11, DEV-7.
package spec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"gopkg.in/yaml.v3"
)

// Schema is the id a scenario states.
const Schema = "blis.scenario/1"

// Scenario is one run.
type Scenario struct {
	Schema     string   `yaml:"schema" json:"schema"`
	Engine     Engine   `yaml:"engine" json:"engine"`
	Model      string   `yaml:"model" json:"model"`                               // catalog model name
	Checkpoint string   `yaml:"checkpoint,omitempty" json:"checkpoint,omitempty"` // catalog checkpoint; absent is the model's first
	Hardware   string   `yaml:"hardware" json:"hardware"`                         // catalog chip name
	Cluster    Cluster  `yaml:"cluster,omitempty" json:"cluster"`
	Router     Router   `yaml:"router,omitempty" json:"router"`
	Workload   Workload `yaml:"workload" json:"workload"`
	Frame      Frame    `yaml:"frame,omitempty" json:"frame"`

	text []byte // what it was read from
}

// Engine chooses a port and states its settings in the upstream's own words.
type Engine struct {
	Kind    string            `yaml:"kind" json:"kind"`
	Version string            `yaml:"version" json:"version"` // the release the port models, e.g. "main-2f41c894"
	Args    map[string]any    `yaml:"args,omitempty" json:"args,omitempty"`
	Env     map[string]string `yaml:"env,omitempty" json:"env,omitempty"`
}

// Cluster is how many engine instances run, and on how many nodes each.
type Cluster struct {
	Instances int    `yaml:"instances" json:"instances" jsonschema:"default=1"` // 1 unless stated
	Nodes     int    `yaml:"nodes" json:"nodes" jsonschema:"default=1"`         // of one instance; 1 unless stated
	Fabric    string `yaml:"fabric,omitempty" json:"fabric,omitempty"`
}

// Router spreads requests over instances. With one instance it has no say.
type Router struct {
	Policy string `yaml:"policy" json:"policy" jsonschema:"default=round_robin"` // "round_robin"
}

// Policies lists the router policies.
func Policies() []string { return []string{"round_robin"} }

// Parse reads a scenario named file, fills its defaults and checks it.
func Parse(file string, data []byte) (*Scenario, error) {
	s := new(Scenario)
	if err := strict.YAML(file, data, s); err != nil {
		return nil, replaced(err)
	}
	if err := first(s.zeroes(data), s.Complete()); err != nil {
		return nil, Place(file, data, err)
	}
	s.text = data
	return s, nil
}

// Placed gives a refusal of a field that s was read with its line and column; what
// stands in no mapping of the document, as a caller's own workload, has none.
func (s *Scenario) Placed(err error) error {
	r, ok := errors.AsType[*diag.Refusal](err)
	if !ok || r.File != "" || r.Line > 0 || s.text == nil {
		return err
	}
	var doc yaml.Node
	if yaml.Unmarshal(s.text, &doc) == nil && len(doc.Content) == 1 {
		above := r.Field
		if i := strings.LastIndexByte(above, '.'); i > 0 {
			above = above[:i]
		}
		if find(doc.Content[0], above) != nil {
			r.Line, r.Col = position(doc.Content[0], r.Field)
		}
	}
	return err
}

// zeroes refuses a 0 that is written out where only an absent value means the default or none.
func (s *Scenario) zeroes(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return err
	}
	zero := func(field string) bool {
		var v float64
		n := find(doc.Content[0], field)
		return n != nil && n.Tag != "!!null" && n.Decode(&v) == nil && v == 0
	}
	for _, f := range []struct {
		field string
		of    span
	}{{"cluster.instances", spanInstances}, {"cluster.nodes", spanNodes}, {"workload.trace.scale", spanRatio}} {
		if zero(f.field) {
			return f.of.check(f.field, 0)
		}
	}
	for i := range s.Workload.Clients {
		for _, key := range []string{"ttft", "tpot", "e2e"} {
			if at := fmt.Sprintf("workload.clients[%d].objectives.%s", i, key); zero(at) {
				return refuse(at, "0", "is an objective that nothing meets", "more than 0 seconds, or no "+key+" for none")
			}
		}
	}
	return nil
}

// replaced names the successor of a key that a former schema had.
func replaced(err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok && r.Field == "engine_version" {
		r.Problem, r.Accept, r.Rule = "was replaced by engine: {kind, version}", "engine: {kind: vllm, version: ...}", "SIM-1"
	}
	return err
}

// Place gives a refusal the line and column of its field in data, or of the
// nearest key above it that is written out.
func Place(file string, data []byte, err error) error {
	r, ok := errors.AsType[*diag.Refusal](err)
	if !ok {
		return err
	}
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) == nil && len(doc.Content) == 1 {
		r.Line, r.Col = position(doc.Content[0], r.Field)
	}
	return diag.In(file, r)
}

// Hash identifies a scenario: the SHA-256 of its canonical JSON with every
// default written out.
func (s *Scenario) Hash() (string, error) { return canon.Hash(s) }
