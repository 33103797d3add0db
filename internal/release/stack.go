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
	"slices"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Stack is stack.json: the exact version of everything a binary was built from, and
// the upstream release each of its engines models (SIM-3).
type Stack struct {
	Release   string   `json:"release"`
	Module    string   `json:"module"`
	Revision  string   `json:"revision"` // of the source, "" when the build was not stamped
	Modified  bool     `json:"modified"` // the source differed from the revision
	Toolchain string   `json:"toolchain"`
	Modules   []Module `json:"modules"` // what the build selected, sorted by path
	Engines   []Engine `json:"engines"`
}

// Module is one dependency as the build selected it.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum"` // as in go.sum
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
	s := &Stack{Release: cmp.Or(release, "unreleased"), Module: info.Main.Path, Toolchain: info.GoVersion}
	for _, set := range info.Settings {
		switch set.Key {
		case "vcs.revision":
			s.Revision = set.Value
		case "vcs.modified":
			s.Modified = set.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, &diag.Refusal{Field: m.Path, Value: m.Replace.Path, Problem: "replaced a module in this build", Accept: "the version go.mod requires", Rule: "X11"}
		}
		s.Modules = append(s.Modules, Module{m.Path, m.Version, m.Sum})
	}
	slices.SortFunc(s.Modules, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	for _, k := range kinds {
		up := k.Upstream()
		s.Engines = append(s.Engines, Engine{k.Name(), up.Repository, up.Commit, up.Version, up.Note})
	}
	return s, nil
}
