package catalog

import (
	"path"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// decode reads one file into its entry and checks that the entry's name is the
// file's. A graph is kept until check joins it with its model.
func (c *Catalog) decode(f File) error {
	name := strings.TrimSuffix(path.Base(f.Path), ".yaml")
	dir, _, _ := strings.Cut(f.Path, "/")
	switch {
	case dir == "hardware":
		return decodeInto(c.chips, f, name, ChipSchema, func(e *Chip) (string, string) { return e.Schema, e.Name })
	case dir == "networks":
		return decodeInto(c.networks, f, name, NetworkSchema, func(e *Network) (string, string) { return e.Schema, e.Name })
	case dir == "routers":
		return decodeInto(c.routers, f, name, RouterSchema, func(e *RouterTable) (string, string) { return e.Schema, e.Name })
	case dir == "sources":
		return decodeInto(c.sources, f, name, SourceSchema, func(e *Source) (string, string) { return e.Schema, e.ID })
	case name == "graph":
		return decodeInto(c.graphs, f, path.Base(path.Dir(f.Path)), GraphSchema, func(e *Graph) (string, string) { return e.Schema, e.Model })
	default:
		return decodeInto(c.models, f, path.Base(path.Dir(f.Path)), ModelSchema, func(e *Model) (string, string) { return e.Schema, e.Name })
	}
}

func decodeInto[T any](m map[string]*T, f File, name, schema string, identity func(*T) (schema, name string)) error {
	e := new(T)
	if err := strict.YAML(f.Path, f.Data, e); err != nil {
		return err
	}
	gotSchema, gotName := identity(e)
	if gotSchema != schema {
		return refuse(f.Path, "schema", gotSchema, "is not the schema of this file", schema, "SUB-12")
	}
	if gotName != name {
		return refuse(f.Path, "name", gotName, "is not what the path says", name, "SUB-12")
	}
	m[name] = e
	return nil
}

func refuse(file, field, value, problem, accept, rule string) error {
	return &diag.Refusal{File: file, Field: field, Value: value, Problem: problem, Accept: accept, Rule: rule}
}
