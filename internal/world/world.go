// Package world opens what a program simulates with: the catalog, the coefficient
// registry, the acceptance profiles and the engine ports, each from the embedded
// copy or from a path, plus overlays, always by the same loaders.
//
// In: paths as the user gave them. Out: data checked alone and against each other,
// and the functions that run and explain scenarios over it. Rules kept: SIM-6,
// SIM-10, SUB-9 of the Target Design (§3.3).
package world

import (
	"io/fs"
	"os"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Paths name the data; an empty path is the embedded copy (SIM-6). A path replaces
// the embedded copy, an overlay adds to what is in use.
type Paths struct {
	Catalog, Registry                 string
	CatalogOverlays, RegistryOverlays []string
	ExactAcceptance                   bool // no acceptance profile is borrowed (D8)
}

// World is the opened data.
type World struct {
	Catalog  *catalog.Catalog
	Registry *registry.Registry
	Profiles *acceptance.Set
	Kinds    []engines.Kind
	Sources  []spec.Source // for the Result's inputs
}

// Open reads and checks everything p names.
func Open(p Paths) (*World, error) {
	w := new(World)
	var err error
	if w.Catalog, err = Catalog(p.Catalog, p.CatalogOverlays); err != nil {
		return nil, err
	}
	if w.Registry, err = open(p.Registry, p.RegistryOverlays, registry.EmbeddedFS(), registry.Embedded, registry.Open); err != nil {
		return nil, err
	}
	if w.Profiles, err = acceptance.Embedded(); err != nil {
		return nil, err
	}
	if p.ExactAcceptance {
		w.Profiles = w.Profiles.ExactOnly()
	}
	if w.Kinds, err = builtin.Kinds(); err != nil {
		return nil, err
	}
	w.Sources = []spec.Source{
		{Kind: "catalog", Origin: origin(p.Catalog), Overlays: p.CatalogOverlays, SHA256: w.Catalog.Hashes().Combined},
		{Kind: "registry", Origin: origin(p.Registry), Overlays: p.RegistryOverlays, SHA256: w.Registry.Hashes().Combined},
	}
	return w, w.check()
}

// open is the one rule for both kinds of data: base is the embedded copy unless a
// path replaces it; parsed is the embedded copy already read.
func open[T any](path string, overlays []string, base fs.FS, parsed func() (T, error), read func(fs.FS, ...fs.FS) (T, error)) (T, error) {
	if path == "" && len(overlays) == 0 {
		return parsed()
	}
	var none T
	var err error
	if path != "" {
		if base, err = Directory(path); err != nil {
			return none, err
		}
	}
	over := make([]fs.FS, len(overlays))
	for i, o := range overlays {
		if over[i], err = Directory(o); err != nil {
			return none, err
		}
	}
	v, err := read(base, over...)
	if err == nil {
		return v, nil
	}
	for _, dir := range append([]string{path}, overlays...) { // the directory at fault fails alike alone
		if alone, e := Directory(dir); dir != "" && e == nil {
			if _, e := read(alone); e != nil && e.Error() == err.Error() {
				return none, diag.Below(dir, err)
			}
		}
	}
	return none, err
}

// Catalog reads the catalog that a path and overlays name.
func Catalog(path string, overlays []string) (*catalog.Catalog, error) {
	return open(path, overlays, catalog.EmbeddedFS(), catalog.Embedded, catalog.Open)
}

// Directory is a root that data cannot point out of; it refuses a path that is none.
func Directory(path string) (fs.FS, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &diag.Refusal{File: path, Problem: "cannot be opened as a data directory: " + err.Error(), Accept: "a directory with the layout of the embedded copy"}
	}
	return root.FS(), nil
}

func origin(path string) string {
	if path == "" {
		return "embedded"
	}
	return path
}

// check holds the registry to the catalog in use: every chip it prices exists.
func (w *World) check() error {
	for _, chip := range w.Registry.Chips() {
		if _, err := w.Catalog.Chip(chip); err != nil {
			return &diag.Refusal{Field: "registry", Value: chip, Problem: "prices a chip the catalog in use does not have", Rule: "SUB-9"}
		}
	}
	return nil
}

// Environment answers engines; one belongs to one goroutine.
func (w *World) Environment() *sim.Environment {
	return sim.NewEnvironment(w.Catalog, cost.New(w.Catalog, w.Registry), w.Profiles)
}

// Sim is the world of one run.
func (w *World) Sim() sim.World {
	return sim.World{Kinds: w.Kinds, Environment: w.Environment(), Data: slices.Clone(w.Sources)}
}

// Run simulates a scenario.
func (w *World) Run(s *spec.Scenario) (*spec.Result, error) { return sim.Run(s, w.Sim()) }

// Kind finds a port by name.
func (w *World) Kind(name string) (engines.Kind, error) {
	var names []string
	for _, k := range w.Kinds {
		if k.Name() == name {
			return k, nil
		}
		names = append(names, k.Name())
	}
	return nil, &diag.Refusal{Field: "engine.kind", Value: name, Problem: "is not in this program", Accept: diag.OneOf(name, names), Rule: "SIM-1"}
}
