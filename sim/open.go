package sim

import (
	"io/fs"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Data is where a run's facts and coefficients are read. The zero value is the
// embedded copies; a directory stands in for the embedded copy whole, and overlays
// add to either (SIM-6).
type Data struct{ Catalog, Registry Place }

// Place is one data set.
type Place struct {
	Base     *Directory // nil is the embedded copy
	Overlays []Directory
}

// Directory is an open directory and its path as the user gave it.
type Directory struct {
	Path string
	FS   fs.FS
}

func (p Place) base(embedded fs.FS) fs.FS {
	if p.Base == nil {
		return embedded
	}
	return p.Base.FS
}

func (p Place) overlays() []fs.FS {
	var out []fs.FS
	for _, o := range p.Overlays {
		out = append(out, o.FS)
	}
	return out
}

// source records the place in a Result.
func (p Place) source(kind, sum string) spec.Source {
	s := spec.Source{Kind: kind, Origin: "embedded", SHA256: sum}
	if p.Base != nil {
		s.Origin = p.Base.Path
	}
	for _, o := range p.Overlays {
		s.Overlays = append(s.Overlays, o.Path)
	}
	return s
}

// Open reads the data and returns a World of the given engines that is priced by
// it.
func Open(kinds []engines.Kind, d Data) (World, error) {
	cat, err := catalog.Open(d.Catalog.base(catalog.EmbeddedFS()), d.Catalog.overlays()...)
	if err != nil {
		return World{}, err
	}
	reg, err := registry.Open(d.Registry.base(registry.EmbeddedFS()), d.Registry.overlays()...)
	if err != nil {
		return World{}, err
	}
	profiles, err := acceptance.Embedded()
	if err != nil {
		return World{}, err
	}
	return World{
		Kinds:       kinds,
		Environment: cost.NewEnvironment(cost.New(cat, reg), profiles),
		Data:        []spec.Source{d.Catalog.source("catalog", cat.Hashes().Combined), d.Registry.source("registry", reg.Hashes().Combined)},
	}, nil
}
