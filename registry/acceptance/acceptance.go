// Package acceptance holds measured speculative-decoding acceptance, a property
// of the workload and never of a chip or a model alone.
//
// In: profiles.yaml, written by registry/fit from measured acceptance lengths.
// Out: for a target, drafter, workload and number of drafts, the probability that
// each draft is accepted given those before it, with the profile used and the
// borrowing step. It never extrapolates and never crosses workloads. Rules kept:
// D8, SUB-12 of the Target Design.
package acceptance

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Schema names the layout of profiles.yaml.
const Schema = "blis.acceptance/v1"

// Set is a checked list of profiles.
type Set struct {
	Schema   string    `yaml:"schema"`
	Profiles []Profile `yaml:"profiles"`

	exact bool // nothing is borrowed
}

// Profile is one measured curve.
type Profile struct {
	Target   string    `yaml:"target"`  // catalog model
	Drafter  string    `yaml:"drafter"` // "mtp": the target's own; else a checkpoint or head by name
	Method   string    `yaml:"method"`  // mtp, eagle3, dspark
	Workload string    `yaml:"workload"`
	Sampling string    `yaml:"sampling"`
	Drafts   []int     `yaml:"drafts,omitempty,flow"`       // numbers of drafts that were measured; 1, 2, ... when left out
	Lengths  []float64 `yaml:"lengths,flow"`                // mean tokens a verifying step emits at each
	Rates    []float64 `yaml:"per_position,omitempty,flow"` // chance that draft 1, 2, ... is emitted, where the smallest was measured by position
	Source   string    `yaml:"source"`
}

//go:embed profiles.yaml
var profiles []byte

// Embedded reads the profiles compiled into the program.
var Embedded = sync.OnceValues(func() (*Set, error) { return Parse("profiles.yaml", profiles) })

// Parse reads and checks one document.
func Parse(file string, data []byte) (*Set, error) {
	var s Set
	if err := strict.YAML(file, data, &s); err != nil {
		return nil, err
	}
	if s.Schema != Schema {
		return nil, &diag.Refusal{File: file, Field: "schema", Value: s.Schema, Problem: "unknown schema", Accept: Schema}
	}
	for i := range s.Profiles {
		p := &s.Profiles[i]
		if err := p.check(); err != nil {
			return nil, diag.In(file, err)
		}
		for _, q := range s.Profiles[:i] {
			if q.Target == p.Target && q.Drafter == p.Drafter && q.Workload == p.Workload {
				return nil, &diag.Refusal{File: file, Field: "profiles." + p.Target, Value: p.Drafter + " " + p.Workload,
					Problem: "is ambiguous: two profiles have one key", Accept: "one profile a target, drafter and workload", Rule: "D8"}
			}
		}
	}
	return &s, nil
}

// check holds one profile to what an acceptance can be: a step of K drafts emits 1 to
// K+1 tokens.
func (p *Profile) check() error {
	bad := func(field, accept string) error {
		return &diag.Refusal{Field: "profiles." + p.Target + "." + field, Problem: "are no measured acceptance", Accept: accept, Rule: "D8"}
	}
	if len(p.Lengths) == 0 || len(p.Drafts) > 0 && len(p.Drafts) != len(p.Lengths) {
		return bad("lengths", "at least one, and one for each of drafts")
	}
	for i, al := range p.Lengths {
		k := p.measured(i)
		if k < 1 || i > 0 && k <= p.measured(i-1) {
			return bad("drafts", "rising numbers from 1")
		}
		if !(al >= 1) || al > float64(k+1) {
			return bad("lengths", "each from 1 to one more than its drafts")
		}
	}
	last := 1.0
	for _, r := range p.Rates {
		if !(r >= 0 && r <= last) {
			return bad("per_position", "chances that do not rise")
		}
		last = r
	}
	if n := len(p.Rates); n > 0 && n < p.measured(0) {
		return bad("per_position", "one for each draft of the smallest measured number")
	}
	return nil
}

// measured is the number of drafts of the i-th length.
func (p *Profile) measured(i int) int {
	if len(p.Drafts) > 0 {
		return p.Drafts[i]
	}
	return i + 1
}
