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
	"slices"
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
}

// Profile is one measured curve.
type Profile struct {
	Target   string    `yaml:"target"`  // catalog model
	Drafter  string    `yaml:"drafter"` // "mtp": the target's own; else a checkpoint or head by name
	Method   string    `yaml:"method"`  // mtp, eagle3, dspark
	Workload string    `yaml:"workload"`
	Sampling string    `yaml:"sampling"`
	Lengths  []float64 `yaml:"lengths,flow"` // mean tokens a verifying step emits with 1, 2, ... drafts
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
	for i, p := range s.Profiles {
		bad := func(al float64) bool { return !(al >= 1) }
		if len(p.Lengths) == 0 || slices.ContainsFunc(p.Lengths, bad) || p.Lengths[0] > 2 {
			return nil, &diag.Refusal{File: file, Field: "profiles." + p.Target + ".lengths", Problem: "are no acceptance lengths",
				Accept: "at least one, each 1 or more, the first at most 2", Rule: "D8"}
		}
		for _, q := range s.Profiles[:i] {
			if q.Target == p.Target && q.Drafter == p.Drafter && q.Workload == p.Workload {
				return nil, &diag.Refusal{File: file, Field: "profiles." + p.Target, Value: p.Drafter + " " + p.Workload,
					Problem: "repeats a key", Accept: "one profile a target, drafter and workload", Rule: "D8"}
			}
		}
	}
	return &s, nil
}
