// Package release makes what goes out with a tag: binaries with the record of what
// they were built from, a bill of materials, signed checksums, and notes that list
// what changed.
//
// In: a source tree, its commands, a key; for notes, two source trees. Out: files in
// one directory, or Markdown. It reads no network and tags nothing. Rules kept:
// SIM-3, LIF-2, LIF-3, LIF-4, X21 of the Target Design (§13.3, §14).
package release

import (
	"cmp"
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
)

// Stack is stack.json: what a binary was built from, and the upstream release each of
// its engines models (SIM-3).
type Stack struct {
	Release string `json:"release"`
	snapshot.Stack
	Engines []Engine `json:"engines"`
}

// Engine is a modelled upstream.
type Engine struct {
	Kind       string `json:"kind"`
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Version    string `json:"version"` // what a scenario's engine.version says
	Note       string `json:"note,omitempty"`
}

// StackOf reads the stack of a binary from its build information. A build that
// replaced a module is refused: it is not what go.mod says (X11).
func StackOf(release string, info *debug.BuildInfo, kinds []engines.Kind) (*Stack, error) {
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, &diag.Refusal{Field: m.Path, Value: m.Replace.Path, Problem: "replaced a module in this build", Accept: "the version go.mod requires", Rule: "X11"}
		}
	}
	s := &Stack{Release: cmp.Or(release, "unreleased"), Stack: snapshot.NewStack(info)}
	for _, k := range kinds {
		up := k.Upstream()
		s.Engines = append(s.Engines, Engine{k.Name(), up.Repository, up.Commit, up.Version, up.Note})
	}
	return s, nil
}
