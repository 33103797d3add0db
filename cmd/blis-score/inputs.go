package main

import (
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/spf13/pflag"
)

// inputs are the catalog and the coefficients that are scored (§11.7): the embedded ones, or
// those at paths (SIM-6).
type inputs struct{ world.Paths }

func (i *inputs) inputFlags(f *pflag.FlagSet) {
	f.StringVar(&i.Catalog, "catalog", "", "directory with a catalog, in place of the embedded one")
	f.StringArrayVar(&i.CatalogOverlays, "catalog-overlay", nil, "directory laid over the catalog; repeatable")
	f.StringVar(&i.Registry, "registry", "", "directory with coefficients, in place of the embedded ones")
	f.StringArrayVar(&i.RegistryOverlays, "registry-overlay", nil, "directory laid over the coefficients; repeatable")
}

// embedded holds where nothing was given by path.
func (i *inputs) embedded() bool {
	return i.Catalog == "" && i.Registry == "" && len(i.CatalogOverlays) == 0 && len(i.RegistryOverlays) == 0
}
