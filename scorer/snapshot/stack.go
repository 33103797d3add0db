package snapshot

import (
	"cmp"
	"runtime/debug"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Stack is what the program was built of, by its own build information.
type Stack struct {
	Go       string            `json:"go"`
	Main     Module            `json:"main"`
	Modules  []Module          `json:"modules"`  // by path
	Settings map[string]string `json:"settings"` // how it was compiled
}

// Module is one module at its version.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"`
}

// NewStack reads build information. A module that a path replaces has no version
// others could fetch, so its version says "replaced".
func NewStack(info *debug.BuildInfo) Stack {
	s := Stack{Go: info.GoVersion, Main: Module{Path: info.Main.Path, Version: info.Main.Version}, Modules: []Module{}, Settings: map[string]string{}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			s.Modules = append(s.Modules, Module{d.Path, "replaced by " + d.Replace.Path + " " + d.Replace.Version, d.Replace.Sum})
			continue
		}
		s.Modules = append(s.Modules, Module{d.Path, d.Version, d.Sum})
	}
	for _, set := range info.Settings {
		if !strings.HasPrefix(set.Key, "vcs.time") { // says when, not what
			s.Settings[set.Key] = set.Value
		}
	}
	return s
}

// Release refuses a text that names no release.
func Release(text string) error {
	if tag.MatchString(text) {
		return nil
	}
	return &diag.Refusal{Field: "--release", Value: text, Problem: "is not a release tag", Accept: "vMAJOR.MINOR.PATCH", Rule: "COV-9"}
}

// Tagged refuses to publish under release what was not built from exactly that tag.
// Go stamps a checkout's tag as the main module's version; `go run` stamps none.
func (s *Stack) Tagged(release string) error {
	if err := Release(release); err != nil {
		return err
	}
	if s.Main.Version != release {
		return &diag.Refusal{Field: "--release", Value: release, Problem: "is not what this program was built from: it is " + cmp.Or(s.Main.Version, "a build without a version"),
			Accept: "a program made by go build in a clean checkout of the tag " + release, Rule: "COV-9"}
	}
	return nil
}
